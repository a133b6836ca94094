"""The shared vocabulary: small frozen values that the stages hand to each other.

Paths are relative to the root, with ``/`` between parts, as ``str`` with ``surrogateescape`` for bytes that are
not UTF-8. Byte offsets count in the *text form* of a file: its content as UTF-8, where a byte-order mark still
counts its three bytes. For a UTF-8 file that is the file itself. Lines are 1-based and inclusive; LF, CRLF and a
lone CR each end a line (LSP 3.17, "Text Documents").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from indexer.files import FileStat, Reason, Skipped, Stats

__all__ = [
    "Chunk",
    "ChunkCounts",
    "FileChunks",
    "FileCounts",
    "FileRecord",
    "FileStat",
    "Hit",
    "Kind",
    "Reason",
    "Report",
    "Signal",
    "Skipped",
    "Span",
    "Stats",
]


class Span(NamedTuple):
    """A byte range ``[start, end)`` of a file's text form, and the lines it touches."""

    start: int
    end: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a file: a definition, a part of a split one, or some of the rest.

    ``spans`` are ascending and disjoint; a class's own chunk has holes where its methods are. ``line`` is the line
    of the definition's own keyword or name (decorators and leading comments lie above it); ``signature`` and
    ``docstring`` are byte ranges inside the file, ``(0, 0)`` when there is none. ``parent`` is the index, in the
    same file's chunks, of the enclosing definition (or, for ``part`` > 0, of the first part), -1 without one.
    """

    kind: str
    symbol: str
    scope: str
    language: str
    spans: tuple[Span, ...]
    line: int
    signature: tuple[int, int] = (0, 0)
    docstring: tuple[int, int] = (0, 0)
    parent: int = -1
    part: int = 0
    bases: tuple[str, ...] = ()

    @property
    def start_line(self) -> int:
        """First line, decorators and leading comments included."""
        return self.spans[0].start_line

    @property
    def end_line(self) -> int:
        """Last line of the last span."""
        return self.spans[-1].end_line


class Kind:
    """The kinds of chunk. The names follow LSP's SymbolKind where it has one."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    STRUCT = "struct"
    ENUM = "enum"
    TRAIT = "trait"
    IMPL = "impl"
    NAMESPACE = "namespace"
    TYPE = "type"
    MACRO = "macro"
    CONSTANT = "constant"
    PROPERTY = "property"
    TABLE = "table"
    SECTION = "section"
    CELL = "cell"
    TEXT = "text"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class FileChunks:
    """All chunks of one file, in the order of their first byte, with what the file imports (as written)."""

    chunks: tuple[Chunk, ...]
    imports: tuple[str, ...] = ()
    fallback: str = ""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What the index knows of one file. ``reason`` is empty when it is indexed, else why it is not."""

    stat: FileStat
    content_hash: bytes = b""
    language: str = ""
    encoding: str = "utf-8"
    reason: str = ""
    detail: str = ""
    racy: bool = False


class Signal(NamedTuple):
    """One reason for a hit's score: what was seen, and what it adds to the ranking's sum, or takes away."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. ``score`` is rounded to 1e-5; ``text`` is read from the file when it is shown.

    ``also``: other places (path, line) of the same content. ``explain``: what the score is made of, when asked for.
    """

    path: str
    start_line: int
    end_line: int
    symbol: str
    scope: str
    kind: str
    language: str
    score: float
    text: str = ""
    stale: bool = False
    also: tuple[tuple[str, int], ...] = ()
    explain: tuple[Signal, ...] = ()


@dataclass(slots=True)
class FileCounts:
    """How many files went which way in one run."""

    scanned: int = 0
    added: int = 0
    modified: int = 0
    removed: int = 0
    renamed: int = 0
    unchanged: int = 0
    skipped: int = 0


@dataclass(slots=True)
class ChunkCounts:
    """How many chunks went which way in one run; ``total`` is what is bound after it."""

    total: int = 0
    added: int = 0
    reused: int = 0
    unbound: int = 0


@dataclass(slots=True)
class Report:
    """What one ``reindex`` did; ``embedded`` counts the texts that were given to the embedder."""

    root: str
    generation: int = 0
    files: FileCounts = field(default_factory=FileCounts)
    chunks: ChunkCounts = field(default_factory=ChunkCounts)
    embedded: int = 0
    seconds: float = 0.0
