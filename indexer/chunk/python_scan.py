"""Python by its logical lines, at a quarter of what a syntax tree costs.

All that is wanted of a Python file hangs on its strings, brackets and indentation. A definition is a logical line that
begins with ``def`` or ``class``; it ends with the last line that is indented deeper. What is wrong within a statement
(Python 2 has much of that) does not matter here; where `ast` takes the text too, both find the same.

`outline` gives None, and another reader is to look, where the lines cannot be told (`logical_lines` says when), where
they cannot be Python (a header without a body), and for a few rare ways to write a docstring, a base or a name.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from indexer.chunk.python_lines import STRING, Logical, logical_lines
from indexer.chunk.spans import Lines
from indexer.chunk.statements import Bare, imported, one_line, outlined
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indexer.chunk.spans import Outline

_HEAD = re.compile(rb"(?:(class)|(?:async[ \t]+)?def)[ \t]+([A-Za-z_][A-Za-z0-9_]*)[ \t]*(?=[(:\[])")
_DEFINES = re.compile(rb"(?:class|def)\b|async\b[ \t]*(?:def\b|\\)")
_DOCSTRING = re.compile(rb"[rRuU]?" + STRING + rb"(?:[ \t]*+[rRuU]?" + STRING + rb")*+", re.DOTALL)
_GOES_ON = re.compile(rb"\s*(?:\\|[rRuUbBfF]{0,2}[\"'])")
_IN_BRACKETS = re.compile(rb"\([\s(\\]*[rRuUbBfF]{0,2}[\"']")
_SOLID = re.compile(rb"[^\s\\]")
_MOST_LINES = 100_000  # no person writes more in one file; tree-sitter's bounds decide what becomes of it
_PLAIN_BASES = re.compile(rb"\(([A-Za-z0-9_., \t\r\n]*)\)")
_KEYWORD = re.compile(rb"\*\*|[A-Za-z0-9_]+\s*=(?!=)")
_INNER_IMPORT = re.compile(rb"[;:][ \t]*(?=(?:import|from)\b)")
_IMPORT = re.compile(rb"import[ \t]+([A-Za-z0-9_., \t]+)")
_FROM = re.compile(
    rb"from[ \t]*([A-Za-z0-9_.]+)[ \t]*\bimport\b[ \t]*(?:\(([A-Za-z0-9_, \t\r\n]+)\)|(\*|[A-Za-z0-9_, \t]+))"
)
_OPENING, _CLOSING, _COMMA, _COLON, _SEMICOLON, _AT = b"(),:;@"


def _pairs(*pairs: bytes) -> NDArray[np.bool_]:
    """Mark some pairs of bytes among all."""
    marked = np.zeros(1 << 16, np.bool_)
    marked[[int.from_bytes(pair, "big") for pair in pairs]] = True
    return marked


_MAY_DEFINE = _pairs(b"de", b"cl", b"as")


class _OddError(Exception):
    """Something that is left to the other readers."""


def outline(text: bytes) -> Outline | None:
    """Definitions and imports of a text; None where another reader is to look."""
    if text.count(b"\n") > _MOST_LINES or not _is_utf8(text):
        return None
    logical = logical_lines(text)
    if logical is None:
        return None
    reader = _Reader(text, logical)
    try:
        return outlined(text, Lines.known(logical.starts), list(reader.definitions()), set(reader.imports()))
    except _OddError:
        return None


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Reader:
    """Reads the logical lines of one text."""

    def __init__(self, text: bytes, lines: Logical) -> None:
        self._text = text
        self._lines = lines
        self._signs = 0  # decorators that belong to a definition

    # Definitions.

    def definitions(self) -> Iterator[Bare]:
        """Find every definition."""
        text, lines = self._text, self._lines
        heads: dict[int, re.Match[bytes]] = {}
        for number in np.flatnonzero(_MAY_DEFINE[lines.two]).tolist():
            at = lines.first[number]
            head = _HEAD.match(text, at)
            if head is not None:
                heads[number] = head
            elif _DEFINES.match(text, at):
                raise _OddError
        after = self._ends(heads)
        for number, head in heads.items():
            yield self._definition(number, head, after[number])
        if self._signs != np.count_nonzero(lines.two >> 8 == _AT):
            raise _OddError

    def _ends(self, heads: dict[int, re.Match[bytes]]) -> dict[int, int]:
        """The line after each definition: the next one that is not indented deeper."""
        after: dict[int, int] = {}
        around: list[tuple[int, int]] = []
        for number, indent in enumerate(self._lines.indent):
            while around and indent <= around[-1][0]:
                after[around.pop()[1]] = number
            if number in heads:
                around.append((indent, number))
        return after | {number: len(self._lines.first) for _, number in around}

    def _definition(self, number: int, head: re.Match[bytes], after: int) -> Bare:
        lines = self._lines
        at, end = lines.first[number], lines.end[number]
        if after > number + 1:
            if self._text[end - 1] != _COLON:
                raise _OddError
            body, body_end = lines.first[number + 1], lines.end[number + 1]
        else:
            body, body_end = self._body_on_line(head.end(), end), end
        top = self._decorated(number)
        return Bare(
            Kind.CLASS if head[1] else Kind.FUNCTION,
            head[2].decode("ascii"),
            lines.end[top - 1] if top else 0,
            lines.first[top],
            at,
            body,
            lines.end[after - 1],
            self._docstring(body, body_end),
            self._bases(head.end(), end) if head[1] else (),
        )

    def _body_on_line(self, start: int, end: int) -> int:
        """Where the body begins that stands on the header's line."""
        colons = self._lines.find_code(_COLON, start, end)
        body = _SOLID.search(self._text, colons[0] + 1, end) if colons else None
        if body is None or self._text.find(b"lambda", start, colons[0]) >= 0:
            raise _OddError
        return body.start()

    def _decorated(self, number: int) -> int:
        """The line of the first decorator, or that of the definition itself."""
        lines = self._lines
        top = number
        while (
            top and self._text[lines.first[top - 1]] == _AT and lines.indent[top - 1] == lines.indent[number]
        ):
            top -= 1
        self._signs += number - top
        return top

    def _docstring(self, body: int, end: int) -> tuple[int, int]:
        """The string that the body begins with, where that is a statement by itself."""
        found = _DOCSTRING.match(self._text, body, end)
        if found is None:
            if _IN_BRACKETS.match(self._text, body, end):
                raise _OddError
            return 0, 0
        if _GOES_ON.match(self._text, found.end(), end):
            raise _OddError
        rest = self._text[found.end() : end].lstrip(b" \t")
        return (body, found.end()) if rest[:1] in b";" else (0, 0)

    def _bases(self, start: int, end: int) -> tuple[str, ...]:
        """What stands between the brackets behind a class's name, but for keywords."""
        text, lines = self._text, self._lines
        if text[start] == _COLON:
            return ()
        plain = _PLAIN_BASES.match(text, start, end)
        if plain:
            return tuple(one_line(piece) for piece in plain[1].split(b",") if piece.strip())
        close = next(iter(lines.find_code(_CLOSING, start, end)), end)
        if (
            text[start] != _OPENING
            or close == end
            or text.find(b"#", start, close) >= 0
            or text.find(b"\\", start, close) >= 0
        ):
            raise _OddError
        cuts = [start, *lines.find_code(_COMMA, start, close, 1), close]
        pieces = [text[low + 1 : high].strip() for low, high in pairwise(cuts)]
        bases = [piece for piece in pieces if piece and not _KEYWORD.match(piece)]
        if any(base[:1] == b"(" or b" for " in base for base in bases):
            raise _OddError
        return tuple(map(one_line, bases))

    # Imports.

    def imports(self) -> Iterator[str]:
        """Find all that is imported."""
        text, lines = self._text, self._lines
        at = text.find(b"import", lines.first[0]) if lines.first else -1
        while at >= 0:
            number = bisect_right(lines.first, at) - 1
            start, end = lines.first[number], lines.end[number]
            if at < end:  # else in a comment below it
                yield from self._imports_of(start, end)
            at = text.find(b"import", max(at + 1, end))

    def _imports_of(self, start: int, end: int) -> Iterator[str]:
        """What is imported on one logical line."""
        if self._text.startswith((b"import", b"from"), start):
            yield from self._imported(start, end)
        for found in _INNER_IMPORT.finditer(self._text, start, end):
            if self._lines.is_code(found.start()):
                yield from self._imported(found.end(), end)

    def _imported(self, start: int, end: int) -> Iterator[str]:
        """What the statement imports that begins at ``start``, on the logical line that ends at ``end``."""
        if b";" in self._text[start:end]:
            end = next(iter(self._lines.find_code(_SEMICOLON, start, end)), end)
        whole = _IMPORT.fullmatch(self._text, start, end)
        if whole and (names := _names(whole[1])) is not None:
            yield from names
            return
        part = _FROM.fullmatch(self._text, start, end)
        if part and (names := _names(part[2] or part[3])) is not None:
            yield from imported(part[1].decode(), names)
        else:
            yield from _by_ast(self._text[start:end])


def _names(listed: bytes) -> list[str] | None:
    """The names of a list, without what they are called here; None where it is not plain."""
    names = []
    for piece in listed.decode().split(","):
        match piece.split():
            case [name] | [name, "as", _]:
                names.append(name)
            case []:
                continue
            case _:
                return None
    return names


def _by_ast(statement: bytes) -> Iterator[str]:
    """What a statement imports that is written in a rarer way; nothing where it does not begin an import."""
    if not re.match(rb"(?:import|from)\b", statement):
        return
    try:
        [found] = ast.parse(statement.decode()).body
    except (SyntaxError, ValueError):
        raise _OddError from None
    if isinstance(found, ast.Import):
        yield from (alias.name for alias in found.names)
    elif isinstance(found, ast.ImportFrom):
        yield from imported("." * found.level + (found.module or ""), (alias.name for alias in found.names))
