"""From headings to chunks: one a section, carrying the path of the headings above as its scope.

A section is what lies between a heading and the next one, of whatever level; so a chapter's own chunk is what it
says before its first sub-section, which has a chunk of its own and knows the chapter as its parent. What stands
before the first heading is a chunk of plain text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk.pieces import BOM
from indexer.chunk.units import Unit, write
from indexer.types import FileChunks, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexer.settings import ChunkSettings

LONGEST_TITLE = 200  # characters; of a longer "heading" the rest is no name
SEPARATOR = " > "

_BLANKS = re.compile(r"\s+")


class Heading(NamedTuple):
    """A heading: where its section begins, the byte range of the title's text, its level (1 is the top), its name."""

    start: int
    title: tuple[int, int]
    level: int
    name: str


def with_plain_ends(text: bytes) -> bytes:
    """The same text, byte for byte as long, in which every line ends with LF: what a scanner by lines looks at.

    A byte-order mark is made line ends too, so that the first line begins like all others.
    """
    if text.startswith(BOM):
        text = b"\n" * len(BOM) + text[len(BOM) :]
    if b"\r" not in text:
        return text
    return text.replace(b"\r\n", b" \n").replace(b"\r", b"\n")


def tidy(name: str) -> str:
    """A title as a name: on one line, not too long."""
    return _BLANKS.sub(" ", name).strip()[:LONGEST_TITLE]


def path_of(open_: Iterable[tuple[int, str]]) -> str:
    """The scope that lies under these (level, name) pairs, outermost first."""
    return SEPARATOR.join(name for _, name in open_)


def chunk_sections(
    language: str, text: bytes, headings: Sequence[Heading], settings: ChunkSettings
) -> FileChunks:
    """Chunks of a text with these headings, which are in order; without any it is plain text."""
    return FileChunks(write(text, language, _units(headings, len(text)), settings))


def _units(headings: Sequence[Heading], end: int) -> list[Unit]:
    ends = [heading.start for heading in headings[1:]] + [end]
    units = [Unit(0, headings[0].start if headings else end)]
    open_: list[tuple[int, str, int]] = []  # (level, name, index of the unit), outermost first
    for heading, stop in zip(headings, ends, strict=bool(headings)):
        while open_ and open_[-1][0] >= heading.level:
            open_.pop()
        units.append(
            Unit(
                heading.start,
                stop,
                Kind.SECTION,
                heading.name,
                path_of((level, name) for level, name, _ in open_),
                heading.title[0],
                heading.title,
                open_[-1][2] if open_ else -1,
            )
        )
        open_.append((heading.level, heading.name, len(units) - 1))
    return units
