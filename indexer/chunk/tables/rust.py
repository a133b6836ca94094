"""Rust: items, the methods of ``impl`` blocks and traits; constants and macros count as definitions too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table, named
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


def _impl(node: Node, site: Site) -> Found | None:
    """``impl Trait for a::Type<T>``: named by the type, without path and arguments; the trait is its base."""
    type_node, trait = node.child_by_field_name("type"), node.child_by_field_name("trait")
    if type_node is None:
        return None
    bare = type_node
    while bare.type in {"generic_type", "scoped_type_identifier", "reference_type", "pointer_type"}:
        inner = bare.child_by_field_name("name" if bare.type == "scoped_type_identifier" else "type")
        if inner is None:
            break
        bare = inner
    body = node.child_by_field_name("body")
    bases = (site.read(trait),) if trait else ()
    return Found(Kind.IMPL, site.read(bare), type_node.start_byte, body.start_byte if body else -1, "", bases)


def _module(node: Node, site: Site) -> Found | None:
    """A module with a body; ``mod name;`` only names a file."""
    return named(Kind.NAMESPACE)(node, site) if node.child_by_field_name("body") else None


def _module_file(node: Node, site: Site) -> Iterable[str]:
    name = node.child_by_field_name("name")
    return [site.read(name)] if name is not None and not node.child_by_field_name("body") else []


TABLE = Table(
    grammar="rust",
    definitions={
        "function_item": named(Kind.FUNCTION),
        "function_signature_item": named(Kind.FUNCTION),
        "impl_item": _impl,
        "trait_item": named(Kind.TRAIT, bases=("bounds", "trait_bounds")),
        "struct_item": named(Kind.STRUCT),
        "enum_item": named(Kind.ENUM),
        "union_item": named(Kind.STRUCT),
        "macro_definition": named(Kind.MACRO),
        "mod_item": _module,
        "type_item": named(Kind.TYPE),
        "const_item": named(Kind.CONSTANT),
        "static_item": named(Kind.CONSTANT),
    },
    comments=frozenset({"line_comment", "block_comment"}),
    attributes=frozenset({"attribute_item"}),
    imports={"use_declaration": "argument", "extern_crate_declaration": "name", "mod_item": _module_file},
    leaves=frozenset(
        {
            "identifier",
            "type_identifier",
            "field_identifier",
            "string_literal",
            "raw_string_literal",
            "parameters",
        }
        | {
            "token_tree",
            "type_arguments",
            "type_parameters",
            "use_declaration",
            "attribute_item",
            "reference_type",
        }
        | {"scoped_identifier", "field_declaration_list", "enum_variant_list", "where_clause"}
    ),
    tail=b";",
)
