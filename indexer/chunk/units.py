"""From byte ranges to chunks, for all that has no definitions: each range becomes one chunk, or several if too large."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk.seams import Ruler, split
from indexer.chunk.spans import Lines
from indexer.types import Chunk, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexer.settings import ChunkSettings


class Unit(NamedTuple):
    """A byte range that becomes one chunk, or overlapping parts of one.

    ``at`` is the byte whose line is the unit's line, -1 for wherever each part begins; ``parent`` is the index of the
    unit around it, -1 for none. ``alone``: the pieces of a large one are chunks of their own, without overlap.
    """

    start: int
    end: int
    kind: str = Kind.TEXT
    symbol: str = ""
    scope: str = ""
    at: int = -1
    signature: tuple[int, int] = (0, 0)
    parent: int = -1
    alone: bool = False


def write(text: bytes, language: str, units: Iterable[Unit], settings: ChunkSettings) -> tuple[Chunk, ...]:
    """Chunks of the units, which must be disjoint and in order; a blank one gives none."""
    ruler = Ruler(text)
    lines = Lines(text)
    chunks: list[Chunk] = []
    first: list[int] = []  # unit -> its first chunk; that of the next one if it is blank
    for unit in units:
        first.append(len(chunks))
        parent = first[unit.parent] if unit.parent >= 0 else -1
        pieces = split(
            ruler, unit.start, unit.end, settings.max_tokens, 0 if unit.alone else settings.overlap
        )
        in_parts = len(pieces) > 1 and not unit.alone
        for number, piece in enumerate(pieces, 1):
            chunks.append(
                Chunk(
                    unit.kind,
                    unit.symbol,
                    unit.scope,
                    language,
                    (lines.span(piece.start, piece.end),),
                    lines.line(unit.at if unit.at >= 0 else piece.own),
                    unit.signature,
                    parent=first[-1] if in_parts and number > 1 else parent,
                    part=number if in_parts else 0,
                )
            )
    return tuple(chunks)
