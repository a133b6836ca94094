"""Markdown by headings, found by a small scanner of our own.

It knows what decides whether a line is a heading: ATX and setext headings, fenced code (in list items too), HTML
comments and raw blocks, front matter. It does not build a tree, so no nesting is too deep for it, and every
pattern is tried once a line. Headings inside block quotes are quoted, not ours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexer.chunk.pieces import BOM
from indexer.chunk.sections import Heading, chunk_sections, tidy, with_plain_ends

if TYPE_CHECKING:
    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks

_EVENT = re.compile(
    rb"^ {0,3}(?:"
    rb"(?P<atx>\#{1,6})(?=[ \t]|$)"
    rb"|(?P<under>=+|-+)[ \t]*$"
    rb"|(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})"
    rb"|(?P<comment><!--)"
    rb"|<(?P<raw>script|pre|style|textarea)(?=[\s>])"
    rb")",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE_END = re.compile(rb"^([ \t]*)(`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_RAW_END = re.compile(rb"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_FRONT_MATTER = re.compile(rb"(---|\+\+\+)[ \t]*\n(?![ \t]*\n)")
# A paragraph that begins so is none, or none that an underline at the margin could make a heading.
_NO_TITLE = re.compile(
    rb"[ \t]*(?:$|>|\||<|(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)|\[[^\]\n]+\]:)|    |\t", re.MULTILINE
)
_TITLE_LINES = 2  # a rule right under a longer paragraph was meant as a rule

_LOOKED_AT = 500  # bytes of a heading
_CODE = re.compile(r"`+([^`]*)`+")
_CLOSING_HASHES = re.compile(r"(?:^|(?<![ \t])[ \t]+)#+$")
_ATTRIBUTES = re.compile(r"\{[#.:][^{}]*\}[ \t]*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
# Not just any: List<T> is no markup.
_TAG = re.compile(
    r"</?(?:a|b|br|center|code|div|em|font|h[1-6]|i|img|kbd|p|picture|small|source|span|strong|sub|sup)\b[^<>]*>",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"(\*{1,3})(?=\S)([^*]+?)(?<=\S)\1"
)  # not by underscores: __init__ is no markup either
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """One chunk a section; fenced code stays in its section."""
    return chunk_sections(language, text, find_headings(text), settings)


def find_headings(text: bytes) -> list[Heading]:
    """The headings of a Markdown text, in order."""
    flat = with_plain_ends(text)
    headings: list[Heading] = []
    start = len(BOM) if text.startswith(BOM) else 0
    done = _after_front_matter(flat, start)  # what lies before belongs to no paragraph
    while event := _EVENT.search(flat, done):
        here = event.start()
        if event["atx"]:
            heading = _atx(flat, event)
            done = _line_end(flat, event.end())
        elif event["under"]:
            heading = _setext(flat, done, event)
            done = event.end()
        else:
            heading = None
            done = _after_block(flat, event)
        if heading:
            headings.append(heading)
        done = max(done, here + 1)
    return headings


def _after_front_matter(flat: bytes, start: int) -> int:
    opening = _FRONT_MATTER.match(flat, start)
    if not opening:
        return start
    last = rb"^(?:---|\.\.\.)[ \t]*$" if opening[1] == b"---" else rb"^\+\+\+[ \t]*$"
    closing = re.compile(last, re.MULTILINE).search(flat, opening.end())
    return closing.end() if closing else start


def _line_end(flat: bytes, offset: int) -> int:
    end = flat.find(b"\n", offset)
    return len(flat) if end < 0 else end


def _after_block(flat: bytes, event: re.Match[bytes]) -> int:
    """The end of the fenced code, comment or raw block that opens here; the end of the text if it stays open."""
    if event["fence"]:
        furthest = event.start("fence") - event.start() + 3  # more, and the row belongs to the code
        for closing in _FENCE_END.finditer(flat, _line_end(flat, event.end())):
            if closing[2].startswith(event["fence"]) and len(closing[1]) <= furthest:
                return closing.end()
        return len(flat)
    if event["comment"]:
        end = flat.find(b"-->", event.end())
        return len(flat) if end < 0 else _line_end(flat, end)
    closing_tag = _RAW_END.search(flat, event.end())
    return _line_end(flat, closing_tag.end()) if closing_tag else len(flat)


def _atx(flat: bytes, event: re.Match[bytes]) -> Heading | None:
    start = event.start()
    end = _line_end(flat, start)
    raw = flat[event.end() : min(end, event.end() + _LOOKED_AT)].decode("utf-8", "replace")
    name = _name(_CLOSING_HASHES.sub("", raw.rstrip()))
    if not name:
        return None
    at = start + flat[start : start + 4].index(b"#")
    return Heading(start, (at, at + len(flat[at:end].rstrip())), len(event["atx"]), name)


def _setext(flat: bytes, done: int, event: re.Match[bytes]) -> Heading | None:
    """The paragraph above an underline, if it is one and short enough. It cannot reach above ``done``."""
    start = end = event.start() - 1
    for lines in range(_TITLE_LINES + 1):
        if start <= done:
            break
        above = max(flat.rfind(b"\n", done, start) + 1, done)
        if not flat[above:start].strip():
            break
        if lines == _TITLE_LINES or _NO_TITLE.match(flat, above, end):
            return None
        start = above - 1
    start = max(start + 1, done)
    if start >= end or not flat[start:end].strip():
        return None
    name = _name(flat[start : min(end, start + _LOOKED_AT)].decode("utf-8", "replace"))
    level = 1 if event["under"].startswith(b"=") else 2
    first = start + len(flat[start:end]) - len(flat[start:end].lstrip())
    return Heading(start, (first, first + len(flat[first:end].rstrip())), level, name) if name else None


def _name(title: str) -> str:
    """The words of a title without its markup; what stands in code spans is kept as it is."""
    codes = iter(_CODE.findall(title))
    title = _ATTRIBUTES.sub("", _CODE.sub("\0", title.replace("\0", "")))
    title = _LINK.sub(r"\1", _LINK.sub(r"\1", title))  # twice: a badge is an image inside a link
    title = _EMPHASIS.sub(r"\2", _TAG.sub("", title))
    title = _ESCAPE.sub(r"\1", title)
    return tidy(re.sub("\0", lambda _: next(codes).strip(), title))
