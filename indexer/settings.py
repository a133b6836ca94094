"""The settings, as frozen sections with their defaults; ``config.toml`` documents each one for the user.

A room is handed its own section, never the whole. Reading them from files, and what may stand there, is the work of
`indexer.config` and `indexer.merging`.
"""

from __future__ import annotations

from indexer.plainly import NamedTuple


class ScanSettings(NamedTuple):
    """What is indexed. Sizes are bytes; ``exclude`` and ``include`` are patterns in gitignore syntax."""

    max_file_bytes: int = 1_000_000
    encodings: tuple[str, ...] = ("gb18030", "big5")
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    secrets: bool = True


class ChunkSettings(NamedTuple):
    """How a file is cut. Sizes are words as `indexer.tokens.size` counts them."""

    max_tokens: int = 512
    overlap: int = 48


class EmbedSettings(NamedTuple):
    """Which embedder makes the vectors, and how many texts it is given at once."""

    model: str = "static"
    batch: int = 1024


class StoreSettings(NamedTuple):
    """Where the index lies (empty: ``.indexer`` in the root) and how long unbound rows are kept."""

    dir: str = ""
    keep_generations: int = 64


class SearchSettings(NamedTuple):
    """What a question gets when it does not say otherwise."""

    k: int = 10
    mode: str = "hybrid"
    min_score: float = 0.0
    weak_below: float = 0.2


class WorkerSettings(NamedTuple):
    """The parser processes: how many (0: one a CPU, at most 4), and the seconds one small file may take."""

    processes: int = 0
    file_timeout: float = 2.0


class DaemonSettings(NamedTuple):
    """Whether commands start the daemon, the minutes without a client it ends after (0: never), its log's bytes."""

    autostart: bool = False
    idle_exit: float = 240.0
    log_bytes: int = 1_000_000


class WatchSettings(NamedTuple):
    """How changes are noticed: when a burst has settled, how often is polled what cannot be watched, the audit."""

    settle_ms: int = 20
    max_wait_ms: int = 500
    poll_seconds: float = 30.0
    audit_hours: float = 24.0


class Settings(NamedTuple):
    """All sections, one field each, named as in ``config.toml``."""

    scan: ScanSettings = ScanSettings()
    chunk: ChunkSettings = ChunkSettings()
    embed: EmbedSettings = EmbedSettings()
    store: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    worker: WorkerSettings = WorkerSettings()
    watch: WatchSettings = WatchSettings()
    daemon: DaemonSettings = DaemonSettings()
