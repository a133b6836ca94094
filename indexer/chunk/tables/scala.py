"""Scala 2 and 3: classes, traits, objects, enums, ``def``, function values, types, givens, extensions.

An extension and a given without a name are named by the type they are for.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, bases_of, named
from indexer.chunk.tables.nodes import child
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from indexer.chunk.spans import Definition

# ``end Name`` below a definition stands outside its node.
_END = re.compile(rb"[ \t]*\r?\n\s*end[ \t]+(\S+)[ \t]*(?=\r?\n|\Z)")


def _named(kind: str, body: str = "body", bases: tuple[str, ...] = ()) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        found = named(kind, body=body, bases=bases)(node, site)
        return found._replace(name=found.name.strip("`")) if found else None

    return rule


def _function_value(node: Node, site: Site) -> Found | None:
    """``val f = (x: Int) => ...``."""
    value = node.child_by_field_name("value")
    if value is None or value.type != "lambda_expression":
        return None
    return named(Kind.FUNCTION, name="pattern", body="value")(node, site)


def _given(node: Node, site: Site) -> Found | None:
    name = node.child_by_field_name("name") or node.child_by_field_name("return_type")
    body = node.child_by_field_name("body")
    if name is None:
        return None
    bases = bases_of(node, site, ("return_type",)) if node.child_by_field_name("name") else ()
    return Found(
        Kind.IMPL,
        site.read(name).strip("`"),
        name.start_byte,
        body.start_byte if body else -1,
        bases=tuple(base for base in bases if base != "with"),
    )


def _extension(node: Node, site: Site) -> Found | None:
    """``extension (x: T) def ...`` is named ``T``."""
    parameters = node.child_by_field_name("parameters")
    parameter = child(parameters, "parameter") if parameters else None
    extended = parameter.child_by_field_name("type") if parameter else None
    if parameters is None or extended is None:
        return None
    name = site.read(extended).partition("[")[0]
    return Found(Kind.IMPL, name, node.start_byte, parameters.end_byte)


def _selected(node: Node, site: Site) -> str:
    """``C => D`` is ``C``."""
    return site.read((node.named_children or [node])[0])


def _imported(node: Node, site: Site) -> Iterable[str]:
    """``import a.{B, C => D}, x._`` -> ``a.B``, ``a.C``, ``x._``."""
    path: list[str] = []
    for part in node.children:
        match part.type:
            case ",":
                yield from [".".join(path)] if path else []
                path = []
            case "namespace_selectors":
                selected = [one for one in part.named_children if not one.is_extra]
                yield from [".".join([*path, _selected(one, site)]) for one in selected]
                path = []
            case "as_renamed_identifier" | "arrow_renamed_identifier":
                path.append(_selected(part, site))
            case _ if part.is_named and not part.is_extra:
                path.append(site.read(part))
    yield from [".".join(path)] if path else []


def _with_end_markers(definitions: list[Definition], text: bytes) -> list[Definition]:
    marked = []
    for definition in definitions:
        marker = _END.match(text, definition.end)
        belongs = marker and marker[1].decode("utf-8", "replace").strip("`") == definition.name
        marked.append(replace(definition, end=marker.end()) if marker and belongs else definition)
    return marked


_BASES = ("extends_clause", "derives_clause")

TABLE = Table(
    grammar="scala",
    definitions={
        "class_definition": _named(Kind.CLASS, bases=_BASES),
        "object_definition": _named(Kind.CLASS, bases=_BASES),
        "trait_definition": _named(Kind.TRAIT, bases=_BASES),
        "enum_definition": _named(Kind.ENUM, bases=_BASES),
        "package_object": _named(Kind.NAMESPACE),
        "function_definition": _named(Kind.FUNCTION),
        "function_declaration": _named(Kind.FUNCTION),
        "type_definition": _named(Kind.TYPE, body="type"),
        "val_definition": _function_value,
        "given_definition": _given,
        "extension_definition": _extension,
    },
    comments=frozenset({"comment", "block_comment"}),
    attributes=frozenset({"annotation"}),
    imports={"import_declaration": _imported},
    leaves=frozenset({"identifier", "type_identifier", "parameters", "integer_literal", "generic_type"}),
    finish=_with_end_markers,
)
