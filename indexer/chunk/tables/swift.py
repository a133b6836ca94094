"""Swift: types, protocols, extensions (under the extended type's name), functions, ``init``, ``deinit``, subscripts.

Computed properties stay in their type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, bases_of, named
from indexer.chunk.tables.nodes import child, qualified
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_KINDS = {"struct": Kind.STRUCT, "enum": Kind.ENUM, "extension": Kind.IMPL}


def _type(node: Node, site: Site) -> Found | None:
    keyword, name_node = node.child_by_field_name("declaration_kind"), node.child_by_field_name("name")
    if keyword is None or name_node is None:
        return None
    # ``extension Array<Int>.Index``: the arguments are no part of the name.
    scope, name = qualified(site.read(name_node).partition("<")[0], ".")
    body = node.child_by_field_name("body")
    return Found(
        _KINDS.get(keyword.type, Kind.CLASS),
        name.strip("`"),
        name_node.start_byte,
        body.start_byte if body else -1,
        scope,
        bases_of(node, site, ("inheritance_specifier",)),
    )


def _by_keyword(keyword: str) -> Rule:
    """What has no name is found by its keyword."""

    def rule(node: Node, _site: Site) -> Found | None:
        token = child(node, keyword)
        body = node.child_by_field_name("body") or child(node, "computed_property")
        if token is None:
            return None
        return Found(Kind.METHOD, keyword, token.start_byte, body.start_byte if body else -1)

    return rule


def _function(kind: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        found = named(kind)(node, site)
        return found._replace(name=found.name.strip("`")) if found else None

    return rule


def _imported(node: Node, site: Site) -> Iterable[str]:
    name = child(node, "identifier")
    return [site.read(name)] if name else []


TABLE = Table(
    grammar="swift",
    definitions={
        "class_declaration": _type,
        "protocol_declaration": named(Kind.INTERFACE, bases=("inheritance_specifier",)),
        "function_declaration": _function(Kind.FUNCTION),
        "protocol_function_declaration": _function(Kind.METHOD),
        "init_declaration": _by_keyword("init"),
        "deinit_declaration": _by_keyword("deinit"),
        "subscript_declaration": _by_keyword("subscript"),
        "typealias_declaration": named(Kind.TYPE),
    },
    comments=frozenset({"comment", "multiline_comment"}),
    attributes=frozenset({"attribute"}),
    imports={"import_declaration": _imported},
    leaves=frozenset({"simple_identifier", "user_type", "modifiers", "integer_literal", "type_annotation"}),
)
