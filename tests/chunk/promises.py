"""What every chunker promises, held against the chunks of one text by other means than the chunkers' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.tokens import size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.settings import ChunkSettings
    from indexer.types import Chunk, FileChunks

SPACE = b" \t\n\r\x0b\x0c"
BOM = b"\xef\xbb\xbf"


def line_at(text: bytes, offset: int) -> int:
    """The line an editor shows for the byte at ``offset``, counted from the start of the text."""
    if text[offset : offset + 1] == b"\n" and text[offset - 1 : offset] == b"\r":
        offset -= 1
    ends = (text.count(end, 0, offset) for end in (b"\n", b"\r", b"\r\n"))
    return next(ends) + next(ends) - next(ends) + 1


def text_of(text: bytes, piece: Chunk) -> bytes:
    """The bytes of a chunk, its spans joined."""
    return b"".join(text[span.start : span.end] for span in piece.spans)


def texts(text: bytes, found: FileChunks) -> list[bytes]:
    """The bytes of every chunk."""
    return [text_of(text, piece) for piece in found.chunks]


def hold(
    text: bytes, found: FileChunks, settings: ChunkSettings, only: Sequence[tuple[int, int]] | None = None
) -> None:
    """Assert all promises. ``only``: what must be covered, where that is not the whole text."""
    _spans_are_sound(text, found)
    _ranges_are_sound(text, found)
    _everything_is_covered(text, found, only)
    _parents_are_sound(found)
    starts = [(piece.spans[0].start, piece.part) for piece in found.chunks]
    assert starts == sorted(starts)
    for piece in found.chunks:
        assert size(text_of(text, piece)) <= settings.max_tokens
        assert sum(span.end - span.start for span in piece.spans) <= 32 * settings.max_tokens


def _spans_are_sound(text: bytes, found: FileChunks) -> None:
    for piece in found.chunks:
        end = 0
        for span in piece.spans:
            assert end <= span.start < span.end <= len(text)
            assert span.start_line == line_at(text, span.start)
            assert span.end_line == line_at(text, span.end - 1)
            end = span.end
        assert (
            piece.start_line <= piece.line <= piece.end_line or piece.part
        )  # the name may be in a later part


def _ranges_are_sound(text: bytes, found: FileChunks) -> None:
    """Nothing begins or ends inside a character, where the text has characters."""
    for piece in found.chunks:
        for start, end in (piece.signature, piece.docstring):
            assert 0 <= start <= end <= len(text)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return
    for piece in found.chunks:
        inner = [piece.signature, piece.docstring, *((span.start, span.end) for span in piece.spans)]
        assert not any(0x80 <= text[at] < 0xC0 for edges in inner for at in edges if at < len(text))


def _everything_is_covered(text: bytes, found: FileChunks, only: Sequence[tuple[int, int]] | None) -> None:
    homes, left = bytearray(len(text)), bytearray(text)
    for piece in found.chunks:
        for start, end in ((span.start, span.end) for span in piece.spans):
            assert piece.part > 1 or not homes.count(1, start, end), f"a byte of {start}-{end} has two homes"
            homes[start:end] = b"\1" * (end - start)
            left[start:end] = b" " * (end - start)
    skipped = len(BOM) if text.startswith(BOM) else 0
    for start, end in only or [(skipped, len(text))]:
        assert not left[start:end].strip(SPACE)


def _parents_are_sound(found: FileChunks) -> None:
    for index, piece in enumerate(found.chunks):
        assert -1 <= piece.parent < index
        if piece.part > 1:
            first = found.chunks[piece.parent]
            assert (first.part, first.symbol, first.scope) == (1, piece.symbol, piece.scope)
