r"""PHP: classes, interfaces, traits, enums, functions, methods, and namespaces in both forms.

``namespace A\B;`` reaches to the next one or to the end of the file; its parts are joined by dots in scopes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, named
from indexer.chunk.tables.nodes import child, cut_at_next, qualified
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_MOST_BRACKETS = 10
_BASES = ("base_clause", "class_interface_clause")


def _namespace(node: Node, site: Site) -> Found | None:
    found = named(Kind.NAMESPACE)(node, site)
    if found is None:
        return None
    scope, name = qualified(found.name, "\\")
    end = -1 if found.body >= 0 else site.parents[-1].end_byte
    return found._replace(scope=scope, name=name, end=end)


def _declared(kind: str) -> Rule:
    return named(kind, bases=_BASES)


def _used(node: Node, site: Site) -> Iterable[str]:
    r"""``use A\B as C, D;`` and ``use A\{B, C};``."""
    prefix = child(node, "namespace_name")
    group = child(node, "namespace_use_group")
    before = f"{site.read(prefix)}\\" if prefix and group else ""
    for clause in (group or node).named_children:
        name = child(clause, "qualified_name", "name", "namespace_name")
        if clause.type == "namespace_use_clause" and name:
            yield before + site.read(name)


def _included(node: Node, site: Site) -> Iterable[str]:
    """``require 'a.php'``, ``require(__DIR__ . "/a.php")``."""
    path: Node | None = node
    for _ in range(_MOST_BRACKETS):
        if path is None or path.type in {"string", "encapsed_string"}:
            break
        path = child(path, "string", "encapsed_string", "binary_expression", "parenthesized_expression")
    return [site.read(path)] if path and path.type in {"string", "encapsed_string"} else []


TABLE = Table(
    grammar="php",
    definitions={
        "namespace_definition": _namespace,
        "class_declaration": _declared(Kind.CLASS),
        "interface_declaration": _declared(Kind.INTERFACE),
        "trait_declaration": _declared(Kind.TRAIT),
        "enum_declaration": _declared(Kind.ENUM),
        "function_definition": named(Kind.FUNCTION),
        "method_declaration": named(Kind.METHOD),
    },
    attributes=frozenset({"attribute_list"}),
    imports={
        "namespace_use_declaration": _used,
        "require_expression": _included,
        "require_once_expression": _included,
        "include_expression": _included,
        "include_once_expression": _included,
    },
    leaves=frozenset({"string", "name", "variable_name", "formal_parameters", "text", "integer"}),
    finish=cut_at_next(Kind.NAMESPACE),
)
