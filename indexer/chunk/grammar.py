"""Definitions by tree-sitter: one walk over the tree, told by a table what each kind of node means.

How to write a table (`indexer/chunk/tables/go.py` is a short one). A language is one module in ``tables`` with a
``TABLE``, and one row in `indexer.chunk.tables.LANGUAGES`. A table says, by the grammar's own node types:

``definitions``
    node type -> rule. A rule is a function ``(node, site) -> Found | None``: what is defined here, or None when
    this node defines nothing (the walk goes on inside in either case). `named` makes the usual rule: name in a field,
    body in a field. A function found right inside a class-like definition becomes a method by itself. Nesting and
    scopes come from the byte ranges. Odd languages (Elixir, where everything is a call) are just longer rules:
    ``site.text`` is the file, ``site.parents`` the nodes around, outermost first (never use ``node.parent``: it
    searches from the root, which is quadratic on deep trees).
``wrappers``
    node types that a definition fills alone, and which then belong to it: ``export_statement``,
    ``template_declaration``, a Go ``type_declaration``. One with several children of the definition's own type
    (``const a = ..., b = ...``) is left alone.
``comments``, ``attributes``
    node types that belong to the definition they stand directly above (no blank line between). Comments there are the
    definition's docstring, unless the rule names another range.
``imports``
    node type -> field that holds what is imported (quotes and brackets are taken off), or a function
    ``(node, site) -> Iterable[str]``.
``leaves``
    node types whose inside holds no definition, comment or import: not entered, for speed alone.
``tail``
    bytes that belong to a definition when they follow it on the same line, such as ``;``.
``finish``
    the escape hatch: a function over all definitions of a file, in document order, with the text: to put the clauses
    of one Haskell function together, for example. It gives the definitions to use instead.
``hidden``
    what the grammar cannot read and is shown as white space (preprocessor lines in Haskell).
``choose``
    for two grammars of one language: a function of the text that names the row of `LANGUAGES` to use for it.

Everything is bounded by bytes and counts: the parse by the number of steps that tree-sitter reports, the walk by the
nodes per byte. A file beyond that has an `Outline` with no definitions and the reason in ``fallback``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tree_sitter import Language, Node, Parser, Tree
from tree_sitter_language_pack import get_language

from indexer.chunk.pieces import BOM, trim
from indexer.chunk.spans import Definition, Outline, assemble
from indexer.chunk.tables import LANGUAGES
from indexer.types import Kind

if TYPE_CHECKING:
    from tree_sitter import TreeCursor

    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks

# tree-sitter reports about every hundred steps, real code has one report in 30 to 130 bytes, and the worst
# ambiguous C++ that was tried one in ten: what needs one a byte is not worth the time.
_REPORTS_FREE, _REPORTS_PER_BYTE = 5_000, 1
_NODES_FREE, _NODES_PER_BYTE = 10_000, 8
TOO_MANY_STEPS = "the parse took too many steps"
TOO_MANY_NODES = "the syntax tree has too many nodes"
_READ = 1 << 16
_LONGEST_SIGNATURE = 400
_LONGEST_NAME = 200
_MOST_BASES = 50
# Nodes that are only brackets around a list of bases, and what may stand among bases without being one.
_LISTS = frozenset({"type_list", "base_list", "argument_list"})
_NO_BASES = frozenset({"access_specifier", "virtual", "keyword_argument", "type_arguments"})
_DIRECTLY = re.compile(rb"[ \t\f]*(?:\r\n|\r|\n)?[ \t\f]*")
_NO_LINE_END = re.compile(rb"[^\r\n]")
_LONE_CR = re.compile(rb"\r(?!\n)")
_LINE_END = re.compile(rb"[\r\n]")


class Found(NamedTuple):
    """What a rule found.

    ``at``: byte of the name, whose line is the definition's. ``body``: byte at which the signature ends, -1 for the
    end of the line. ``start``/``end``: the definition's own bytes, if not those of the node.
    """

    kind: str
    name: str
    at: int
    body: int = -1
    scope: str = ""
    bases: tuple[str, ...] = ()
    docstring: tuple[int, int] = (0, 0)
    start: int = -1
    end: int = -1


@dataclass(slots=True)
class Site:
    """Where the walk is: the text, and the nodes around the current one, outermost first (valid only for now)."""

    text: bytes
    parents: list[Node]

    def read(self, node: Node) -> str:
        """A node's text as one line, without white space at its ends, cut at a length that no real name reaches."""
        raw = self.text[node.start_byte : min(node.end_byte, node.start_byte + 4 * _LONGEST_NAME)]
        return " ".join(raw.decode("utf-8", "replace").split())[:_LONGEST_NAME]


Rule = Callable[[Node, Site], Found | None]
ImportRule = Callable[[Node, Site], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """What the node types of one grammar mean; the module's docstring tells how to write one."""

    grammar: str
    definitions: Mapping[str, Rule]
    comments: frozenset[str] = frozenset({"comment"})
    attributes: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    imports: Mapping[str, str | ImportRule] = field(default_factory=dict)
    leaves: frozenset[str] = frozenset()
    tail: bytes = b""
    finish: Callable[[list[Definition], bytes], list[Definition]] | None = None
    hidden: re.Pattern[bytes] | Callable[[bytes], bytes] | None = None
    choose: Callable[[bytes], str] | None = None


def named(
    kind: str,
    name: str = "name",
    body: str = "body",
    bases: Collection[str] = (),
    scope: str = "",
) -> Rule:
    """The usual rule: name, body and scope are fields; ``bases`` are fields or child types that hold base classes."""

    def rule(node: Node, site: Site) -> Found | None:
        name_node = node.child_by_field_name(name)
        if name_node is None or name_node.start_byte == name_node.end_byte:
            return None
        body_node = node.child_by_field_name(body)
        scope_node = node.child_by_field_name(scope) if scope else None
        return Found(
            kind,
            site.read(name_node),
            name_node.start_byte,
            body_node.start_byte if body_node else -1,
            site.read(scope_node) if scope_node else "",
            bases_of(node, site, bases) if bases else (),
        )

    return rule


def bases_of(node: Node, site: Site, holders: Collection[str]) -> tuple[str, ...]:
    """The texts of the types inside the children (by field or type) that hold a definition's bases."""
    found: list[str] = []
    for index, child in enumerate(node.children[:_MOST_BASES]):
        if child.type not in holders and node.field_name_for_child(index) not in holders:
            continue
        todo = [child]
        while todo and len(found) < _MOST_BASES:
            inner = todo.pop()
            if (inner.type in holders or inner.type in _LISTS) and inner.named_child_count:
                todo += reversed(inner.named_children)
            elif not inner.is_extra and inner.type not in _NO_BASES:
                found.append(site.read(inner))
    return tuple(found)


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
    for number in range(language.node_kind_count):
        if language.node_kind_is_named(number):
            numbers.setdefault(language.node_kind_for_id(number) or "", []).append(number)
    actions: dict[int, int] = {}
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
    tree = parse(compiled.language, _shown(compiled.table, text))
    if tree is None:
        return Outline((), (), TOO_MANY_STEPS)
    walk = _Walk(compiled, text)
    if not walk.run(tree.walk()):
        return Outline((), (), TOO_MANY_NODES)
    definitions = walk.definitions
    if compiled.table.finish:
        definitions = compiled.table.finish(definitions, text)
    return Outline(definitions, tuple(walk.imports))


def _shown(table: Table, text: bytes) -> bytes:
    """The text with what is hidden from the grammar as white space; all offsets stay."""
    if table.hidden is None:
        return text
    if not isinstance(table.hidden, re.Pattern):
        return table.hidden(text)
    return table.hidden.sub(lambda match: _NO_LINE_END.sub(b" ", match[0]), text)


def parse(language: Language, text: bytes) -> Tree | None:
    """The tree of ``text``, or None when it would take more steps than its length allows."""
    left = _REPORTS_FREE + _REPORTS_PER_BYTE * len(text)
    if b"\r" in text:  # to most grammars a lone CR ends neither a line nor a comment
        text = _LONE_CR.sub(b"\n", text)

    def read(offset: int, _point: object) -> bytes:
        return text[offset : offset + _READ]

    def over_budget(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001  (tree-sitter calls it)
        nonlocal left
        left -= 1
        return left < 0

    # A parser of its own for each text: they are cheap, and none is left in the middle of an aborted parse.
    try:
        return Parser(language).parse(read, progress_callback=over_budget)
    except ValueError:
        return None


def node_budget(text: bytes) -> int:
    """How many nodes of a tree may be visited."""
    return _NODES_FREE + _NODES_PER_BYTE * len(text)


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


def shorten(text: bytes, start: int, end: int) -> tuple[int, int]:
    """A signature's range, cut (between two characters) where it is longer than anybody reads."""
    if end - start > _LONGEST_SIGNATURE:
        end = start + _LONGEST_SIGNATURE
        while end > start and 0x80 <= text[end] < 0xC0:
            end -= 1
    return (start, end) if end > start else (0, 0)


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
    return assemble(text, language, found, settings, Kind.TEXT if found.fallback else Kind.REST)
