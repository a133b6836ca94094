"""Elixir, where every definition is a call: modules, protocols, implementations, functions, macros, guards, types, tests.

Each clause of a function is a chunk of its own: clauses are often far from one another, and tools that jump to a
definition list them one by one. Module attributes directly above (``@doc``, ``@spec``, ``@impl``) belong to what
follows; ``@doc`` is its docstring, and ``@moduledoc`` that of a module which begins with it. ``defstruct`` and
``defexception`` have the name of their module.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table
from indexer.chunk.tables.nodes import child, qualified
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from indexer.chunk.spans import Definition

_MODULES = {"defmodule": Kind.NAMESPACE, "defprotocol": Kind.INTERFACE, "defimpl": Kind.IMPL}
_FUNCTIONS = {
    **dict.fromkeys(("def", "defp", "defdelegate", "defguard", "defguardp", "defn", "defnp"), Kind.FUNCTION),
    **dict.fromkeys(("defmacro", "defmacrop"), Kind.MACRO),
}
_STRUCTS = frozenset({"defstruct", "defexception"})
_TYPES = {
    **dict.fromkeys(("type", "typep", "opaque"), Kind.TYPE),
    **dict.fromkeys(("callback", "macrocallback"), Kind.METHOD),
}
_IMPORTS = frozenset({"import", "alias", "use", "require"})
_STRING = rb'\s+(?:~[sS])?("""(?:.*?)"""|"(?:\\.|[^"\\])*")'
_DOC = re.compile(rb"@(?:doc|typedoc)" + _STRING, re.DOTALL)
_MODULE_DOC = re.compile(rb"[^\r\n]*\bdo[ \t]*\r?\n\s*@moduledoc" + _STRING, re.DOTALL)


def _call(node: Node, site: Site) -> Found | None:
    target, arguments = node.child_by_field_name("target"), child(node, "arguments")
    if target is None or target.type != "identifier" or arguments is None or not arguments.named_child_count:
        return None
    keyword, first = site.read(target), arguments.named_child(0)
    assert first is not None
    body = child(node, "do_block")
    ends = body.start_byte if body else -1
    if keyword in _MODULES:
        scope, name = qualified(site.read(first), ".")
        return Found(_MODULES[keyword], name, first.start_byte, ends, scope, _implementing(arguments, site))
    kind, name = _named(keyword, first, site)
    return Found(kind, name, first.start_byte, ends) if name else None


def _named(keyword: str, first: Node, site: Site) -> tuple[str, str]:
    """Kind and name that a call with this first argument defines; no name when it defines nothing."""
    if keyword in _FUNCTIONS:
        return _FUNCTIONS[keyword], _head(first, site)
    if keyword in _STRUCTS:
        return Kind.STRUCT, _module_around(site)
    if keyword == "test" and first.type == "string":
        return Kind.FUNCTION, site.read(first).strip('"')
    return "", ""


def _head(node: Node, site: Site) -> str:
    """The name in ``name``, ``name(x)``, ``name(x) when ...``, ``a + b``, ``+a``; empty for a computed one."""
    while node.type == "binary_operator":
        operator = node.child_by_field_name("operator")
        left = node.child_by_field_name("left")
        if operator is None or left is None:
            return ""
        if operator.type != "when":
            return site.read(operator)
        node = left
    if node.type == "unary_operator":
        operator = node.child_by_field_name("operator")
        return site.read(operator) if operator else ""
    name = node.child_by_field_name("target") if node.type == "call" else node
    return site.read(name) if name and name.type == "identifier" else ""


def _implementing(arguments: Node, site: Site) -> tuple[str, ...]:
    """``Geo.Shape`` of ``defimpl Geo.Area, for: Geo.Shape``."""
    keywords = child(arguments, "keywords")
    pair = child(keywords, "pair") if keywords else None
    value = pair.child_by_field_name("value") if pair else None
    return (site.read(value),) if value and value.type == "alias" else ()


def _module_around(site: Site) -> str:
    if len(site.parents) < 2 or site.parents[-1].type != "do_block":
        return ""
    arguments = child(site.parents[-2], "arguments")
    name = child(arguments, "alias") if arguments else None
    return qualified(site.read(name), ".")[1] if name else ""


def _attribute(node: Node, site: Site) -> Found | None:
    """``@type t :: ...`` and ``@callback f(x) :: ...``."""
    call = node.child_by_field_name("operand")
    target = call.child_by_field_name("target") if call else None
    kind = _TYPES.get(site.read(target)) if target else None
    arguments = child(call, "arguments") if call else None
    if kind is None or arguments is None or not arguments.named_child_count:
        return None
    declared: Node | None = arguments.named_child(0)
    while declared is not None and declared.type == "binary_operator":
        declared = declared.child_by_field_name("left")
    name = _head(declared, site) if declared else ""
    return Found(kind, name, node.start_byte) if name else None


def _imported(node: Node, site: Site) -> Iterable[str]:
    target, arguments = node.child_by_field_name("target"), child(node, "arguments")
    if target is None or arguments is None or site.read(target) not in _IMPORTS:
        return []
    name = next((one for one in arguments.named_children if one.type in {"alias", "dot"}), None)
    group = child(name, "tuple") if name else None
    if name is None or group is None:
        return [site.read(name)] if name else []
    before = site.read(name).partition("{")[0]
    return [before + site.read(one) for one in group.named_children if one.type == "alias"]


def _mentioned(node: Node, site: Site) -> Iterable[str]:
    """A module by its full name: using it takes no import. ``defmodule`` itself does not use it."""
    name = site.read(node)
    around = site.parents[-2].start_byte if len(site.parents) > 1 else 0
    return [name] if "." in name and not site.text.startswith(b"defmodule", around) else []


def _with_docstrings(definitions: list[Definition], text: bytes) -> list[Definition]:
    """The string of an ``@doc`` above, or of a module's ``@moduledoc``, takes the place of a comment."""
    documented = []
    for definition in definitions:
        doc = _DOC.search(text, definition.start, definition.at)
        if definition.kind in _MODULES.values():
            doc = _MODULE_DOC.match(text, definition.at, definition.end) or doc
        documented.append(replace(definition, docstring=doc.span(1)) if doc else definition)
    return documented


TABLE = Table(
    grammar="elixir",
    definitions={"call": _call, "unary_operator": _attribute},
    attributes=frozenset({"unary_operator"}),
    imports={"call": _imported, "alias": _mentioned},
    leaves=frozenset({"identifier", "alias", "string", "atom", "charlist", "integer", "quoted_content"}),
    finish=_with_docstrings,
)
