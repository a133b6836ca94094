"""C#: namespaces (with braces or for the whole file), types, and members that have code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, named
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_BASES = ("base_list",)


def _whole_file(node: Node, site: Site) -> Found | None:
    """``namespace N;`` holds all that follows."""
    found = named(Kind.NAMESPACE)(node, site)
    return found._replace(end=len(site.text)) if found else None


def _destructor(node: Node, site: Site) -> Found | None:
    found = named(Kind.METHOD)(node, site)
    return found._replace(name=f"~{found.name}") if found else None


def _operator(node: Node, site: Site) -> Found | None:
    """``operator +`` and ``implicit operator int``: what stands between the keyword and the parameters."""
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    keyword = next((child for child in node.children if child.type == "operator"), None)
    if parameters is None or keyword is None:
        return None
    sign = site.text[keyword.end_byte : parameters.start_byte].decode("utf-8", "replace")
    name = f"operator {' '.join(sign.split())}"
    return Found(Kind.METHOD, name, keyword.start_byte, body.start_byte if body else -1)


def _indexer(node: Node, _site: Site) -> Found | None:
    keyword = next((child for child in node.children if child.type == "this"), None)
    accessors = node.child_by_field_name("accessors")
    if keyword is None:
        return None
    return Found(Kind.PROPERTY, "this", keyword.start_byte, accessors.start_byte if accessors else -1)


def _used(node: Node, site: Site) -> Iterable[str]:
    """``using X = A.B<C>;`` -> ``A.B``."""
    names = [child for child in node.named_children if child.type in {"identifier", "qualified_name"}]
    return [site.read(names[-1]).partition("<")[0]] if names else []


_DEFINITIONS: dict[str, Rule] = {
    "namespace_declaration": named(Kind.NAMESPACE),
    "file_scoped_namespace_declaration": _whole_file,
    "class_declaration": named(Kind.CLASS, bases=_BASES),
    "record_declaration": named(Kind.CLASS, bases=_BASES),
    "struct_declaration": named(Kind.STRUCT, bases=_BASES),
    "interface_declaration": named(Kind.INTERFACE, bases=_BASES),
    "enum_declaration": named(Kind.ENUM, bases=_BASES),
    "delegate_declaration": named(Kind.TYPE),
    "method_declaration": named(Kind.METHOD),
    "constructor_declaration": named(Kind.METHOD),
    "destructor_declaration": _destructor,
    "operator_declaration": _operator,
    "conversion_operator_declaration": _operator,
    "indexer_declaration": _indexer,
    "property_declaration": named(Kind.PROPERTY, body="accessors"),
    "event_declaration": named(Kind.PROPERTY, body="accessors"),
    "local_function_statement": named(Kind.FUNCTION),
}

TABLE = Table(
    grammar="csharp",
    definitions=_DEFINITIONS,
    attributes=frozenset({"attribute_list"}),
    imports={"using_directive": _used},
    leaves=frozenset(
        {
            "identifier",
            "qualified_name",
            "generic_name",
            "string_literal",
            "integer_literal",
            "parameter_list",
        }
        | {"using_directive", "predefined_type", "modifier", "interpolated_string_expression"}
        | {"type_parameter_constraints_clause", "enum_member_declaration_list", "verbatim_string_literal"}
    ),
    tail=b";",
)
