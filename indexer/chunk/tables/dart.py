"""Dart: classes, mixins, extensions, enums, type aliases, functions, methods, constructors, getters, setters, operators.

In this grammar a function's body is not inside it but follows it, so bodies are found too and put to their heads
at the end. The constructor ``Point.origin`` is ``origin`` in ``Point``; an extension without a name is named by the
type it extends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table, bases_of, named
from indexer.chunk.tables.nodes import child, typed
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from indexer.chunk.spans import Definition

_BASES = ("superclass", "interfaces", "mixins")
_MEMBERS = frozenset({"class_body", "enum_body", "extension_body"})
_CONSTRUCTORS = frozenset(
    {
        "constructor_signature",
        "constant_constructor_signature",
        "factory_constructor_signature",
        "redirecting_factory_constructor_signature",
    }
)
_HEADS = _CONSTRUCTORS | {"function_signature", "getter_signature", "setter_signature", "operator_signature"}
# A kind of this file alone, until `_with_bodies` has put bodies to their heads.
_BODY = "body"


def _head(node: Node, site: Site) -> Found | None:
    """A signature at the top level; in a class it is inside a node of its own."""
    return _signature(node, site) if len(site.parents) == 1 else None


def _member(node: Node, site: Site) -> Found | None:
    if not site.parents or site.parents[-1].type not in _MEMBERS:
        return None
    signature = child(node, *_HEADS)
    found = _signature(signature, site) if signature else None
    return found._replace(kind=Kind.METHOD) if found else None


def _signature(node: Node, site: Site) -> Found | None:
    if node.type in _CONSTRUCTORS:
        names = [name for name in node.children if name.type == "identifier"]
        # ``Point.origin`` is searched as ``origin``; its scope is the class anyway.
        name = names[-1] if names else None
    elif node.type == "operator_signature":
        name = child(node, "binary_operator", "[]", "[]=", "==", "~")
    else:
        name = node.child_by_field_name("name")
    return Found(Kind.FUNCTION, site.read(name), name.start_byte, node.end_byte) if name else None


def _local(node: Node, site: Site) -> Found | None:
    """A function inside a function."""
    inner = child(node, "lambda_expression")
    signature = inner.child_by_field_name("parameters") if inner else None
    return _signature(signature, site) if signature and signature.type in _HEADS else None


def _body(node: Node, site: Site) -> Found | None:
    if len(site.parents) > 1 and site.parents[-1].type not in _MEMBERS:
        return None
    return Found(_BODY, "", node.start_byte)


def _class(node: Node, site: Site) -> Found | None:
    found = named(Kind.CLASS, bases=_BASES)(node, site)
    if found:  # ``<T>`` stands beside the base in this grammar
        return found._replace(bases=tuple(base for base in found.bases if not base.startswith("<")))
    alias = child(node, "mixin_application_class")
    name = child(alias, "identifier") if alias else None
    return Found(Kind.CLASS, site.read(name), name.start_byte) if name else None


def _extension(node: Node, site: Site) -> Found | None:
    name = node.child_by_field_name("name") or node.child_by_field_name("class")
    body = node.child_by_field_name("body")
    if name is None:
        return None
    extended = bases_of(node, site, ("class",)) if node.child_by_field_name("name") else ()
    return Found(Kind.IMPL, site.read(name), name.start_byte, body.start_byte if body else -1, bases=extended)


def _alias(node: Node, site: Site) -> Found | None:
    """``typedef F = ...``, or in the old form ``typedef int F(int a)``."""
    names = [name for name in node.children if name.type == "type_identifier"]
    if not names:
        return None
    name = names[0] if child(node, "=") else names[-1]
    return Found(Kind.TYPE, site.read(name), name.start_byte)


def _imported(node: Node, site: Site) -> Iterable[str]:
    return [site.read(node)]


def _with_bodies(definitions: list[Definition], text: bytes) -> list[Definition]:
    joined: list[Definition] = []
    for definition in definitions:
        if definition.kind != _BODY:
            joined.append(definition)
        elif joined and not text[joined[-1].end : definition.start].strip():
            joined[-1] = replace(joined[-1], end=definition.end)
    return joined


TABLE = Table(
    grammar="dart",
    definitions={
        "class_definition": _class,
        "mixin_declaration": typed(Kind.TRAIT, ("identifier",), ("class_body",), ("interfaces",)),
        "extension_declaration": _extension,
        "extension_type_declaration": typed(Kind.IMPL, ("identifier",), ("extension_body",), ("interfaces",)),
        "enum_declaration": named(Kind.ENUM, bases=_BASES),
        "type_alias": _alias,
        "method_signature": _member,
        "declaration": _member,
        **dict.fromkeys(_HEADS - _CONSTRUCTORS - {"operator_signature"}, _head),
        "local_function_declaration": _local,
        "function_body": _body,
    },
    comments=frozenset({"comment", "documentation_comment"}),
    attributes=frozenset({"annotation"}),
    imports={"uri": _imported},
    leaves=frozenset({"identifier", "type_identifier", "string_literal", "decimal_integer_literal"}),
    tail=b";",
    finish=_with_bodies,
)
