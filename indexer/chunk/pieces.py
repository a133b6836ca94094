"""Cutting byte ranges into parts that are small enough, at the best line ends.

The unit is the line: its words as `tokens.size` counts them, and never less than a 32nd of its bytes, so that a
megabyte of one "word" is cut too. A line that is too large by itself is cut into pieces between words.

Ranges that are too large are cut at the best line in them, and each side again, until all fit. The best line to begin
a part is the least indented one, after a blank line if it can be, and no closing bracket: that is where statements
begin. Of equally good ones the line's own text decides, by a number drawn from it. So the cuts hang on the lines
themselves and not on what comes before: a line put in at the top of a long text leaves the cuts further down alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from indexer.tokens import size, sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Range = tuple[int, int]

BOM = b"\xef\xbb\xbf"
SPACE = b" \t\n\r\x0b\x0c"
_BYTES_PER_WORD = 32
_DEEPEST = 48  # cuts inside one another, and columns of indentation, that make a difference
_DEEPEST_INDENT = 60
# A part does not begin with what only ends or goes on with the statement before, nor is that looked for everywhere.
_GOES_ON = re.compile(rb"[)\]}]|(?:else|elif|elsif|except|finally|catch|rescue|end|done|fi|esac)\b")
_BEGINS_ON = b")]}cdefr"
_BLANK = re.compile(rb"[ \t\n\r\x0b\x0c]*")
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


def _weights(data: bytes, bounds: Sequence[Range]) -> list[int]:
    """`weight` of some ranges of ``data``."""
    words = sizes(data, bounds)
    return [
        max(size, -((start - end) // _BYTES_PER_WORD))
        for size, (start, end) in zip(words, bounds, strict=True)
    ]


def fits(text: bytes, ranges: Sequence[Range], limit: int) -> bool:
    """Whether the ranges together are within ``limit`` words."""
    total = sum(end - start for start, end in ranges)
    if total <= 2 * limit:  # a word is at least a byte and a separator, or a wide character of three bytes
        return True
    return total <= limit * _BYTES_PER_WORD and sum(size(text[start:end]) for start, end in ranges) <= limit


def cut(
    text: bytes, ranges: Sequence[Range], limit: int, overlap: int, string: Range = (0, 0)
) -> list[list[Range]]:
    """Parts of at most ``limit`` words that cover ``ranges`` in order; none for no ranges.

    Each part after the first begins with whole lines of the one before, up to ``overlap`` words of them (at most half of
    the limit). Ranges must be ascending, disjoint and without white space at their ends; so are those of each part.
    Inside of ``string`` (a docstring, whose lines look like statements) cuts are made only if there must be some.
    """
    if not ranges:
        return []
    if fits(text, ranges, limit):
        return [list(ranges)]
    overlap = min(overlap, limit // 2)
    found: list[_Piece] = []
    weights: list[int] = []
    for start, end in ranges:
        pieces = _pieces(text, start, end, limit - overlap, string)
        found += pieces
        weights += _weights(text[start:end], [(piece.start - start, piece.end - start) for piece in pieces])
    sums = list(accumulate(weights, initial=0))
    parts: list[list[Range]] = []
    for low, high in pairwise([0, *_cuts(found, sums, limit - overlap), len(found)]):
        first = low
        while first > 0 and sums[low] - sums[first - 1] <= overlap:
            first -= 1
        parts.append(_join(text, found[first:high]))
    return [part for part in parts if part]


def _cuts(found: Sequence[_Piece], sums: Sequence[int], room: int) -> list[int]:
    """Indices of the pieces that begin a part, ascending, but for the first: the best one, then again on each side."""
    ranks = [piece.rank for piece in found]
    margin = room // 4  # closer to an end a cut would leave crumbs
    cuts: list[int] = []
    todo = [(0, len(found), 0)]
    while todo:
        low, high, depth = todo.pop()
        if sums[high] - sums[low] <= room or high - low < 2:
            continue
        # Where the first or last piece alone is heavier than the margin, the cut is beside it, and never at an end.
        first = min(max(bisect_left(sums, sums[low] + margin), low + 1), high - 1)
        last = max(min(bisect_right(sums, sums[high] - margin) - 1, high - 1), first)
        middle = min(max(bisect_left(sums, (sums[low] + sums[high]) // 2), first), last)
        best = middle
        if depth < _DEEPEST:  # else the ranks are arranged so that each cut takes off a crumb only
            window = ranks[first : last + 1]
            least = min(window)
            # Of a million equal lines the one in the middle, for the same reason.
            if ranks[middle] != least:
                best = first + window.index(least)
        cuts.append(best)
        todo += [(low, best, depth + 1), (best, high, depth + 1)]
    return sorted(cuts)


def _pieces(text: bytes, start: int, end: int, limit: int, string: Range) -> list[_Piece]:
    """The lines of a range, very long ones cut; the first is the best place of all to begin."""
    found: list[_Piece] = []
    at, after_blank = start, True
    for line in text[start:end].splitlines(keepends=True):
        body = line.lstrip(b" \t")
        indent = len(line) - len(body)
        blank = not body or body[0] in SPACE
        rank = (not after_blank) + 1 if at > start else 0
        if rank and indent:
            rank += min(indent, _DEEPEST_INDENT) << 1
        if blank or (body[0] in _BEGINS_ON and _GOES_ON.match(body)):
            rank += 1 << 10
        if string[0] < at < string[1]:
            rank += 1 << 9
        after_blank = blank
        piece = _Piece(at, at + len(line), rank << 32 | crc32(body))
        if len(line) > 2 * limit and weight(line) > limit:
            found += _long_line(text, piece, limit)
        else:
            found.append(piece)
        at += len(line)
    return found


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
        at = upto
        rank = 1 << 43 | crc32(text[at : at + step])
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
