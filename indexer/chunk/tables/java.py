"""Java: types of every kind, methods and constructors, those of anonymous classes and enum constants too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Site, Table, named
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_BASES = ("superclass", "super_interfaces", "extends_interfaces")


def _imported(node: Node, site: Site) -> Iterable[str]:
    """``import static a.b.C.*;`` -> ``a.b.C.*``."""
    names = [child for child in node.named_children if child.type in {"scoped_identifier", "identifier"}]
    everything = any(child.type == "asterisk" for child in node.named_children)
    return [site.read(name) + (".*" if everything else "") for name in names]


TABLE = Table(
    grammar="java",
    definitions={
        "class_declaration": named(Kind.CLASS, bases=_BASES),
        "record_declaration": named(Kind.CLASS, bases=_BASES),
        "interface_declaration": named(Kind.INTERFACE, bases=_BASES),
        "annotation_type_declaration": named(Kind.INTERFACE),
        "enum_declaration": named(Kind.ENUM, bases=_BASES),
        "method_declaration": named(Kind.METHOD),
        "constructor_declaration": named(Kind.METHOD),
        "compact_constructor_declaration": named(Kind.METHOD),
        "annotation_type_element_declaration": named(Kind.METHOD),
    },
    comments=frozenset({"line_comment", "block_comment"}),
    attributes=frozenset({"annotation", "marker_annotation"}),
    imports={"import_declaration": _imported},
    leaves=frozenset(
        {"identifier", "type_identifier", "field_access", "string_literal", "decimal_integer_literal"}
        | {"modifiers", "type_parameters", "type_arguments", "formal_parameters", "generic_type", "throws"}
        | {"import_declaration", "package_declaration", "scoped_type_identifier", "array_type"}
    ),
    tail=b";",
)
