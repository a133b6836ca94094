"""Cutting byte ranges into parts that are small enough, at the best line ends.

The unit is the line: its words as `tokens.size` counts them, and never less than a 32nd of its bytes, so that a
megabyte of one "word" is cut too. A line that is too large by itself is cut into pieces between words. Parts are
filled up in order, each ending where the code itself pauses: the line that begins the next one is as little
indented as possible, follows a blank line if it can, and is no closing bracket.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from indexer.tokens import size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Range = tuple[int, int]

BOM = b"\xef\xbb\xbf"
SPACE = b" \t\n\r\x0b\x0c"
_BYTES_PER_WORD = 32
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_INDENT = re.compile(rb"[ \t]*")
_BLANK = re.compile(rb"[ \t\n\r\x0b\x0c]*")
# A part does not begin with what only ends or goes on with the statement before.
_GOES_ON = re.compile(rb"[)\]}]|(?:else|elif|elsif|except|finally|catch|rescue|end|done|fi|esac)\b")
_NO_WORD = re.compile(rb"[^0-9A-Za-z_\x80-\xff]")


class _Piece(NamedTuple):
    """A line of a range, or a piece of a very long one. ``rank``: how badly a part would begin here."""

    start: int
    end: int
    rank: int


def trim(text: bytes, start: int, end: int) -> Range:
    """``[start, end)`` without white space (and byte-order mark) at its ends; ``start >= end``: nothing is left."""
    if start == 0 and text.startswith(BOM):
        start = len(BOM)
    match = _BLANK.match(text, start, end)
    start = match.end() if match else start
    while end > start and text[end - 1] in SPACE:
        end -= 1
    return start, end


def weight(data: bytes) -> int:
    """Words of ``data``, and at least a 32nd of its bytes, rounded up."""
    return max(size(data), -(-len(data) // _BYTES_PER_WORD))


def fits(text: bytes, ranges: Sequence[Range], limit: int) -> bool:
    """Whether the ranges together are within ``limit`` words."""
    total = sum(end - start for start, end in ranges)
    if total <= 2 * limit:  # a word is at least a byte and a separator, or a wide character of three bytes
        return True
    return total <= limit * _BYTES_PER_WORD and sum(size(text[start:end]) for start, end in ranges) <= limit


def cut(text: bytes, ranges: Sequence[Range], limit: int, overlap: int) -> list[list[Range]]:
    """Parts of at most ``limit`` words that cover ``ranges`` in order; none for no ranges.

    Each part after the first begins with whole lines of the one before, up to ``overlap`` words of them. Ranges must be
    ascending, disjoint and without white space at their ends; so are those of each part.
    """
    if not ranges:
        return []
    if fits(text, ranges, limit):
        return [list(ranges)]
    found = [piece for start, end in ranges for piece in _pieces(text, start, end, limit)]
    sums = list(accumulate((weight(text[piece.start : piece.end]) for piece in found), initial=0))
    parts: list[list[Range]] = []
    first = done = 0
    while done < len(found):
        last = _end_of_part(found, sums, first, done, limit)
        parts.append(_join(text, found[first:last]))
        first = done = last
        if done < len(found):
            room = min(overlap, limit - (sums[done + 1] - sums[done]))
            while first > 0 and sums[done] - sums[first - 1] <= room:
                first -= 1
    return [part for part in parts if part]


def _end_of_part(found: Sequence[_Piece], sums: Sequence[int], first: int, done: int, limit: int) -> int:
    """Index after the last piece of the part that begins at ``first``; the pieces before ``done`` are overlap."""
    last = max(bisect_right(sums, sums[first] + limit) - 1, done + 1)
    if last >= len(found):
        return len(found)
    half = bisect_right(sums, sums[first] + limit // 2)
    best = last
    for index in range(last, max(half, done + 1) - 1, -1):
        if found[index].rank < found[best].rank:
            best = index
    return best


def _pieces(text: bytes, start: int, end: int, limit: int) -> Iterator[_Piece]:
    """The lines of a range, very long ones cut; the first is the best place of all to begin."""
    after_blank = True
    at = start
    for match in _LINE.finditer(text, start, end):
        at, upto = match.span()
        if at == upto:
            break
        indent = match_end(_INDENT, text, at, upto)
        blank = indent >= upto or text[indent] in SPACE
        rank = 2 * (indent - at) - after_blank + 1 if at > start else -1
        if blank or _GOES_ON.match(text, indent, upto):
            rank += 1_000_000
        after_blank = blank
        if upto - at > 2 * limit and weight(text[at:upto]) > limit:
            yield from _long_line(text, _Piece(at, upto, rank), limit)
        else:
            yield _Piece(at, upto, rank)


def match_end(pattern: re.Pattern[bytes], text: bytes, start: int, end: int) -> int:
    """Where a match of ``pattern`` at ``start`` ends, or ``start``."""
    match = pattern.match(text, start, end)
    return match.end() if match else start


def _long_line(text: bytes, line: _Piece, limit: int) -> Iterator[_Piece]:
    """Pieces of a long line, each small enough whatever its bytes are, cut between words and never in a character."""
    step = max(8, limit // 4)
    at, rank = line.start, line.rank
    while line.end - at > 2 * step:
        upto = at + step
        while upto < at + 2 * step and not _NO_WORD.match(text, upto):
            upto += 1
        if upto == at + 2 * step:  # one long word: then anywhere between two characters
            upto = at + step
            while upto > at + 1 and upto > at + step - 4 and 0x80 <= text[upto] < 0xC0:
                upto -= 1
        yield _Piece(at, upto, rank)
        at, rank = upto, 2_000_000
    yield _Piece(at, line.end, rank)


def _join(text: bytes, found: Sequence[_Piece]) -> list[Range]:
    """The pieces as ranges: neighbours put together, white space at the ends taken off, nothing empty."""
    joined: list[Range] = []
    start, end = found[0].start, found[0].end
    for piece in found[1:]:
        if piece.start != end:
            joined.append((start, end))
            start = piece.start
        end = piece.end
    joined.append((start, end))
    trimmed = (trim(text, start, end) for start, end in joined)
    return [(start, end) for start, end in trimmed if start < end]
