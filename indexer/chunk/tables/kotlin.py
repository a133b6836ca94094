"""Kotlin: classes, interfaces, objects, companions, functions, secondary constructors, type aliases.

An extension function has the type it extends as its scope. Properties stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table
from indexer.chunk.tables.nodes import child, typed
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_TYPE_KINDS = {"interface": Kind.INTERFACE, "enum": Kind.ENUM, "class": Kind.CLASS}
_BODIES = ("class_body", "enum_class_body")
_BASES = ("delegation_specifier",)


def _declared(kind: str) -> Rule:
    """By child types; of ``Base<T>(x)`` the type alone is a base."""
    rule = typed(kind, ("type_identifier",), _BODIES, _BASES)

    def bare(node: Node, site: Site) -> Found | None:
        found = rule(node, site)
        return found._replace(bases=tuple(base.partition("(")[0] for base in found.bases)) if found else None

    return bare


def _class(node: Node, site: Site) -> Found | None:
    keyword = child(node, *_TYPE_KINDS)
    kind = _TYPE_KINDS[keyword.type] if keyword else Kind.CLASS
    return _declared(kind)(node, site)


def _companion(node: Node, site: Site) -> Found | None:
    found = _declared(Kind.CLASS)(node, site)
    keyword = child(node, "companion")
    if found or keyword is None:
        return found
    body = child(node, "class_body")
    return Found(Kind.CLASS, "Companion", keyword.start_byte, body.start_byte if body else -1)


def _function(node: Node, site: Site) -> Found | None:
    found = typed(Kind.FUNCTION, ("simple_identifier",), ("function_body",))(node, site)
    receiver = node.child_by_field_name("receiver")
    if found is None or receiver is None:
        return found
    return found._replace(scope=site.read(receiver).partition("<")[0].strip("(?) "))


def _constructor(node: Node, _site: Site) -> Found | None:
    keyword, parameters = child(node, "constructor"), child(node, "function_value_parameters")
    if keyword is None:
        return None
    return Found(Kind.METHOD, "constructor", keyword.start_byte, parameters.end_byte if parameters else -1)


def _imported(node: Node, site: Site) -> Iterable[str]:
    name = child(node, "identifier")
    return [site.read(name) + (".*" if child(node, "wildcard_import") else "")] if name else []


TABLE = Table(
    grammar="kotlin",
    definitions={
        "class_declaration": _class,
        "object_declaration": _declared(Kind.CLASS),
        "companion_object": _companion,
        "function_declaration": _function,
        "secondary_constructor": _constructor,
        "type_alias": typed(Kind.TYPE, ("type_identifier",)),
    },
    comments=frozenset({"line_comment", "multiline_comment"}),
    attributes=frozenset({"annotation"}),
    imports={"import_header": _imported},
    leaves=frozenset({"simple_identifier", "user_type", "package_header", "integer_literal"}),
)
