"""What a reader of Python finds, and what is made of it: the judgement that both readers share.

A reader tells bare facts, `Bare`. Which comments belong to a definition and where its signature ends is decided here,
from the bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk.pieces import BOM, trim
from indexer.chunk.spans import Definition, Lines, Outline
from indexer.chunk.tree import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_AFTER_END = re.compile(rb"[ \t\f]*(?:;[ \t\f]*)?(?:#[^\r\n]*)?")
_COMMENT = re.compile(rb"([ \t\f]*)#[^\r\n]*")
_BLANKS = re.compile(rb"[ \t\f\r\n]*")
_BLANK_LINE = re.compile(rb"[ \t\f]*(?:[\r\n]|\Z)")
_LINES_BELOW = 200  # how far comments are looked for below an end; nested definitions each look by themselves
_OPENING, _CLOSING = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_HEADER = re.compile(
    rb"""[^()\[\]{}:"'#\\]+|\\.|[bBrRuUfF]*(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\r\n])*"|'(?:\\.|[^'\\\r\n])*')"""
    rb"""|#[^\r\n]*|.""",
    re.DOTALL,
)


class Bare(NamedTuple):
    """A definition as its reader sees it; byte offsets. ``floor``: where the statement before it ended."""

    kind: str
    name: str
    floor: int
    start: int  # the first decorator's sign, or `at`
    at: int  # "def", "async" or "class"
    body: int  # the first statement inside
    end: int  # of the last statement inside
    docstring: tuple[int, int]
    bases: tuple[str, ...]


def outlined(text: bytes, lines: Lines, found: Iterable[Bare], imports: set[str]) -> Outline:
    """The outline of a text whose bare definitions are ``found``."""
    judge = _Judge(text, lines.starts)
    return Outline([judge.definition(bare) for bare in found], tuple(sorted(imports)), lines=lines)


def imported(module: str, names: Iterable[str]) -> Iterator[str]:
    """``module.name`` for each name; the module itself for a star."""
    dot = "" if module.endswith(".") else "."
    for name in names:
        yield module if name == "*" else f"{module}{dot}{name}"


def one_line(raw: bytes) -> str:
    """The text with single spaces."""
    return " ".join(raw.decode("utf-8", "replace").split())


class _Judge:
    """Decides from the bytes what belongs to a definition."""

    def __init__(self, text: bytes, starts: list[int]) -> None:
        self._text = text
        self._starts = starts

    def definition(self, bare: Bare) -> Definition:
        line, start = self._line(bare.start)
        column = bare.start - start
        return Definition(
            self._comments_above(bare.start, line, column, bare.floor),
            self._comments_below(bare.end, column),
            bare.at,
            bare.kind,
            bare.name,
            "",
            _signature(self._text, bare.at, bare.body),
            bare.docstring,
            bare.bases,
        )

    def _line(self, at: int) -> tuple[int, int]:
        """Index of the line of a byte, and where its text begins (behind a byte-order mark)."""
        index = bisect_right(self._starts, at) - 1
        return index, self._begin(index)

    def _begin(self, index: int) -> int:
        return len(BOM) if index == 0 and self._text.startswith(BOM) else self._starts[index]

    def _comments_above(self, start: int, line: int, column: int, floor: int) -> int:
        """The start, moved up over the comment lines directly above that are indented alike."""
        while line > 0:
            line -= 1
            above = self._begin(line)
            match = _COMMENT.match(self._text, above)
            if above < floor or not match or len(match[1]) != column:
                break
            start = above + column
        return start

    def _comments_below(self, end: int, column: int) -> int:
        """The end, moved over the comment on its line and over later comment lines that are indented deeper."""
        match = _AFTER_END.match(self._text, end)
        if match:
            end = trim(self._text, end, match.end())[1]
        blank = _BLANKS.match(self._text, end)
        if not blank or self._text[blank.end() : blank.end() + 1] != b"#":
            return end
        index = bisect_right(self._starts, end)
        for at in self._starts[index : index + _LINES_BELOW]:
            match = _COMMENT.match(self._text, at)
            if match and len(match[1]) > column:
                end = trim(self._text, at, match.end())[1]
            elif not _BLANK_LINE.match(self._text, at):
                break
        return end


def _signature(text: bytes, at: int, body: int) -> tuple[int, int]:
    """From the keyword to before the colon that ends the header."""
    head = text[at:body]
    stripped = head.rstrip(b" \t\r\n\f\\")
    if stripped.endswith(b":") and b"#" not in head:
        return shorten(text, *trim(text, at, at + len(stripped) - 1))
    depth = 0
    for match in _HEADER.finditer(text, at, body):
        mark = match[0]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
        elif mark == b":" and depth == 0:
            return shorten(text, *trim(text, at, match.start()))
    return shorten(text, *trim(text, at, body))
