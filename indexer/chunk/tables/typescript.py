"""TypeScript and TSX: what JavaScript has, and interfaces, type aliases, enums, namespaces, signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, named
from indexer.chunk.tables import javascript
from indexer.types import Kind

if TYPE_CHECKING:
    from tree_sitter import Node


def _module(node: Node, site: Site) -> Found | None:
    """``namespace A.B`` and ``declare module "x"``."""
    found = named(Kind.NAMESPACE)(node, site)
    return found._replace(name=found.name.strip("\"'")) if found else None


_DEFINITIONS: dict[str, Rule] = javascript.DEFINITIONS | {
    "abstract_class_declaration": named(Kind.CLASS, bases=javascript.HERITAGE),
    "interface_declaration": named(Kind.INTERFACE, bases=javascript.HERITAGE),
    "type_alias_declaration": named(Kind.TYPE, body="value"),
    "enum_declaration": named(Kind.ENUM),
    "internal_module": _module,
    "module": _module,
    "function_signature": named(Kind.FUNCTION),
    "method_signature": named(Kind.METHOD),
    "abstract_method_signature": named(Kind.METHOD),
    "public_field_definition": javascript.field_rule,
}


def _table(grammar: str) -> Table:
    return Table(
        grammar=grammar,
        definitions=_DEFINITIONS,
        attributes=frozenset({"decorator"}),
        wrappers=javascript.WRAPPERS | {"ambient_declaration"},
        imports=javascript.IMPORTS | {"import_require_clause": "source"},
        leaves=(javascript.LEAVES - {"import_statement"})
        | {"type_annotation", "type_arguments", "type_parameters", "type_identifier", "predefined_type"},
        tail=b";,",
    )


TABLE = _table("typescript")
TSX = _table("tsx")
