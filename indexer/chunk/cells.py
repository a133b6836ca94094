"""The cells of a Jupyter notebook, with the place of every piece of source in the file.

A notebook is JSON; a cell's source is a string, or a list of them, one a line. `find_cells` goes over the tokens of
the JSON once, whatever their nesting, and keeps the sources alone. `Source` is one cell's code with its escapes
undone, and leads any range of it back to the file.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk.pieces import BOM

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexer.chunk.pieces import Range

_STRING = rb'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
_TOKEN = re.compile(
    rb"[ \t\r\n,]*+(?:"
    rb'"(?P<key>' + _STRING + rb')"[ \t\r\n]*+:'
    rb'|"(?P<string>' + _STRING + rb')"'
    rb"|(?P<open>[{\[])|(?P<close>[}\]])"
    rb"|-?[0-9][0-9.eE+-]*+|-?Infinity|NaN|true|false|null"
    rb"|(?P<end>\Z))"
)
_ESCAPE = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.")  # a surrogate pair is one character
_ITEM = ""  # in a path: inside a list; no key of interest is empty
_NO_KEY = "\0"  # in an object, before its first key
_SHORT = {b"\\n": b"\n", b'\\"': b'"', b"\\\\": b"\\", b"\\t": b"\t"}
_WHITE = (b"\\n", b"\\r", b"\\t", b"\\f", b"\\b")
_LANGUAGE_PATHS = (["metadata", "kernelspec", "language"], ["metadata", "language_info", "name"])
_DEEPEST = 6  # worksheets, [], cells, [], input, []
_SOURCE_KEYS = ("source", "input")  # of format 4 and of format 3


class MalformedError(ValueError):
    """The text is no JSON, or no notebook."""


class Cell(NamedTuple):
    """One cell: its type as written (code, markdown, raw ...), the byte ranges inside the quotes of its source."""

    type: str
    strings: list[Range]


class Notebook(NamedTuple):
    """The cells in order, and the kernel's language as the metadata names it (empty if they do not)."""

    cells: list[Cell]
    language: str


def find_cells(text: bytes) -> Notebook:
    """The cells of a notebook (format 3 or 4). Raises `MalformedError` if it is none."""
    cells: list[Cell] = []
    language = ""
    found = False
    for path, what, start, end in _values(text):
        if what == "[":
            found = found or _is_list_of_cells(path)
        elif what == "{":
            if path and _is_list_of_cells(path[:-1]):
                cells.append(Cell("", []))
        elif path in _LANGUAGE_PATHS:
            language = _plain(text, start, end)
        elif cells:
            cells[-1] = _with_value(cells[-1], text, path, (start, end))
    if not found:
        raise MalformedError("no list of cells")
    return Notebook(cells, language)


def _with_value(cell: Cell, text: bytes, path: Sequence[str], there: Range) -> Cell:
    """The cell with a string that was found in it, or after it."""
    inside = path[: -2 if path[-1] == _ITEM else -1]
    if not inside or not _is_list_of_cells(inside[:-1]):
        return cell
    if path[len(inside)] in _SOURCE_KEYS:
        cell.strings.append(there)
    elif path[-1] == "cell_type":
        return cell._replace(type=_plain(text, *there))
    return cell


def _is_list_of_cells(path: Sequence[str]) -> bool:
    return path == ["cells"] or (len(path) == 3 and path[0] == "worksheets" and path[2] == "cells")


def _plain(text: bytes, start: int, end: int) -> str:
    return text[start:end].decode("utf-8", "replace")


def _values(text: bytes) -> Iterator[tuple[list[str], str, int, int]]:
    """Each string value, and each object and list that opens, with the path that leads there if that is short.

    The path has the key for each object that is open and an empty string for each list; it is always the same list.
    """
    path: list[str] = []
    offset = len(BOM) if text.startswith(BOM) else 0
    while token := _TOKEN.match(text, offset):
        offset = token.end()
        if token["close"]:
            if not path or (path.pop() == _ITEM) != (token["close"] == b"]"):
                break
        elif token["open"]:
            if len(path) <= _DEEPEST:
                yield path, token["open"].decode(), offset, offset
            path.append(_ITEM if token["open"] == b"[" else _NO_KEY)
        elif token["key"] is not None and path:
            path[-1] = _plain(text, *token.span("key")) or _NO_KEY
        elif token["string"] is not None and 0 < len(path) <= _DEEPEST:
            yield path, "string", *token.span("string")
        elif token["end"] is not None:
            if path:
                break
            return
    raise MalformedError(f"no JSON at byte {offset}")


class Source:
    """One cell's source with the escapes of JSON undone, in ``text`` (UTF-8), and the way back to the file."""

    def __init__(self, file: bytes, strings: Sequence[Range]) -> None:
        self._from: list[int] = []  # where each run begins in ``text``, ascending
        self._runs: list[
            tuple[int, int, bool]
        ] = []  # its range in the file, and whether it is there as it stands
        self._file = file
        self._pieces: list[bytes] = []
        self._length = 0
        for number, (start, end) in enumerate(strings):
            self._add(start, end, strings[number + 1][0] if number + 1 < len(strings) else end)
        self.text = b"".join(self._pieces)

    def _add(self, start: int, end: int, following: int) -> None:
        """One string of the file; ``following`` is where the next one begins."""
        at = start
        for escape in _ESCAPE.finditer(self._file, start, end):
            self._run(self._file[at : escape.start()], at, escape.start(), as_it_is=True)
            at = escape.end()
            decoded = _SHORT.get(escape[0]) or json.loads(b'"' + escape[0] + b'"').encode("utf-8", "replace")
            self._run(decoded, *self._shown(escape, end, following), as_it_is=False)
        self._run(self._file[at:end], at, end, as_it_is=True)

    def _shown(self, escape: re.Match[bytes], end: int, following: int) -> Range:
        r"""Return the bytes of the file that stand for an escape.

        Of a line end, the real one behind the string if there is one; else, as of a tab, the backslash alone: with the
        letter, ``\nimport`` would be read as a word of seven letters.
        """
        start = escape.start()
        if escape[0] not in _WHITE:
            return start, escape.end()
        if escape.end() == end:
            line_end = self._file.find(b"\n", end, following)
            if line_end >= 0:
                return line_end, line_end + 1
        return start, start + 1

    def _run(self, decoded: bytes, start: int, end: int, *, as_it_is: bool) -> None:
        if decoded:
            self._from.append(self._length)
            self._runs.append((start, end, as_it_is))
            self._pieces.append(decoded)
            self._length += len(decoded)

    def in_file(self, start: int, end: int) -> list[Range]:
        """The ranges of the file that stand for ``[start, end)`` of the source, neighbours joined."""
        found: list[Range] = []
        index = bisect_right(self._from, start) - 1
        while index < len(self._from) and self._from[index] < end:
            low, high, as_it_is = self._runs[index]
            if as_it_is:
                high = min(high, low + end - self._from[index])
                low += max(start - self._from[index], 0)
            if found and found[-1][1] == low:
                found[-1] = (found[-1][0], high)
            else:
                found.append((low, high))
            index += 1
        return found

    def offset(self, at: int) -> int:
        """The byte of the file that stands for the byte ``at`` of the source."""
        return self.in_file(at, at + 1)[0][0]
