"""Definitions by tree-sitter: one walk over the tree, told by a language's table what each kind of node means."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tree_sitter_language_pack import get_language

from indexer.chunk import text as plain
from indexer.chunk.grammar import Found, ImportRule, Rule, Site, Table
from indexer.chunk.pieces import BOM, trim
from indexer.chunk.spans import Definition, Outline, assemble
from indexer.chunk.tables import LANGUAGES
from indexer.chunk.tree import TOO_MANY_NODES, node_budget, parse, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Language, Node, TreeCursor

    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks

_DIRECTLY = re.compile(rb"[ \t\f]*(?:\r\n|\r|\n)?[ \t\f]*")
_NO_LINE_END = re.compile(rb"[^\r\n]")
_LINE_END = re.compile(rb"[\r\n]")


@dataclass(slots=True)
class _Compiled:
    """A table by the grammar's numbers, since a number is read from a node several times as fast as a name."""

    table: Table
    language: Language
    actions: dict[int, int]
    rules: dict[int, Rule]
    imports: dict[int, ImportRule]


_LEAF, _COMMENT, _ATTRIBUTE, _WRAPPER, _DEFINITION, _IMPORT = 1, 2, 4, 8, 16, 32
_SPEAKS = ~_LEAF


@cache
def load(language: str) -> _Compiled | None:
    """The compiled table of a language of `indexer.chunk.tables`, None for one that has no table."""
    row = LANGUAGES.get(language)
    if row is None:
        return None
    module, _, attribute = row.partition(":")
    table: Table = getattr(importlib.import_module(f"indexer.chunk.tables.{module}"), attribute or "TABLE")
    return compile_table(table)


def compile_table(table: Table) -> _Compiled:
    """Look all names of a table up in its grammar; a name that the grammar does not have is our bug: `KeyError`."""
    language = get_language(cast("Any", table.grammar))
    numbers: dict[str, list[int]] = {}
    actions: dict[int, int] = {}
    for number in range(language.node_kind_count):
        if language.node_kind_is_named(number):
            numbers.setdefault(language.node_kind_for_id(number) or "", []).append(number)
        else:
            actions[number] = _LEAF
    for flag, names in (
        (_LEAF, table.leaves | table.comments),
        (_COMMENT, table.comments),
        (_ATTRIBUTE, table.attributes),
        (_WRAPPER, table.wrappers),
        (_DEFINITION, table.definitions),
        (_IMPORT, table.imports),
    ):
        for name in names:
            for number in numbers[name]:
                actions[number] = actions.get(number, 0) | flag
    rules = {number: rule for name, rule in table.definitions.items() for number in numbers[name]}
    imports = {
        number: _import_field(rule) if isinstance(rule, str) else rule
        for name, rule in table.imports.items()
        for number in numbers[name]
    }
    return _Compiled(table, language, actions, rules, imports)


def _import_field(field_name: str) -> ImportRule:
    def rule(node: Node, site: Site) -> Iterable[str]:
        child = node.child_by_field_name(field_name)
        return [site.read(child)] if child else []

    return rule


def outline(language: str, text: bytes) -> Outline:
    """The definitions of ``text`` in a language that has a table (`KeyError` for another); bounded, never raises."""
    compiled = load(language)
    if compiled is None:
        raise KeyError(language)
    if compiled.table.choose:
        compiled = load(compiled.table.choose(text)) or compiled
    if compiled.table.ends_its_lines and not text.endswith(b"\n"):
        text += b"\n"
    tree = parse(compiled.language, _shown(compiled.table, text))
    if isinstance(tree, str):
        return Outline((), (), tree)
    walk = _Walk(compiled, text)
    if not walk.run(tree.walk()):
        return Outline((), (), TOO_MANY_NODES)
    definitions = walk.definitions
    if compiled.table.finish:
        definitions = compiled.table.finish(definitions, text)
    # A name may be missing where the grammar has mended an error.
    return Outline([each for each in definitions if each.name], tuple(walk.imports))


def _shown(table: Table, text: bytes) -> bytes:
    """The text with what is hidden from the grammar as white space; all offsets stay."""
    if table.hidden is None:
        return text
    if not isinstance(table.hidden, re.Pattern):
        return table.hidden(text)
    return table.hidden.sub(lambda match: _NO_LINE_END.sub(b" ", match[0]), text)


class _Lead(NamedTuple):
    """What stands directly above a node: where it begins, and the comment in it."""

    start: int
    docstring: tuple[int, int]


class _Walk:
    """One pass over one tree in document order, without recursion; the definitions and imports it met."""

    def __init__(self, compiled: _Compiled, text: bytes) -> None:
        self.definitions: list[Definition] = []
        self.imports: dict[str, None] = {}
        self._compiled = compiled
        self._text = text
        self._parents: list[Node] = []
        self._site = Site(text, self._parents)
        self._ends: dict[int, int] = {}  # end of a definition -> its index, the outermost one's
        self._leads: dict[int, _Lead] = {}  # depth -> what stands above the wrapper there
        self._alone: dict[int, bool] = {}  # depth -> whether the wrapper there holds one definition
        self._run = (-1, -1)  # the comments and attributes met last that stand directly below each other
        self._comment = (0, 0)  # the comments in it

    def run(self, cursor: TreeCursor) -> bool:
        """Visit every node that may matter; False when there were too many."""
        down, right, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        action_of, parents = self._compiled.actions.get, self._parents
        left = node_budget(self._text)
        while left:
            left -= 1
            node = cursor.node
            assert node is not None
            action = action_of(node.kind_id, 0)
            if action & _SPEAKS:
                self._visit(node, action)
            if not action & _LEAF and down():
                parents.append(node)
                continue
            while not right():
                if not up():
                    return True
                parents.pop()
        return False

    def _visit(self, node: Node, action: int) -> None:
        if action & _IMPORT:
            for name in self._compiled.imports[node.kind_id](node, self._site):
                self.imports[name.strip("\"'<>`; ")] = None
        if action & _WRAPPER:
            depth = len(self._parents)
            self._leads[depth] = self._lead(node.start_byte)
            self._alone.pop(depth, None)
        found = self._compiled.rules[node.kind_id](node, self._site) if action & _DEFINITION else None
        if found:
            self._define(node, found)
        elif action & (_COMMENT | _ATTRIBUTE):
            self._above(node, bool(action & _COMMENT))

    def _above(self, node: Node, is_comment: bool) -> None:  # noqa: FBT001
        """Note a comment or attribute: it may trail the last definition, or stand above the next one."""
        start, end = trim(self._text, node.start_byte, node.end_byte)
        if is_comment:
            self._trail(start, end)
        if self._run[1] >= 0 and _DIRECTLY.fullmatch(self._text, self._run[1], start):
            self._run = (self._run[0], end)
        elif _begins_line(self._text, start):
            self._run = (start, end)
            self._comment = (0, 0)
        else:
            self._run = (-1, -1)
            return
        if is_comment:
            self._comment = (self._comment[0] if self._comment[1] else start, end)

    def _trail(self, start: int, end: int) -> None:
        """Give a comment to the definition that ends before it on the same line."""
        before = _before_blanks(self._text, start)
        index = self._ends.get(before)
        if index is not None:
            self.definitions[index] = replace(self.definitions[index], end=end)

    def _lead(self, start: int) -> _Lead:
        """What belongs above a definition whose own text begins at ``start``."""
        run = self._run
        if run[1] >= 0 and _DIRECTLY.fullmatch(self._text, run[1], start):
            return _Lead(run[0], self._comment)
        return _Lead(start, (0, 0))

    def _define(self, node: Node, found: Found) -> None:
        depth = len(self._parents)
        outer = node
        while depth and self._is_alone(depth - 1):
            depth -= 1
            outer = self._parents[depth]
        start = found.start if found.start >= 0 else outer.start_byte
        end = found.end if found.end >= 0 else outer.end_byte
        lead = self._lead(start) if outer is node else self._leads[depth]
        end = self._with_tail(trim(self._text, start, end)[1])
        self._ends.setdefault(end, len(self.definitions))
        self.definitions.append(
            Definition(
                min(lead.start, start),
                end,
                found.at,
                found.kind,
                found.name,
                found.scope,
                self._signature(outer, start, end, found),
                found.docstring if found.docstring[1] else lead.docstring,
                found.bases,
            )
        )

    def _is_alone(self, depth: int) -> bool:
        """Whether the ancestor at ``depth`` is a wrapper around a single definition."""
        wrapper = self._parents[depth]
        action_of = self._compiled.actions.get
        if not action_of(wrapper.kind_id, 0) & _WRAPPER:
            return False
        if depth not in self._alone:  # counted once a wrapper, or a long list would cost its square
            inside = (action_of(child.kind_id, 0) for child in wrapper.named_children)
            self._alone[depth] = sum(bool(action & (_DEFINITION | _WRAPPER)) for action in inside) <= 1
        return self._alone[depth]

    def _with_tail(self, end: int) -> int:
        """The end with the closing marks behind it on the same line."""
        text, tail = self._text, self._compiled.table.tail
        at = end
        while at < len(text) and (text[at] in tail or text[at] in b" \t"):
            at += 1
            if text[at - 1] in tail:
                end = at
        return end

    def _signature(self, node: Node, start: int, end: int, found: Found) -> tuple[int, int]:
        """From the first word that is no attribute to the body, or to the end of the name's line."""
        text = self._text
        attributes = self._compiled.table.attributes
        inner: Node | None = node if attributes else None
        while inner is not None:
            children, inner = inner.children, None
            for child in children:  # never `next_sibling`: like `parent`, it searches from the root
                if child.end_byte > found.at:
                    break
                if not (child.is_named and child.type in attributes):
                    inner = child
                    break
                start = max(start, child.end_byte)
        upto = found.body
        if upto < 0:
            line_end = _LINE_END.search(text, found.at, end)
            upto = line_end.start() if line_end else end
        return shorten(text, *trim(text, start, min(upto, end)))


def _begins_line(text: bytes, start: int) -> bool:
    before = _before_blanks(text, start)
    return before == 0 or text[before - 1] in b"\r\n" or (before == len(BOM) and text.startswith(BOM))


def _before_blanks(text: bytes, at: int) -> int:
    while at > 0 and text[at - 1] in b" \t":
        at -= 1
    return at


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Chunks of ``text`` by its language's table; as plain text, saying why, when it goes beyond its bounds."""
    found = outline(language, text)
    if found.fallback:
        return replace(plain.chunk(language, text, settings), fallback=found.fallback)
    return assemble(text, language, found, settings)
