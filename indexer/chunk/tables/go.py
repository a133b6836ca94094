"""Go: functions, methods with the receiver's type as their scope, and types, alone or in a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table, named
from indexer.types import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

_KIND_OF_TYPE = {"struct_type": Kind.STRUCT, "interface_type": Kind.INTERFACE}


def _type(node: Node, site: Site) -> Found | None:
    type_node = node.child_by_field_name("type")
    kind = _KIND_OF_TYPE.get(type_node.type if type_node else "", Kind.TYPE)
    return named(kind, body="type")(node, site)


def _method(node: Node, site: Site) -> Found | None:
    found = named(Kind.METHOD)(node, site)
    receiver = node.child_by_field_name("receiver")
    if found is None or receiver is None:
        return found
    return found._replace(scope=_receiver_type(site.read(receiver)))


def _receiver_type(receiver: str) -> str:
    """``(s *Stack[T])`` -> ``Stack``."""
    words = receiver.strip("() ,").partition("[")[0].replace("*", " ").split()
    return words[-1] if words else ""


TABLE = Table(
    grammar="go",
    definitions={
        "function_declaration": named(Kind.FUNCTION),
        "method_declaration": _method,
        "type_spec": _type,
        "type_alias": _type,
    },
    wrappers=frozenset({"type_declaration"}),
    imports={"import_spec": "path"},
    leaves=frozenset(
        {"identifier", "field_identifier", "type_identifier", "package_identifier", "selector_expression"}
        | {
            "interpreted_string_literal",
            "raw_string_literal",
            "int_literal",
            "const_declaration",
            "parameter_list",
        }
    ),
)
