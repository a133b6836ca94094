"""Where running text is cut: at seams that its own content chooses, so that an edit moves only the cuts beside it.

Filling pieces up in order would shift every later cut when a paragraph is put in at the top, and every later piece
would be new. Instead each possible cut, a *seam*, has a rank: first how well the text pauses there (blank lines, a
line, a sentence, a word), then a number drawn from the text that follows. A range that is too large is cut at its
best seam, and each side again, until all fit. Which seam wins depends on the bytes after it and on nothing
else in the file, so two versions of a text are cut alike but around their difference.

Everything is arithmetic on arrays of offsets; a text is looked at byte by byte only by numpy.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.chunk.pieces import SPACE, trim

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Offsets = NDArray[np.int64]

# A piece has at most this many bytes for each word it may have: rows of brackets and base64 have next to no words.
BYTES_PER_WORD = 24
# A cut closer than an eighth of a full piece to the end of its range would leave crumbs.
_MARGIN = 8
_LOOK = 48  # bytes after a seam that draw its number

_WORD = np.zeros(256, np.bool_)
_WORD[list(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")] = True
_WORD[128:] = True
_SPACE = np.zeros(256, np.bool_)
_SPACE[list(SPACE)] = True
_CLOSER = np.zeros(256, np.bool_)
_CLOSER[list(b")]}")] = True

# Classes of seams, from the worst to the best; a rank is class, then (for lines) little indentation, then the number.
_CHARACTER, _SIGN, _GAP, _SENTENCE, _CLOSING_LINE, _LINE, _PARAGRAPH, _BREAK = range(1, 9)
_SENTENCE_END = re.compile(
    rb"[.!?][\"')\]]*[ \t\r\n]+|(?:\xe3\x80\x82|\xef\xbc[\x81\x9f])(?:\xe2\x80[\x99\x9d]|\xe3\x80[\x8d\x8f])?[ \t\r\n]*"
)
_ODD = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F,
     0xE7037ED1A0B428DB],
    np.uint64,
)  # fmt: skip


class Piece(NamedTuple):
    """A byte range ``[start, end)``; what lies before ``own`` is also the end of the piece before."""

    start: int
    own: int
    end: int


class Ruler:
    """Counts the words of any range of one text after one pass over it; never fewer than `tokens.size` does."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._starts = _word_starts(text)

    def before(self, offsets: Offsets) -> Offsets:
        """How many words begin before each offset."""
        return self._starts.searchsorted(offsets)

    def words(self, start: int, end: int) -> int:
        """How many words begin in ``[start, end)``."""
        return int(self._starts.searchsorted(end) - self._starts.searchsorted(start))

    def back(self, offset: int, words: int) -> int:
        """The first byte from which on at most ``words`` words begin before ``offset``."""
        index = int(self._starts.searchsorted(offset)) - words - 1
        return int(self._starts[index]) + 1 if index >= 0 else 0

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Whether ``[start, end)`` may be one piece."""
        return end - start <= limit * BYTES_PER_WORD and self.words(start, end) <= limit


def split(ruler: Ruler, start: int, end: int, limit: int, overlap: int = 0) -> list[Piece]:
    """Pieces of ``[start, end)``, each at most ``limit`` words with its overlap, without white space at their ends.

    They cover all that is not white space, in order; nothing is in two of them but the overlap, whole lines (or
    sentences, or words) of the piece before of at most ``overlap`` words. One piece is the whole range, if that fits.
    """
    start, end = trim(ruler.text, start, end)
    if start >= end:
        return []
    if ruler.fits(start, end, limit):
        return [Piece(start, start, end)]
    overlap = min(overlap, limit // 4)
    room = max(limit - overlap - 1, 1)  # a cut inside a word makes one more of it
    lines = _Lines(ruler.text, start, end)
    cuts = []
    for low, high in _ranges(start, _descend(ruler, lines.seams(ruler, room), start, end, room), end):
        cuts.append(low)
        if not ruler.fits(low, high, room):
            cuts += _descend(ruler, _fine_seams(ruler, low, high, room), low, high, room)
    return _pieces(ruler, cuts, end, overlap, lines.at)


class _Seams(NamedTuple):
    """Offsets where one may cut, ascending, and the rank of each."""

    at: Offsets
    rank: Offsets


def _ranges(start: int, cuts: Sequence[int], end: int) -> list[tuple[int, int]]:
    return list(zip([start, *cuts], [*cuts, end], strict=True))


def _descend(ruler: Ruler, seams: _Seams, start: int, end: int, room: int) -> list[int]:
    """Cut at the best seam, then each side again, until all fits or has no seam left; the cuts, ascending."""
    at = np.concatenate([[start], seams.at, [end]])
    words = ruler.before(at)
    cost = words * BYTES_PER_WORD + at
    margin = room * BYTES_PER_WORD // _MARGIN
    cuts: list[int] = []
    todo = [(0, len(at) - 1)]
    while todo:
        low, high = todo.pop()
        if words[high] - words[low] <= room and at[high] - at[low] <= room * BYTES_PER_WORD:
            continue
        first = max(int(cost.searchsorted(cost[low] + margin)), low + 1)
        last = min(int(cost.searchsorted(cost[high] - margin, "right")), high)
        if first >= last:
            continue
        best = _best(seams.rank, cost, first, last)
        cuts.append(int(at[best]))
        todo += [(low, best), (best, high)]
    cuts.sort()
    return cuts


def _best(rank: Offsets, cost: Offsets, first: int, last: int) -> int:
    """Index (into ``cost``) of the highest rank in ``[first, last)``; of equals, the one nearest to the middle.

    Without the latter a text of a million equal lines would be peeled off piece by piece, in quadratic time.
    """
    window = rank[first - 1 : last - 1]  # ranks have no entry for the start of the range
    ties = (window == window.max()).nonzero()[0] + first
    if len(ties) == 1:
        return int(ties[0])
    middle = (cost[first] + cost[last - 1]) // 2
    return int(ties[np.abs(cost[ties] - middle).argmin()])


def _pieces(ruler: Ruler, cuts: list[int], end: int, overlap: int, lines: Offsets) -> list[Piece]:
    text = ruler.text
    found: list[Piece] = []
    for low, high in _ranges(cuts[0], cuts[1:], end):
        own, stop = trim(text, low, high)
        if own < stop:
            start = _reach_back(ruler, found[-1].own, own, overlap, lines) if found and overlap else own
            found.append(Piece(start, own, stop))
    return found


def _reach_back(ruler: Ruler, floor: int, own: int, overlap: int, lines: Offsets) -> int:
    """The earliest line, else sentence, else word after ``floor`` that is within ``overlap`` words of ``own``."""
    floor = max(floor + 1, own - overlap * BYTES_PER_WORD, ruler.back(own, overlap))
    line = int(lines.searchsorted(floor))
    if line < len(lines) and lines[line] < own:
        return trim(ruler.text, int(lines[line]), own)[0]
    classes = _inline_classes(ruler.text, floor - 1, own)[1:] if floor < own else np.zeros(0, np.uint8)
    for least in (_SENTENCE, _GAP):
        at = (classes >= least).nonzero()[0]
        if len(at):
            return int(at[0]) + floor
    return own


class _Lines:
    """The lines of ``[start, end)`` that are not blank, but for the first: their starts, and how well one may cut there."""

    def __init__(self, text: bytes, start: int, end: int) -> None:
        self._data = data = np.frombuffer(text, np.uint8)[start:end]
        self._start = start
        begins = np.concatenate([[0], _line_starts(data)])
        solid = ~_SPACE[data]
        tops = np.concatenate([[0], np.flatnonzero(solid[1:] & ~solid[:-1]) + 1, [len(data)]])
        first = tops[
            tops.searchsorted(begins)
        ]  # the range begins with no white space, so 0 is one of the tops
        kept = np.flatnonzero(first < np.append(begins[1:], len(data)))
        blank = np.diff(kept) - 1
        self._first = first[kept[1:]]
        self._indent = np.minimum(self._first - begins[kept[1:]], 15)
        self._class = np.where(self._closing(), _CLOSING_LINE, np.minimum(blank, 2) + _LINE)
        self.at = begins[kept[1:]] + start

    def _closing(self) -> NDArray[np.bool_]:
        one = self._data[self._first]
        other = self._data[np.minimum(self._first + 1, len(self._data) - 1)]
        return np.asarray(_CLOSER[one] | ((one == ord("<")) & (other == ord("/"))))

    def seams(self, ruler: Ruler, room: int) -> _Seams:
        """Those one may cut at: the starts of paragraphs alone, where there are enough of them."""
        some = np.flatnonzero(self._class >= _PARAGRAPH)
        if not _close(ruler, self.at[some], self._start, self._start + len(self._data), room):
            some = np.arange(len(self.at))
        rank = (self._class[some] << 40) | ((15 - self._indent[some]) << 32)
        return _Seams(self.at[some], rank | _drawn(self._data, self._first[some]))


def _close(ruler: Ruler, at: Offsets, start: int, end: int, room: int) -> bool:
    """Whether no two neighbours are further apart than half a piece; then no lower class is ever needed."""
    steps = np.concatenate([[start], at, [end]])
    cost = ruler.before(steps) * BYTES_PER_WORD + steps
    return bool(np.diff(cost).max() <= room * BYTES_PER_WORD // 2)


def _fine_seams(ruler: Ruler, start: int, end: int, room: int) -> _Seams:
    """Seams within lines; single characters only where there are too few others."""
    classes = _inline_classes(ruler.text, start, end)
    data = np.frombuffer(ruler.text, np.uint8)[start:end]
    classes[_line_starts(data)] = _LINE
    classes[0] = 0
    at = np.flatnonzero(classes >= _SIGN)
    if not _close(ruler, at + start, start, end, room):
        at = np.flatnonzero(classes)
    return _Seams(at + start, (classes[at].astype(np.int64) << 40) | _drawn(data, at))


def _inline_classes(text: bytes, start: int, end: int) -> NDArray[np.uint8]:
    """The class of a cut before each byte of ``[start, end)``, 0 where there must be none."""
    data = np.frombuffer(text, np.uint8)[start:end]
    classes = _may_begin(data).astype(np.uint8) * _CHARACTER
    word, space = _WORD[data], _SPACE[data]
    classes[1:][~word[:-1] & (classes[1:] > 0)] = _SIGN
    classes[1:][space[:-1] & ~space[1:]] = _GAP
    for match in _SENTENCE_END.finditer(text, start, end):
        if match.end() < end:
            classes[match.end() - start] = _SENTENCE
    return classes


def _may_begin(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where a character may begin. Of more continuation bytes than any character has, each from the fourth on."""
    goes_on = (data & 0xC0) == 0x80
    bad = goes_on.copy()
    for back in (1, 2, 3):
        bad[back:] &= goes_on[:-back]
        bad[:back] = False
    return np.asarray(~goes_on | bad)


def _line_starts(data: NDArray[np.uint8]) -> Offsets:
    """Where a line begins after another one, not counting an end of the data."""
    ends = data[:-1] == 0x0A
    if (data == 0x0D).any():
        ends |= (data[:-1] == 0x0D) & (data[1:] != 0x0A)
    return np.flatnonzero(ends) + 1


def _drawn(data: NDArray[np.uint8], at: Offsets) -> Offsets:
    """A number of 32 bits for each offset, drawn from the bytes that follow it."""
    padded = np.concatenate([data, np.zeros(_LOOK, np.uint8)])
    drawn = np.empty(len(at), np.int64)
    for low in range(0, len(at), 65536):  # bounds the memory of what follows: 48 bytes an offset
        some = padded[at[low : low + 65536, None] + np.arange(_LOOK)].view("<u8")
        mixed = (some * _ODD).sum(axis=1, dtype=np.uint64)
        mixed ^= mixed >> np.uint64(29)
        drawn[low : low + 65536] = (mixed * _ODD[0]) >> np.uint64(32)
    return drawn


def _kinds_of_characters() -> NDArray[np.uint8]:
    """For the first two bytes of a character above ASCII: 0 a letter, 1 a word by itself, 2 no letter."""
    kinds = np.zeros((256, 256), np.uint8)
    kinds[0xC2] = 2
    kinds[0xC2, [0xAA, 0xB5, 0xBA]] = 0
    kinds[0xC3, [0x97, 0xB7]] = 2
    kinds[0xE0, 0xB8:0xBC] = 1  # Thai, Lao
    kinds[0xE1, [0x80, 0x81, 0x82, 0x9E, 0x9F]] = 1  # Myanmar, Khmer
    kinds[0xE2, 0x80:0xB0] = 2
    kinds[0xE2, [0x81, 0x82, 0x84, 0x85, 0x86]] = (
        1  # signs, and letters among them: rather too many than too few
    )
    kinds[0xE2, 0xBA:] = 2
    kinds[0xE3:0xEA] = 1
    kinds[0xEA, 0xB0:] = 1
    kinds[0xEB:0xEE] = 1
    kinds[0xEF] = 1
    kinds[0xF0, 0xA0:] = 1
    kinds[0xF0, 0x9F] = 2
    kinds[0xF1:] = 2
    return kinds


_KINDS = _kinds_of_characters()


def _word_starts(text: bytes) -> Offsets:
    if (
        not text.isascii()
    ):  # bytes that make no character are no part of a word, and must not hide their neighbours
        text = text.decode("utf-8", "surrogateescape").encode("utf-8", "replace")
    data = np.frombuffer(text + b"\0\0\0\0", np.uint8)
    word = _WORD[data]
    if text.isascii():
        return np.flatnonzero(word[:-4] & ~np.concatenate([[False], word[:-5]]))
    leads = np.flatnonzero(data >= 0xC2)
    kinds = _KINDS[data[leads], data[leads + 1]]
    special = leads[kinds > 0]
    for further, least in enumerate((0xC2, 0xC2, 0xE0, 0xF0)):
        word[special[data[special] >= least] + further] = False
    starts = word[:-4] & ~np.concatenate([[False], word[:-5]])
    starts[leads[kinds == 1]] = True
    return np.flatnonzero(starts)
