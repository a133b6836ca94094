"""OCaml, structures and interfaces: functions, values of signatures, types, exceptions, modules, classes, methods.

A ``let`` of a structure is a definition when it binds a function; other values stay in the rest. A local ``let`` is an
expression and stays in its function. Each binding of ``let rec ... and ...`` (and of types, modules, classes) is one
definition. Interfaces have a grammar of their own, told by their text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table
from indexer.chunk.tables.nodes import child
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_AND = re.compile(rb"\band\s*\Z")
_FUNCTIONS = frozenset({"fun_expression", "function_expression"})
_PASSED = frozenset({"parenthesized_expression", "typed_expression", "coercion_expression"})
_STRUCTURES = frozenset({"compilation_unit", "structure"})
_LONGEST_GAP = 200


def _binding(kind: str, *names: str, bodies: tuple[str, ...] = ("body",)) -> Rule:
    """One of the bindings in a group."""

    def rule(node: Node, site: Site) -> Found | None:
        name = child(node, *names)
        if name is None:
            return None
        found = Found(kind, site.read(name), name.start_byte, _body(node, bodies))
        return _in_group(node, site, found)

    return rule


def _body(node: Node, fields: tuple[str, ...]) -> int:
    bodies = (node.child_by_field_name(field) for field in fields)
    return next((body.start_byte for body in bodies if body), -1)


def _in_group(node: Node, site: Site, found: Found) -> Found:
    """From ``and``, or from the keyword of the group, to the end of the binding (of the group, for the last)."""
    group = site.parents[-1]
    before = site.text[max(group.start_byte, node.start_byte - _LONGEST_GAP) : node.start_byte]
    conjunction = _AND.search(before)
    start = node.start_byte - len(before) + conjunction.start() if conjunction else group.start_byte
    return found._replace(start=start, end=node.end_byte)


def _let(node: Node, site: Site) -> Found | None:
    name = node.child_by_field_name("pattern")
    if len(site.parents) < 2 or site.parents[-2].type not in _STRUCTURES or name is None:
        return None
    if name.type not in {"value_name", "parenthesized_operator"} or not _is_function(node):
        return None
    found = Found(Kind.FUNCTION, site.read(name).strip("() "), name.start_byte, _body(node, ("body",)))
    return _in_group(node, site, found)


def _is_function(binding: Node) -> bool:
    """``let f x = ...``, ``let f = fun x -> ...``, ``let f : a -> b = ...``."""
    type_, value = binding.child_by_field_name("type"), binding.child_by_field_name("body")
    if child(binding, "parameter") or (type_ and type_.type == "function_type"):
        return True
    while value is not None and value.type in _PASSED and value.named_child_count:
        value = value.named_child(0)
    return value is not None and value.type in _FUNCTIONS


def _declared(node: Node, site: Site) -> Found | None:
    """``val f : a -> b`` and ``external f : a -> b``."""
    name, type_ = child(node, "value_name", "parenthesized_operator"), node.child_by_field_name("type")
    if name is None:
        return None
    kind = Kind.FUNCTION if type_ and type_.type == "function_type" else Kind.CONSTANT
    return Found(kind, site.read(name).strip("() "), name.start_byte, node.end_byte)


def _exception(node: Node, site: Site) -> Found | None:
    constructor = child(node, "constructor_declaration")
    name = child(constructor, "constructor_name") if constructor else None
    return Found(Kind.TYPE, site.read(name), name.start_byte) if name else None


def _named(kind: str, *names: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        name = child(node, *names)
        return Found(kind, site.read(name), name.start_byte, _body(node, ("body",))) if name else None

    return rule


def _mentioned(node: Node, site: Site) -> Iterable[str]:
    """A module by its path, whether it is opened or only used: neither takes an import."""
    is_part = site.parents and site.parents[-1].type == "module_path"
    return [] if is_part else [site.read(node)]


_INTERFACE_ITEM = re.compile(rb"^(?:val|external)[ \t(]", re.MULTILINE)
_STRUCTURE_ITEM = re.compile(rb"^let\b|\bstruct\b", re.MULTILINE)


def _grammar(text: bytes) -> str:
    """The row for this text: an interface has values and no ``let``."""
    is_interface = _INTERFACE_ITEM.search(text) and not _STRUCTURE_ITEM.search(text)
    return "ocaml-interface" if is_interface else "ocaml-structure"


STRUCTURE = Table(
    grammar="ocaml",
    definitions={
        "let_binding": _let,
        "value_specification": _declared,
        "external": _declared,
        "type_binding": _binding(Kind.TYPE, "type_constructor"),
        "exception_definition": _exception,
        "module_binding": _binding(Kind.NAMESPACE, "module_name", bodies=("module_type", "body")),
        "module_type_definition": _named(Kind.INTERFACE, "module_type_name"),
        "class_binding": _binding(Kind.CLASS, "class_name", bodies=("class_type", "body")),
        "class_type_binding": _binding(Kind.INTERFACE, "class_type_name"),
        "method_definition": _named(Kind.METHOD, "method_name"),
        "method_specification": _named(Kind.METHOD, "method_name"),
    },
    imports={"module_path": _mentioned},
    leaves=frozenset({"string", "number"}),
)
INTERFACE = replace(STRUCTURE, grammar="ocaml_interface")
TABLE = replace(STRUCTURE, choose=_grammar)
