"""The logical lines of a Python text: a statement each, or the header of one, found without a syntax tree.

A regular expression finds strings and comments, numpy counts brackets; a line break outside of all three, and not
behind a backslash, ends a logical line. Blank lines and those of comments alone are none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from indexer.chunk.pieces import BOM

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Possessive repeats: a string is never looked at twice, and takes no memory however long it is.
_STRINGS = (
    rb'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""'
    rb"|'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''"
    rb'|"(?!"")[^"\\\r\n]*+(?:\\(?:\r\n|.)[^"\\\r\n]*+)*+"'
    rb"|'(?!'')[^'\\\r\n]*+(?:\\(?:\r\n|.)[^'\\\r\n]*+)*+'"
)
STRING = rb"(?:" + _STRINGS + rb")"
# Each branch begins with a byte of its own: so `re` skips to the next of these bytes, which is most of the speed.
_OPAQUE = re.compile(rb"#[^\r\n]*+|" + _STRINGS + rb"|\"|'", re.DOTALL)
_ODD_INDENT = re.compile(rb"\n(?: +\t|\t+ |[ \t]*\\\r?\n)")
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_INDENTED = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\\]")
_NEWLINE, _RETURN, _HASH, _BACKSLASH, _SPACE = 0x0A, 0x0D, 0x23, 0x5C, 0x20
_STRING, _COMMENT = 1, 2

_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"([{")] = 1
_STEPS[list(b")]}")] = -1


class Logical:
    """The n logical lines of a text, and what stands where in it.

    ``first`` (n,): byte of the first token; ``end`` (n,): behind the last one; ``indent`` (n,): bytes before the first;
    ``two`` (n,): the first two bytes, as one number. ``starts``: where the physical lines begin.
    """

    def __init__(self, text: bytes, spans: NDArray[np.int64]) -> None:
        """Find them, given all strings and comments. ValueError where brackets do not pair."""
        self._data = data = np.frombuffer(text, np.uint8)
        self._levels = _levels(data, spans)
        self._brackets = np.flatnonzero(_STEPS[data])
        self._brackets = self._brackets[self._levels[self._brackets] == 0]
        self._depths = np.append(0, np.cumsum(_STEPS[data[self._brackets]], dtype=np.int64))
        if self._depths[-1] != 0 or self._depths.min() < 0:
            raise ValueError("brackets do not pair")
        breaks = np.flatnonzero(data == _NEWLINE)
        self.starts: list[int] = [0, *(breaks + 1).tolist()]
        mark = len(BOM) * text.startswith(BOM)
        starts = np.append(mark, self._ends(breaks) + 1)
        solid = np.zeros(len(data) + 2, np.bool_)
        solid[1:-1] = (data > _SPACE) & (data != _BACKSLASH) & (self._levels == 0) | (self._levels == _STRING)
        solid[: mark + 1] = False  # else it would run into the first word
        edges = np.flatnonzero(solid[1:] != solid[:-1])
        begins, ends = edges[::2], edges[1::2]
        place = np.searchsorted(begins, starts)
        there = place < np.append(place[1:], len(begins))
        place = place[there]
        first = begins[place]
        self.first: list[int] = first.tolist()
        self.end: list[int] = ends[np.append(place, len(ends))[1:] - 1].tolist()
        self.indent: list[int] = (first - starts[there]).tolist()
        padded = np.append(data, np.uint8(0)).astype(np.uint16)
        self.two = padded[first] << np.uint16(8) | padded[first + 1]

    def _ends(self, breaks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which line breaks end logical lines (or blank ones)."""
        breaks = breaks[(self._depth(breaks) == 0) & (self._levels[breaks] == 0)]
        before = breaks - 1
        before -= self._data[before] == _RETURN
        goes_on = (self._data[before] == _BACKSLASH) & (self._levels[before] == 0) & (before >= 0)
        ends: NDArray[np.int64] = breaks[~goes_on]
        return ends

    def find_code(self, byte: int, start: int, end: int, depth: int = 0) -> list[int]:
        """Find a byte in ``[start, end)`` wherever it is in no string or comment, and in so many brackets.

        A bracket that opens is in its own, one that closes is not.
        """
        at = np.flatnonzero(self._data[start:end] == byte) + start
        found: list[int] = at[(self._levels[at] == 0) & (self._depth(at) == depth)].tolist()
        return found

    def is_code(self, at: int) -> bool:
        """Whether a byte is in no string, comment or bracket."""
        return bool(self._levels[at] == 0 and self._depth(at) == 0)

    def _depth(self, at: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """In how many brackets a byte is."""
        return np.asarray(self._depths[np.searchsorted(self._brackets, at, "right")])


def _is_odd(text: bytes) -> bool:
    """Whether there is what few texts have; each search is made only where it may find something."""
    return (
        b"\0" in text
        or b"\x0c" in text
        or _INDENTED.match(text) is not None
        or (b"\r" in text and _LONE_RETURN.search(text) is not None)
        or (b"\n\t" in text and b"\n " in text)
        or ((b"\t" in text or b"\\\n" in text or b"\\\r" in text) and _ODD_INDENT.search(text) is not None)
    )


def logical_lines(text: bytes) -> Logical | None:
    """Find the logical lines; None where quotes or brackets do not pair, or the indentation is not plain.

    So too where there are NUL, form feeds, lone CR, or lines that begin with a backslash alone.
    """
    if _is_odd(text):
        return None
    spans = np.array([match.span() for match in _OPAQUE.finditer(text)], np.int64).reshape(-1, 2)
    quotes = spans[spans[:, 1] - spans[:, 0] == 1, 0].tolist()
    if any(text[at] != _HASH for at in quotes):  # one without its other
        return None
    try:
        return Logical(text, spans)
    except ValueError:
        return None


def _levels(data: NDArray[np.uint8], spans: NDArray[np.int64]) -> NDArray[np.int8]:
    """For each byte 0, `_STRING` or `_COMMENT`."""
    level = np.where(data[spans[:, 0]] == _HASH, np.int8(_COMMENT), np.int8(_STRING))
    steps = np.zeros(len(data) + 1, np.int8)
    steps[spans[:, 0]] += level
    steps[spans[:, 1]] -= level
    return np.cumsum(steps[:-1], dtype=np.int8)
