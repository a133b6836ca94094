"""Rust: items, the methods of ``impl`` blocks and traits; constants and macros count as definitions too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table, named
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_MOST_USED = 500  # names that one ``use`` brings in
_OF_THIS_CRATE = (b"crate::", b"super::")


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


def _used(node: Node, site: Site) -> Iterable[str]:
    """``use a::{b as x, c::{self, d}, e::*}`` -> ``a::b``, ``a::c``, ``a::c::d``, ``a::e::*``."""
    argument = node.child_by_field_name("argument")
    todo = [(argument, "")] if argument else []
    found = 0
    while todo and found < _MOST_USED:
        tree, before = todo.pop()
        prefix = before
        if tree.type == "scoped_use_list":
            path = tree.child_by_field_name("path")
            prefix = f"{before}{site.read(path)}::" if path else before
            tree = tree.child_by_field_name("list") or tree
        if tree.type == "use_list":
            todo += [(one, prefix) for one in reversed(tree.named_children) if not one.is_extra]
            continue
        path = tree.child_by_field_name("path") if tree.type == "use_as_clause" else tree
        name = site.read(path) if path else ""
        found += 1
        yield prefix.removesuffix("::") if name == "self" and prefix else prefix + name


def _path(node: Node, site: Site) -> Iterable[str]:
    """A path that begins in this crate, wherever it stands: it says what a ``use`` of it would say."""
    is_part = site.parents and site.parents[-1].type.startswith("scoped_")
    is_own = not is_part and site.text.startswith(_OF_THIS_CRATE, node.start_byte)
    return [site.read(node)] if is_own else []


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
    imports={
        "use_declaration": _used,
        "extern_crate_declaration": "name",
        "mod_item": _module_file,
        "scoped_identifier": _path,
        "scoped_type_identifier": _path,
    },
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
