"""Lua: functions by statement and by assignment; the tables they are put into are their scope.

``function M.Shape:scale`` and ``M.Shape.scale = function`` are both ``scale`` in ``M.Shape``; a function in a table
constructor has the name of its field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table
from indexer.chunk.tables.nodes import child
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


def _target(node: Node, site: Site) -> tuple[str, str]:
    """Scope and name of what ``node`` (a variable, ``a.b``, ``a["b"]``, ``a:b``) assigns to."""
    table = node.child_by_field_name("table")
    field = node.child_by_field_name("field") or node.child_by_field_name("method")
    if table is None or field is None or (node.type == "bracket_index_expression" and field.type != "string"):
        return "", site.read(node)
    return site.read(table).replace(":", "."), site.read(field).strip("\"'[]")


def _declared(node: Node, site: Site) -> Found | None:
    name_node = node.child_by_field_name("name")
    parameters = node.child_by_field_name("parameters")
    if name_node is None:
        return None
    scope, name = _target(name_node, site)
    body = parameters.end_byte if parameters else -1
    return Found(Kind.FUNCTION, name, name_node.start_byte, body, scope)


def _assigned(node: Node, site: Site) -> Found | None:
    """``a.b = function``; of several variables the first that is given a function."""
    variables, values = child(node, "variable_list"), child(node, "expression_list")
    if variables is None or values is None:
        return None
    for variable, value in zip(variables.named_children, values.named_children, strict=False):
        if value.type == "function_definition":
            scope, name = _target(variable, site)
            return Found(Kind.FUNCTION, name, variable.start_byte, -1, scope)
    return None


def _field(node: Node, site: Site) -> Found | None:
    """``{ name = function ... }``."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or value is None or value.type != "function_definition":
        return None
    return Found(Kind.FUNCTION, site.read(name).strip("\"'"), name.start_byte, -1, _owner(site))


def _owner(site: Site) -> str:
    """``M.handlers`` for a field of ``M.handlers = { ... }``."""
    around = site.parents[-3:]
    if [parent.type for parent in around] != ["assignment_statement", "expression_list", "table_constructor"]:
        return ""
    variables = child(around[0], "variable_list")
    return site.read(variables) if variables and variables.named_child_count == 1 else ""


def _required(node: Node, site: Site) -> Iterable[str]:
    name, arguments = node.child_by_field_name("name"), node.child_by_field_name("arguments")
    if name is None or arguments is None:
        return []
    called, given = site.read(name), arguments.named_children
    if called == "pcall" and given:  # ``pcall(require, "a")``
        called, given = site.read(given[0]), given[1:]
    if called not in {"require", "dofile", "loadfile"}:
        return []
    strings = [argument for argument in given if argument.type == "string"]
    return [site.read(child(string, "string_content") or string) for string in strings[:1]]


TABLE = Table(
    grammar="lua",
    definitions={"function_declaration": _declared, "assignment_statement": _assigned, "field": _field},
    wrappers=frozenset({"variable_declaration"}),
    imports={"function_call": _required},
    leaves=frozenset({"identifier", "string", "number", "parameters", "dot_index_expression"}),
    tail=b",;",
)
