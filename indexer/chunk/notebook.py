"""Jupyter notebooks: one chunk a cell, and one a definition inside code cells, at their places in the ``.ipynb`` file.

Only the cells' sources are indexed. Outputs, metadata and the JSON around are left out: they belong to no chunk, so
"every byte has a home" speaks of the sources alone. A chunk's text is those bytes of the file, with the escapes
of JSON in them, one span a line (and its line end, where the file has one there). Of an escaped line end or tab within
a string only the backslash is kept.

The headings of Markdown cells are the scope of the cells that follow. What is no notebook is cut as plain text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from indexer import chunk as family
from indexer.chunk.cells import MalformedError, Source, find_cells
from indexer.chunk.markdown import find_headings
from indexer.chunk.sections import path_of
from indexer.chunk.spans import Lines, own_line
from indexer.chunk.tables import LANGUAGES
from indexer.chunk.units import Unit, write
from indexer.types import Chunk, FileChunks, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexer.chunk.cells import Cell
    from indexer.settings import ChunkSettings

# As kernels call themselves, where that is not our name.
_LANGUAGES = {"ipython": "python", "python3": "python", "c++": "cpp", "c#": "csharp", "js": "javascript"}
# Cell magics that announce another language; all others are about the cell's own.
_MAGICS = {"sh": "bash", "js": "javascript"} | {
    name: name for name in ("bash", "html", "javascript", "perl", "r", "ruby", "sql", "markdown", "latex")
}
_COMMENTS = dict.fromkeys(("bash", "elixir", "julia", "perl", "r", "ruby"), b"##") | dict.fromkeys(
    ("haskell", "lua", "sql"), b"--"
)
_MAGIC = re.compile(rb"[ \t\r\n]*%%([A-Za-z0-9_]+)[^\n]*")
_COMMANDS = re.compile(rb"^([ \t]*)(?:%%?[A-Za-z]|!+[^\s=!]|\?+[A-Za-z])", re.MULTILINE)


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Cut a notebook by its cells."""
    try:
        notebook = find_cells(text)
    except MalformedError as error:
        units = [Unit(0, len(text), alone=True)]
        return FileChunks(write(text, language, units, settings), (), f"no notebook: {error}")
    writer = _Writer(text, notebook.language.lower() or "python", settings)
    for cell in notebook.cells:
        writer.add(cell)
    return FileChunks(tuple(writer.chunks), tuple(dict.fromkeys(writer.imports)), writer.fallback)


class _Writer:
    """Takes the cells in order; keeps the headings seen so far."""

    def __init__(self, text: bytes, language: str, settings: ChunkSettings) -> None:
        self.chunks: list[Chunk] = []
        self.imports: list[str] = []
        self.fallback = ""
        self._text = text
        self._lines = Lines(text)
        self._language = _LANGUAGES.get(language, language)
        self._settings = settings
        self._open: list[tuple[int, str]] = []  # (level, name) of the headings above, outermost first

    def add(self, cell: Cell) -> None:
        source = Source(self._text, cell.strings)
        if cell.type == "code":
            made = self._code(source)
        elif cell.type in ("markdown", "heading"):
            made = self._markdown(source)
        else:
            made = self._plain(source, "text", "")
        self.chunks += _in_file(made, source, self._lines, len(self.chunks))

    def _plain(self, source: Source, language: str, symbol: str) -> Iterable[Chunk]:
        unit = Unit(0, len(source.text), Kind.CELL, symbol, path_of(self._open))
        return write(source.text, language, [unit], self._settings)

    def _markdown(self, source: Source) -> Iterable[Chunk]:
        headings = find_headings(source.text)
        if headings:
            self._close(headings[0].level)
        made = self._plain(source, "markdown", headings[0].name if headings else "")
        for heading in headings:
            self._close(heading.level)
            self._open.append((heading.level, heading.name))
        return made

    def _close(self, level: int) -> None:
        while self._open and self._open[-1][0] >= level:
            self._open.pop()

    def _code(self, source: Source) -> Iterable[Chunk]:
        magic = _MAGIC.match(source.text)
        word = magic[1].decode().lower() if magic else ""
        language = _MAGICS.get(word, self._language)
        if language != "python" and language not in LANGUAGES:
            return self._plain(source, language, "")
        code = source.text
        if language == "python":
            code = _COMMANDS.sub(_as_comment, code)
        elif magic:
            code = code[: magic.start(1) - 2] + _COMMENTS.get(language, b"//") + code[magic.start(1) :]
        found = family.chunk(language, code, self._settings)
        self.imports += found.imports
        self.fallback = self.fallback or found.fallback
        scope = path_of(self._open)
        return [
            replace(made, kind=Kind.CELL, scope=scope) if made.kind == Kind.REST else made
            for made in found.chunks
        ]


def _as_comment(command: re.Match[bytes]) -> bytes:
    """A line for IPython as one of Python and of the same length, which may also stand alone in a block."""
    return command[1] + b"0#" + command[0][len(command[1]) + 2 :]


def _in_file(made: Iterable[Chunk], source: Source, lines: Lines, base: int) -> Iterator[Chunk]:
    """The chunks of a cell's source as chunks of the file, whose first has the index ``base``."""
    starts = Lines(source.text).starts
    for one in made:
        spans = [lines.span(*there) for span in one.spans for there in source.in_file(span.start, span.end)]
        yield replace(
            one,
            spans=tuple(spans),
            line=own_line(lines.line(source.offset(starts[one.line - 1])), spans, one.part),
            signature=_range_in_file(source, one.signature),
            docstring=_range_in_file(source, one.docstring),
            parent=one.parent + base if one.parent >= 0 else -1,
        )


def _range_in_file(source: Source, there: tuple[int, int]) -> tuple[int, int]:
    start, end = there
    if start >= end:
        return (0, 0)
    found = source.in_file(start, end)
    return found[0][0], found[-1][1]
