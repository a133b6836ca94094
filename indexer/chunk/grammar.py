"""What tables of node types are made of: how a language tells `indexer.chunk.walk` what its nodes mean.

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
``ends_its_lines``
    whether the grammar is shown a line end at the end of a text that has none (Perl's scanner looks for one, for ever,
    where the last line is a comment).
``choose``
    for two grammars of one language: a function of the text that names the row of `LANGUAGES` to use for it.

Everything is bounded by bytes and counts: the parse by the number of steps that tree-sitter reports, the walk by the
nodes per byte. A file beyond that has an `Outline` with no definitions and the reason in ``fallback``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Node

if TYPE_CHECKING:
    import re

    from indexer.chunk.spans import Definition

_LONGEST_NAME = 200
_MOST_BASES = 50
# Nodes that are only brackets around a list of bases, and what may stand among bases without being one.
_LISTS = frozenset({"type_list", "base_list", "argument_list"})
_NO_BASES = frozenset({"access_specifier", "virtual", "keyword_argument", "type_arguments"})


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
    ends_its_lines: bool = False
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
