"""Vue, Svelte and HTML: script blocks cut as the language they are in, at their true lines; the markup as text.

Every block counts, however many there are. A block that is no program (JSON, a template) is markup. The script tags
themselves are nobody's: they are gathered in a chunk of the rest.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexer import chunk as family
from indexer.chunk.pieces import BOM, cut, trim
from indexer.chunk.spans import Lines
from indexer.chunk.units import Unit, write
from indexer.types import Chunk, FileChunks, Kind, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexer.chunk.pieces import Range
    from indexer.settings import ChunkSettings

# The attributes are bounded, so that a thousand tags that never end are not each read to the end of the file.
_OPENING = re.compile(
    rb"<!--|<script(?=[\s/>])(?P<attributes>(?:[^>\"']|\"[^\"]{0,1000}\"|'[^']{0,1000}'){0,400}+)>",
    re.IGNORECASE,
)
_CLOSING = re.compile(rb"</script[^<>]{0,100}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"\b(lang|type)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_LANGUAGES = {
    b"": "javascript",
    b"js": "javascript",
    b"jsx": "javascript",
    b"ts": "typescript",
    b"typescript": "typescript",
    b"tsx": "tsx",
    b"module": "javascript",
    b"javascript": "javascript",
    b"ecmascript": "javascript",
    b"babel": "javascript",
}
# Blocks at the top of a component, by the language of the file. Only at the margin: templates hold tags as well.
_BLOCKS = {
    "vue": re.compile(rb"^<(?:template|style|i18n|docs|route|page)\b", re.MULTILINE),
    "svelte": re.compile(rb"^<style\b", re.MULTILINE),
}


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Cut a file that has scripts in it."""
    scripts = list(_find_scripts(text, void=language != "html"))
    lines = Lines(text)
    made = [
        Chunk(Kind.REST, "", "", language, spans, spans[0].start_line)
        for spans in _tags(text, scripts, lines, settings)
    ]
    made += write(text, language, _markup(language, text, scripts), settings)
    imports: list[str] = []
    fallback = ""
    for script in scripts:
        found = family.chunk(script.language, text[script.start : script.end], settings)
        made += _moved(found.chunks, script.start, lines.line(script.start) - 1, len(made))
        imports += found.imports
        fallback = fallback or found.fallback
    return FileChunks(_in_order(made), tuple(dict.fromkeys(imports)), fallback)


class _Script(NamedTuple):
    """The content ``[start, end)`` of a script element, and the element's own range ``[opens, closes)``."""

    language: str
    opens: int
    start: int
    end: int
    closes: int


def _find_scripts(text: bytes, *, void: bool) -> Iterator[_Script]:
    """The scripts in order. ``void``: ``<script/>`` is an element by itself (in HTML it opens one all the same)."""
    offset = 0
    while opening := _OPENING.search(text, offset):
        attributes = opening["attributes"]
        if attributes is None:
            offset = text.find(b"-->", opening.end())
            if offset < 0:
                return
            continue
        offset = opening.end()
        while text.startswith(BOM, offset):  # part of the tag: a script of its own would leave its mark out
            offset += len(BOM)
        if void and attributes.endswith(b"/"):
            continue
        closing = _CLOSING.search(text, offset)
        end, closes = closing.span() if closing else (len(text), len(text))
        language = _language_of(attributes)
        if language and text[offset:end].strip():
            yield _Script(language, opening.start(), offset, end, closes)
        offset = closes


def _language_of(attributes: bytes) -> str:
    """Language of a script by its attributes; empty if it is no program that we know."""
    found = {match[1].lower(): match[2].lower() for match in _ATTRIBUTE.finditer(attributes)}
    name = found.get(b"lang") or found.get(b"type", b"")
    return _LANGUAGES.get(name.removeprefix(b"text/").removeprefix(b"application/").removeprefix(b"x-"), "")


def _tags(
    text: bytes, scripts: Iterable[_Script], lines: Lines, settings: ChunkSettings
) -> Iterator[tuple[Span, ...]]:
    """The script tags, together as far as the size allows."""
    tags = [tag for script in scripts for tag in ((script.opens, script.start), (script.end, script.closes))]
    ranges = [trim(text, start, end) for start, end in tags if start < end]
    for part in cut(text, ranges, settings.max_tokens, 0):
        yield tuple(lines.span(start, end) for start, end in part)


def _markup(language: str, text: bytes, scripts: Iterable[_Script]) -> Iterator[Unit]:
    """What is no script element, in its blocks."""
    offset = 0
    for opens, closes in [*((script.opens, script.closes) for script in scripts), (len(text), len(text))]:
        yield from _blocks(language, text, offset, opens)
        offset = closes


def _blocks(language: str, text: bytes, start: int, end: int) -> Iterator[Unit]:
    for block in _BLOCKS[language].finditer(text, start, end) if language in _BLOCKS else ():
        yield Unit(start, block.start(), alone=True)
        start = block.start()
    yield Unit(start, end, alone=True)


def _moved(chunks: Iterable[Chunk], offset: int, line: int, base: int) -> Iterator[Chunk]:
    """Chunks of a script as chunks of the file; ``base`` is the index that the first of them gets."""
    for one in chunks:
        yield replace(
            one,
            spans=tuple(
                Span(span.start + offset, span.end + offset, span.start_line + line, span.end_line + line)
                for span in one.spans
            ),
            line=one.line + line,
            signature=_moved_range(one.signature, offset),
            docstring=_moved_range(one.docstring, offset),
            parent=one.parent + base if one.parent >= 0 else -1,
        )


def _moved_range(there: Range, offset: int) -> Range:
    return (there[0] + offset, there[1] + offset) if there[1] > there[0] else (0, 0)


def _in_order(chunks: list[Chunk]) -> tuple[Chunk, ...]:
    """By first byte, parents' indices following."""
    order = sorted(range(len(chunks)), key=lambda index: (chunks[index].spans[0].start, chunks[index].part))
    place = {index: number for number, index in enumerate(order)}
    return tuple(replace(chunks[index], parent=place.get(chunks[index].parent, -1)) for index in order)
