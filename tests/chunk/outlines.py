"""What the tests of the tables look at: the chunks of a hand-written sample, as short tuples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from indexer.chunk import chunk
from indexer.settings import ChunkSettings

if TYPE_CHECKING:
    from indexer.types import Chunk, FileChunks

SAMPLES = Path(__file__).parents[2] / "fixtures" / "samples"
_LARGE = ChunkSettings(max_tokens=4096, overlap=0)


def cut(language: str, name: str) -> FileChunks:
    """The chunks of a sample, none of them split; every byte of it must have found its home."""
    text = (SAMPLES / language / name).read_bytes()
    return cut_text(language, text)


def cut_text(language: str, text: bytes) -> FileChunks:
    """As `cut`, of any text."""
    found = chunk(language, text, _LARGE)
    assert found.fallback == ""
    covered = bytearray(len(text))
    for piece in found.chunks:
        for span in piece.spans:
            assert not any(covered[span.start : span.end]), "a byte is in two chunks"
            covered[span.start : span.end] = b"\1" * (span.end - span.start)
    assert not bytes(byte for byte, home in zip(text, covered, strict=True) if not home).strip()
    return found


def outline(found: FileChunks) -> list[tuple[str, str, str, int]]:
    """``(kind, scope, symbol, line)`` of every definition, in order."""
    return [(piece.kind, piece.scope, piece.symbol, piece.line) for piece in _definitions(found)]


def ranges(found: FileChunks) -> dict[str, tuple[int, int]]:
    """Dotted name -> first and last line, comments and attributes included; the first of equal names."""
    lines: dict[str, tuple[int, int]] = {}
    for piece in _definitions(found):
        name = f"{piece.scope}.{piece.symbol}" if piece.scope else piece.symbol
        lines.setdefault(name, (piece.start_line, piece.end_line))
    return lines


def docstrings(found: FileChunks, text: bytes) -> dict[str, str]:
    """Symbol -> docstring, of those that have one; the last of equal names."""
    return {
        piece.symbol: text[slice(*piece.docstring)].decode()
        for piece in _definitions(found)
        if piece.docstring[1]
    }


def _definitions(found: FileChunks) -> list[Chunk]:
    return [piece for piece in found.chunks if piece.symbol]
