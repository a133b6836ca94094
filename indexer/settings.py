"""The settings, as frozen sections with their defaults; ``config.toml`` documents each one for the user.

A room is handed its own section, never the whole. Reading them from files is `indexer.config`'s work; it goes by
the metadata here: the bounds of a number, the choices of a word, and whether a repository's own ``.indexer.toml``
may set the key (only where that narrows what is indexed or how it is cut; a repository is not trusted).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _setting(
    default: Any,
    low: float | None = None,
    high: float | None = None,
    *,
    choices: tuple[str, ...] = (),
    repository: str = "",
) -> Any:
    """A field with its bounds. ``repository`` is how a repository's value is merged: replace, lower or add."""
    return field(
        default=default,
        metadata={"low": low, "high": high, "choices": choices, "repository": repository},
    )


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """What is indexed. Sizes are bytes; ``exclude`` and ``include`` are patterns in gitignore syntax."""

    max_file_bytes: int = _setting(1_000_000, 1, 100_000_000, repository="lower")
    encodings: tuple[str, ...] = _setting(("gb18030", "big5"), repository="replace")
    exclude: tuple[str, ...] = _setting((), repository="add")
    include: tuple[str, ...] = _setting(())
    secrets: bool = _setting(default=True)


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How a file is cut. Sizes are words as `indexer.tokens.size` counts them."""

    max_tokens: int = _setting(512, 32, 8192, repository="replace")
    overlap: int = _setting(48, 0, 4096, repository="replace")


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """Which embedder makes the vectors, and how many texts it is given at once."""

    model: str = _setting("static")
    batch: int = _setting(1024, 1, 65536)


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the index lies (empty: ``.indexer`` in the root) and how long unbound rows are kept."""

    dir: str = _setting("")
    keep_generations: int = _setting(64, 0, 1_000_000)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a question gets when it does not say otherwise."""

    k: int = _setting(10, 1, 1000)
    mode: str = _setting("hybrid", choices=("hybrid", "lexical", "dense"))
    min_score: float = _setting(0.0, 0.0, 1e9)
    weak_below: float = _setting(0.2, 0.0, 1e9)


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The parser processes: how many (0: one a CPU, at most 4), and the seconds one small file may take."""

    processes: int = _setting(0, 0, 64)
    file_timeout: float = _setting(2.0, 0.1, 3600.0)


@dataclass(frozen=True, slots=True)
class DaemonSettings:
    """Whether commands start the daemon, the minutes without a client it ends after (0: never), its log's bytes."""

    autostart: bool = _setting(default=False)
    idle_exit: float = _setting(240.0, 0.0, 1_000_000.0)
    log_bytes: int = _setting(1_000_000, 10_000, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """How changes are noticed: when a burst has settled, how often is polled what cannot be watched, the audit."""

    settle_ms: int = _setting(20, 0, 10_000)
    max_wait_ms: int = _setting(500, 0, 60_000)
    poll_seconds: float = _setting(30.0, 0.1, 86_400.0)
    audit_hours: float = _setting(24.0, 0.0, 8760.0)


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections, one field each, named as in ``config.toml``."""

    scan: ScanSettings = field(default_factory=ScanSettings)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
