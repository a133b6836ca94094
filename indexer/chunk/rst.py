"""reStructuredText by section titles, as docutils finds them.

A title is one line at the margin, after a blank line, with a row of one punctuation sign under it, or over and under
it. Each new style of row is one level deeper than those before, whatever the sign. Directives' contents are
indented, so no title is ever seen in them. The labels right above a title (``.. _name:``) belong to its section.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from indexer.chunk.sections import Heading, chunk_sections, tidy, with_plain_ends

if TYPE_CHECKING:
    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks

_ROW = re.compile(rb"^([!-/:-@\[-`{-~])\1+[ \t]*$", re.MULTILINE)
_LABEL = re.compile(rb"\.\. _[^\n]*:[ \t]*$")
# A line that begins so is something else than a title: markup, a bullet, a field, a doctest, a line block.
_NO_TITLE = re.compile(rb"\.\.(?:[ \t]|$)|[-+*|][ \t]|:[^:`\n]+:(?:[ \t]|$)|>>>[ \t]|[ \t]")
_ALWAYS_ENOUGH = 4  # a row this long is taken for a title's even if the title is longer

_MOST_LABEL_LINES = 40  # labels and blank lines above one title
_LOOKED_AT = 500  # bytes of a title
_ROLE = re.compile(r":[A-Za-z][\w:.+-]*:`[~!]?")
_TARGET = re.compile(r"`([^`<]*?)[ \t]*<[^`<>]*>`_{0,2}")
_QUOTED = re.compile(r"(``|`|\*{1,2}|\|)(?=\S)([^`*|]+?)(?<=\S)\1_{0,2}")
_ESCAPE = re.compile(r"\\(.)")

# What tells reStructuredText from other plain text: a directive, or a label, at the margin.
_MARKUP = re.compile(rb"^\.\. (?:[a-z][a-z:-]*::(?:[ \t]|\r|$)|_[^\r\n:]+:[ \t]*\r?$)", re.MULTILINE)


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """One chunk a section; what a directive contains stays in its section."""
    return chunk_sections(language, text, find_headings(text), settings)


def is_likely(text: bytes) -> bool:
    """Whether a text of no known language is written in reStructuredText (many projects name such files .txt)."""
    return _MARKUP.search(text) is not None and _ROW.search(with_plain_ends(text)) is not None


def find_headings(text: bytes) -> list[Heading]:
    """The section titles of a text, in order."""
    flat = with_plain_ends(text)
    styles: list[tuple[bytes, bool]] = []
    headings: list[Heading] = []
    done = 0
    row = _ROW.search(flat, done)
    while row:
        found = _overlined(flat, done, row) or _underlined(flat, done, row)
        if found:
            start, title, over, end = found
            style = (row[1], over)
            if style not in styles:
                styles.append(style)
            name = _name(flat[title[0] : min(title[1], title[0] + _LOOKED_AT)].decode("utf-8", "replace"))
            headings.append(Heading(_with_labels(flat, done, start), title, styles.index(style) + 1, name))
            done = end
        row = _ROW.search(flat, max(done, row.end()))
    return headings


_Found = tuple[int, tuple[int, int], bool, int]  # start, title, whether overlined, end of it all


def _overlined(flat: bytes, done: int, row: re.Match[bytes]) -> _Found | None:
    """A title under this row, if there is another row like it beneath."""
    if not _begins_block(flat, done, row.start()):
        return None
    start = row.end() + 1
    end = flat.find(b"\n", start)
    if end < 0:
        return None
    under = _ROW.match(flat, end + 1)
    title = _stripped(flat, start, end)
    if not under or under[0].rstrip() != row[0].rstrip() or not _fits(flat, title, row):
        return None
    return row.start(), title, True, under.end()


def _underlined(flat: bytes, done: int, row: re.Match[bytes]) -> _Found | None:
    """The title above this row, if it is one line after a blank one."""
    end = row.start() - 1
    start = max(flat.rfind(b"\n", done, max(end, done)) + 1, done)
    if end <= start or _NO_TITLE.match(flat, start, end) or not _begins_block(flat, done, start):
        return None
    title = _stripped(flat, start, end)
    if not _fits(flat, title, row) or _ROW.fullmatch(flat, start, end):
        return None
    return start, title, False, row.end()


def _begins_block(flat: bytes, done: int, start: int) -> bool:
    """Whether the line at ``start`` comes after a blank line, a title, a label or nothing."""
    if start <= done + 1:
        return True
    above = max(flat.rfind(b"\n", done, start - 1) + 1, done)
    line = flat[above : start - 1]
    return not line.strip() or line.startswith(b"..")


def _stripped(flat: bytes, start: int, end: int) -> tuple[int, int]:
    line = flat[start:end]
    return start + len(line) - len(line.lstrip()), start + len(line.rstrip())


def _fits(flat: bytes, title: tuple[int, int], row: re.Match[bytes]) -> bool:
    """Whether there is a title, and the row is long enough for it."""
    length = len(row[0].rstrip())
    if title[0] >= title[1]:
        return False
    return length >= _ALWAYS_ENOUGH or length >= _width(flat[title[0] : title[1]].decode("utf-8", "replace"))


def _width(title: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in title)


def _with_labels(flat: bytes, done: int, start: int) -> int:
    """Where the labels above ``start`` begin, whether there are blank lines between or not."""
    above = start
    for _ in range(_MOST_LABEL_LINES):
        if above <= done:
            break
        end = above - 1
        above = max(flat.rfind(b"\n", done, end) + 1, done)
        if _LABEL.fullmatch(flat, above, end):
            start = above
        elif flat[above:end].strip():
            break
    return start


def _name(title: str) -> str:
    """The words of a title without roles, targets and quotes."""
    title = _TARGET.sub(r"\1", _ROLE.sub("`", title))
    return tidy(_ESCAPE.sub(r"\1", _QUOTED.sub(r"\2", title)))
