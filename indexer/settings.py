"""The settings, as frozen sections with their defaults; ``config.toml`` documents each one for the user.

A room is handed its own section, never the whole. Reading them from files is `indexer.config`'s work.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """What is indexed. Sizes are bytes; ``exclude`` and ``include`` are patterns in gitignore syntax."""

    max_file_bytes: int = 1_000_000
    encodings: tuple[str, ...] = ("gb18030", "big5")
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    secrets: bool = True


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How a file is cut. Sizes are words as `indexer.tokens.size` counts them."""

    max_tokens: int = 512
    overlap: int = 48


@dataclass(frozen=True, slots=True)
class EmbedSettings:
    """Which embedder makes the vectors, and how many texts it is given at once."""

    model: str = "hashing"
    batch: int = 1024


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """Where the index lies (empty: ``.indexer`` in the root) and how long unbound rows are kept."""

    dir: str = ""
    keep_generations: int = 64


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a question gets when it does not say otherwise."""

    k: int = 10
    mode: str = "hybrid"
    min_score: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """The parser processes: how many (0: one a CPU, at most 4) and how long one file may take, in seconds."""

    processes: int = 0
    file_timeout: float = 20.0


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections, one field each, named as in ``config.toml``."""

    scan: ScanSettings = field(default_factory=ScanSettings)
    chunk: ChunkSettings = field(default_factory=ChunkSettings)
    embed: EmbedSettings = field(default_factory=EmbedSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
