"""From definitions to chunks: the line table and the assembler that every chunker ends in.

A chunker finds *definitions* (byte ranges with a name) and hands them here, flat and in any order; `assemble` nests them
by their ranges, gives every definition what is left of it when its inner definitions are taken out, splits what is too
large, and gathers what no definition claimed into chunks of the rest. Whatever the definitions are, the result
holds what the family promises: every byte that is not white space is in exactly one chunk (the overlap of
split parts aside), spans are ascending, and no span cuts a character.

White space is the six ASCII kinds, and a byte-order mark at the very start of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, Self

from indexer.chunk.pieces import cut, trim
from indexer.types import Chunk, FileChunks, Kind, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.chunk.pieces import Range
    from indexer.settings import ChunkSettings

# Deeper nesting than any person writes; without a bound the scopes' total length would grow with its square.
MAX_DEPTH = 60
# A function right inside one of these is a method.
CLASS_LIKE = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.STRUCT, Kind.ENUM, Kind.TRAIT, Kind.IMPL})


@dataclass(frozen=True, slots=True)
class Definition:
    """One named definition, as byte ranges of the text.

    ``start``/``end`` hold all that belongs to it: leading comments, decorators, body, trailing comment. ``at`` is the
    byte whose line is the definition's line (its name or keyword). ``scope`` is what qualifies the name where that is
    written and not nested (``A`` of ``void A::b()``, the receiver of a Go method); it is put after the scope
    that nesting gives. ``signature`` and ``docstring`` are byte ranges, ``(0, 0)`` for none.
    """

    start: int
    end: int
    at: int
    kind: str
    name: str
    scope: str = ""
    signature: tuple[int, int] = (0, 0)
    docstring: tuple[int, int] = (0, 0)
    bases: tuple[str, ...] = ()


class Outline(NamedTuple):
    """What a chunker found in one text. ``fallback`` says why it looked another way than planned, or is empty."""

    definitions: Sequence[Definition]
    imports: tuple[str, ...] = ()
    fallback: str = ""
    lines: Lines | None = None  # of the same text, when the chunker has made them anyway


class Lines:
    """Byte offset -> 1-based line; LF, CRLF and a lone CR each end a line."""

    __slots__ = ("starts",)

    def __init__(self, text: bytes) -> None:
        # `bytes.splitlines` knows exactly these three line ends (`str.splitlines` knows more), and is quick.
        self.starts: list[int] = list(accumulate(map(len, text.splitlines(keepends=True)), initial=0))
        if text and text[-1] not in b"\r\n":
            self.starts.pop()

    @classmethod
    def known(cls, starts: list[int]) -> Self:
        """The lines that begin there; where a text ends with a line end, so does the list with the text's length."""
        lines = cls(b"")
        lines.starts = starts
        return lines

    def line(self, offset: int) -> int:
        """Line of the byte at ``offset`` (>= 0); the line end itself belongs to the line it ends."""
        return bisect_right(self.starts, offset)

    def span(self, start: int, end: int) -> Span:
        """The non-empty byte range with the lines it touches."""
        return Span(start, end, self.line(start), self.line(end - 1))


def assemble(
    text: bytes,
    language: str,
    outline: Outline | Sequence[Definition],
    settings: ChunkSettings,
    rest_kind: str = Kind.REST,
) -> FileChunks:
    """Chunks of ``text``: one a definition (more if too large), and the rest in chunks of ``rest_kind``.

    Definitions may come in any order and may be wrong: one that begins outside the text or has no text of its own is
    dropped, one that crosses the end of an enclosing one is cut off there, and those nested deeper than `MAX_DEPTH`
    stay in the enclosing one's text.
    """
    if not isinstance(outline, Outline):
        outline = Outline(outline)
    nest = _Nest(text)
    for definition in sorted(outline.definitions, key=_outermost_first):
        nest.add(definition)
    nest.close(len(text))
    drafts = [draft for node in nest.nodes for draft in _drafts(text, node, settings)]
    nobody = _Node(Definition(0, 0, -1, rest_kind, ""), rest_kind, None, "", "", 0, [])
    drafts += [_Draft(nobody, part, 0) for part in cut(text, nest.rest, settings.max_tokens, 0)]
    reason = outline.fallback
    if nest.too_deep and not reason:
        reason = f"definitions nested more than {MAX_DEPTH} deep"
    return FileChunks(_chunks(drafts, language, outline.lines or Lines(text)), outline.imports, reason)


def _outermost_first(definition: Definition) -> tuple[int, int]:
    return max(definition.start, 0), -definition.end


@dataclass(slots=True, eq=False)
class _Node:
    """A definition in its place, with the ranges that are its own. ``first`` is its first chunk, once made."""

    definition: Definition
    kind: str
    parent: _Node | None
    scope: str
    inner_scope: str
    end: int
    own: list[Range]
    first: int = -1


class _Nest:
    """Takes definitions in order of their start and deals the text out: to them, and to nobody (``rest``)."""

    def __init__(self, text: bytes) -> None:
        self.nodes: list[_Node] = []
        self.rest: list[Range] = []
        self.too_deep = False
        self._text = text
        self._open: list[_Node] = []
        self._done = 0

    def add(self, definition: Definition) -> None:
        """Put one in its place, unless it lies outside, is empty or is too deep."""
        start = max(definition.start, 0)
        self.close(start)
        self._leave(start, definition.at)
        parent = self._open[-1] if self._open else None
        end = min(definition.end, parent.end if parent else len(self._text))
        if end <= start:
            return
        if len(self._open) >= MAX_DEPTH:
            self.too_deep = True
            return
        self._claim(start)
        scope = _joined(parent.inner_scope if parent else "", definition.scope)
        kind = definition.kind
        if kind == Kind.FUNCTION and parent and parent.kind in CLASS_LIKE:
            kind = Kind.METHOD
        node = _Node(definition, kind, parent, scope, _joined(scope, definition.name), end, [])
        self.nodes.append(node)
        self._open.append(node)

    def _leave(self, start: int, at: int) -> None:
        """End at ``start`` what ends between there and ``at``: a node that swallowed the comments of the next one."""
        while self._open and self._open[-1].end <= at:
            self._claim(start)
            self._open.pop()

    def close(self, start: int) -> None:
        """Close what ends at or before ``start``; all of it when that is the end of the text."""
        while self._open and self._open[-1].end <= start:
            self._claim(self._open[-1].end)
            self._open.pop()
        if start == len(self._text):
            self._claim(start)

    def _claim(self, upto: int) -> None:
        """Give what is not dealt out before ``upto`` to the innermost open definition, or to nobody."""
        if upto <= self._done:
            return
        start, end = trim(self._text, self._done, upto)
        if start < end:
            (self._open[-1].own if self._open else self.rest).append((start, end))
        self._done = upto


def _joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope and name else scope or name


class _Draft(NamedTuple):
    """A chunk to be, before the order and so the indices are known."""

    node: _Node
    ranges: list[Range]
    part: int


def _drafts(text: bytes, node: _Node, settings: ChunkSettings) -> list[_Draft]:
    """The chunks of one definition: one, or numbered parts; none when inner definitions cover it all."""
    parts = cut(text, node.own, settings.max_tokens, settings.overlap, node.definition.docstring)
    if len(parts) < 2:
        return [_Draft(node, part, 0) for part in parts]
    return [_Draft(node, part, number) for number, part in enumerate(parts, 1)]


def _chunks(drafts: list[_Draft], language: str, lines: Lines) -> tuple[Chunk, ...]:
    """Drafts in order of their first byte, as chunks that know their parents' indices."""
    drafts.sort(key=lambda draft: (draft.ranges[0][0], draft.part))
    for index, draft in enumerate(drafts):
        if draft.part < 2:
            draft.node.first = index
    return tuple(_chunk(index, draft, language, lines) for index, draft in enumerate(drafts))


def _chunk(index: int, draft: _Draft, language: str, lines: Lines) -> Chunk:
    node = draft.node
    spans = tuple(lines.span(start, end) for start, end in draft.ranges)
    definition = node.definition
    return Chunk(
        node.kind,
        definition.name,
        node.scope,
        language,
        spans,
        own_line(lines.line(max(definition.at, 0)), spans, draft.part),
        definition.signature,
        definition.docstring,
        node.first if draft.part > 1 else _parent(node, index),
        draft.part,
        definition.bases,
    )


def own_line(line: int, spans: Sequence[Span], part: int) -> int:
    """The definition's line, moved into the chunk when broken code puts another definition there."""
    return line if part else min(max(line, spans[0].start_line), spans[-1].end_line)


def _parent(node: _Node, index: int) -> int:
    """Index of the nearest enclosing definition that has a chunk, before this one; -1 for none."""
    parent = node.parent
    while parent is not None and not 0 <= parent.first < index:
        parent = parent.parent
    return parent.first if parent else -1
