"""R: functions by assignment; S4, R5 and R6 classes, generics and methods, which are calls.

``setMethod("area", "Circle", ...)`` is ``area`` in ``Circle``; the functions in the lists of an R6 or reference class
are its methods. A function that is only an argument is nobody's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_ASSIGNMENTS = frozenset({"<-", "<<-", "=", ":="})
_CLASSES = frozenset({"setClass", "setRefClass", "R6Class", "setClassUnion", "new_class"})
_METHOD_LISTS = frozenset({"public", "private", "active", "methods"})
_LOADERS = frozenset({"library", "require", "source", "requireNamespace", "loadNamespace"})
_BASE_ARGUMENTS = frozenset({"contains", "inherit"})
_QUOTES = "\"'`"


def _assigned(node: Node, site: Site) -> Found | None:
    left, right = node.child_by_field_name("lhs"), node.child_by_field_name("rhs")
    if left is None or right is None or not _is_assignment(node):
        return None
    if right.type == "function_definition":
        scope, name = _target(left, site)
        parameters = right.child_by_field_name("parameters")
        return Found(Kind.FUNCTION, name, left.start_byte, parameters.end_byte if parameters else -1, scope)
    if right.type == "call" and _called(right, site) in _CLASSES:
        return _class(right, left, site)
    return None


def _is_assignment(node: Node) -> bool:
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in _ASSIGNMENTS


def _target(node: Node, site: Site) -> tuple[str, str]:
    """Scope and name of ``f``, ``"f"``, ``env$f``."""
    owner, member = node.child_by_field_name("lhs"), node.child_by_field_name("rhs")
    if node.type == "extract_operator" and owner and member:
        return site.read(owner).replace("$", "."), site.read(member).strip(_QUOTES)
    return "", site.read(node).strip(_QUOTES)


def _called(node: Node, site: Site) -> str:
    """The name of the function that a call calls, without its package."""
    function = node.child_by_field_name("function")
    return site.read(function).rpartition("::")[2] if function else ""


def _arguments(node: Node) -> list[tuple[Node | None, Node]]:
    """Name and value of each argument of a call."""
    arguments = node.child_by_field_name("arguments")
    pairs = []
    for argument in arguments.named_children if arguments else ():
        value = argument.child_by_field_name("value") if argument.type == "argument" else None
        if value:
            pairs.append((argument.child_by_field_name("name"), value))
    return pairs


def _class(node: Node, name: Node, site: Site) -> Found:
    arguments = _arguments(node)
    named = [value for key, value in arguments if key is None and value.type == "string"]
    bases = [value for key, value in arguments if key and site.read(key) in _BASE_ARGUMENTS]
    return Found(
        Kind.CLASS,
        site.read(named[0] if named else name).strip(_QUOTES),
        name.start_byte,
        bases=tuple(site.read(base).strip(_QUOTES) for base in bases),
    )


def _call(node: Node, site: Site) -> Found | None:
    """``setClass``, ``setGeneric``, ``setMethod`` and their like, not assigned."""
    called = _called(node, site)
    if called in _CLASSES and not (site.parents and site.parents[-1].type == "binary_operator"):
        first = [value for key, value in _arguments(node) if key is None][:1]
        return _class(node, first[0], site) if first and first[0].type == "string" else None
    if called not in {"setGeneric", "setMethod"}:
        return None
    strings = [value for _, value in _arguments(node) if value.type == "string"]
    if not strings:
        return None
    is_method = called == "setMethod"
    return Found(
        Kind.METHOD if is_method else Kind.FUNCTION,
        site.read(strings[0]).strip(_QUOTES),
        strings[0].start_byte,
        scope=site.read(strings[1]).strip(_QUOTES) if is_method and len(strings) > 1 else "",
    )


def _method(node: Node, site: Site) -> Found | None:
    """``push = function(x) ...`` in ``public = list(...)``, or in ``Account$methods(...)``."""
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None or value is None or value.type != "function_definition" or len(site.parents) < 2:
        return None
    call = site.parents[-2]
    holder = site.parents[-3] if len(site.parents) > 2 else None
    list_name = holder.child_by_field_name("name") if holder and holder.type == "argument" else None
    scope = ""
    if not (_called(call, site) == "list" and list_name and site.read(list_name) in _METHOD_LISTS):
        function = call.child_by_field_name("function")
        scope, last = _target(function, site) if function else ("", "")
        if last != "methods" or not scope:
            return None
    return Found(Kind.METHOD, site.read(name).strip(_QUOTES), name.start_byte, scope=scope)


def _loaded(node: Node, site: Site) -> Iterable[str]:
    if _called(node, site) not in _LOADERS:
        return []
    return [site.read(value) for _, value in _arguments(node) if value.type in {"identifier", "string"}][:1]


TABLE = Table(
    grammar="r",
    definitions={"binary_operator": _assigned, "call": _call, "argument": _method},
    imports={"call": _loaded},
    leaves=frozenset({"identifier", "string", "parameters", "float", "extract_operator"}),
    tail=b",;",
)
