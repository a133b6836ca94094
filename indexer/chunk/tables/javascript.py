"""JavaScript: declarations, class members, and functions that get their name by being assigned to something.

A function value is named by what holds it: a variable, a class field, a property of an object literal, or the left side
of an assignment (``exports.x``, ``X.prototype.m``). The object or the left side's head becomes the scope. TypeScript
builds on the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, ImportRule, Rule, Site, Table, bases_of, named
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_KIND_OF_VALUE = {
    "arrow_function": Kind.FUNCTION,
    "function_expression": Kind.FUNCTION,
    "generator_function": Kind.FUNCTION,
    "class": Kind.CLASS,
}
# What may stand around a value without changing that it is named by its holder.
_AROUND = frozenset(
    {
        "parenthesized_expression",
        "as_expression",
        "satisfies_expression",
        "non_null_expression",
        "type_assertion",
    }
)
_WHOLE_MODULE = "module.exports"  # what is assigned to it goes by its own name, if it has one
_NO_SCOPE = frozenset({"exports", "module", "module.exports", "this", "self", "window", "globalThis"})
HERITAGE = ("class_heritage", "extends_clause", "implements_clause", "extends_type_clause")


def _value(holder: Node, field: str) -> Node | None:
    """The function or class in a holder's field, without what stands around it."""
    value = holder.child_by_field_name(field)
    while value is not None and value.type in _AROUND:
        inside = value.named_children  # ``<T>f`` has its type first, all others have the value first
        value = inside[-1 if value.type == "type_assertion" else 0] if inside else None
    return value if value is not None and value.type in _KIND_OF_VALUE else None


def _found(kind: str, name: Node, value: Node, site: Site, scope: str = "") -> Found:
    body = value.child_by_field_name("body")
    bases = bases_of(value, site, HERITAGE) if kind == Kind.CLASS else ()
    return Found(
        kind, _plain(site.read(name)), name.start_byte, body.start_byte if body else -1, scope, bases
    )


def _plain(name: str) -> str:
    return name.strip("\"'`")


def _variable(node: Node, site: Site) -> Found | None:
    name, value = node.child_by_field_name("name"), _value(node, "value")
    if name is None or value is None or name.type != "identifier":
        return None
    return _found(_KIND_OF_VALUE[value.type], name, value, site)


def _assignment(node: Node, site: Site) -> Found | None:
    left, value = node.child_by_field_name("left"), _value(node, "right")
    if left is None or value is None:
        return None
    kind = _KIND_OF_VALUE[value.type]
    if left.type == "identifier":
        return _found(kind, left, value, site)
    if left.type == "member_expression":
        name, head = left.child_by_field_name("property"), left.child_by_field_name("object")
    elif left.type == "subscript_expression":
        name, head = left.child_by_field_name("index"), left.child_by_field_name("object")
        name = name if name is not None and name.type == "string" else None
    else:
        return None
    if (
        name is None
        or head is None
        or (value.child_by_field_name("name") and site.read(left) == _WHOLE_MODULE)
    ):
        return None
    whole = site.read(head)
    if kind == Kind.FUNCTION and whole.endswith(".prototype"):
        kind = Kind.METHOD
    return _found(kind, name, value, site, _scope_of(whole))


def _scope_of(head: str) -> str:
    """``X.prototype`` -> ``X``; nothing for the module's own object, and for what is no plain path."""
    head = head.removesuffix(".prototype").removeprefix("this.").removeprefix("exports.")
    return head if head not in _NO_SCOPE and head.replace(".", "a").replace("$", "a").isidentifier() else ""


def field_rule(node: Node, site: Site) -> Found | None:
    """A class field that holds a function (a method, to everybody) or a class."""
    name = node.child_by_field_name("property") or node.child_by_field_name("name")
    value = _value(node, "value")
    if name is None or value is None:
        return None
    kind = _KIND_OF_VALUE[value.type]
    return _found(Kind.METHOD if kind == Kind.FUNCTION else kind, name, value, site)


def _pair(node: Node, site: Site) -> Found | None:
    """A property of an object literal that has a name, directly or through the objects around it."""
    key, value = node.child_by_field_name("key"), _value(node, "value")
    if key is None or value is None:
        return None
    scope = object_path(site)
    if scope is None:
        return None
    kind = _KIND_OF_VALUE[value.type]
    return _found(Kind.METHOD if kind == Kind.FUNCTION else kind, key, value, site, scope)


def _method(node: Node, site: Site) -> Found | None:
    found = named(Kind.METHOD)(node, site)
    if found is None:
        return None
    scope = object_path(site) if site.parents[-1].type == "object" else ""
    return found._replace(name=_plain(found.name), scope=scope or "")


def object_path(site: Site) -> str | None:
    """The names of the object literals around, joined by dots; None for one that is only an argument or the like."""
    path: list[str] = []
    for parent in reversed(site.parents[-20:]):
        kind = parent.type
        if kind == "pair":
            key = parent.child_by_field_name("key")
            path.append(_plain(site.read(key)) if key else "")
        elif kind == "variable_declarator":
            name = parent.child_by_field_name("name")
            path.append(site.read(name) if name is not None and name.type == "identifier" else "")
            break
        elif kind == "assignment_expression":
            left = parent.child_by_field_name("left")
            path.append(_scope_of(site.read(left)) if left else "")
            break
        elif kind in {"export_statement", "return_statement"}:
            break
        elif kind != "object" and kind not in _AROUND:
            return None
    return ".".join(filter(None, reversed(path)))


def expression(kind: str) -> Rule:
    """The rule for a function or class expression: its own name, unless its holder gives it one."""
    with_own_name = named(kind, bases=HERITAGE)

    def rule(node: Node, site: Site) -> Found | None:
        holder = next((parent for parent in reversed(site.parents) if parent.type not in _AROUND), None)
        if holder is not None and holder.type == "export_statement":
            return with_own_name(node, site) or _default(kind, node, site)
        if holder is not None and _names_its_value(holder, site):
            return None
        return with_own_name(node, site)

    return rule


def _default(kind: str, node: Node, site: Site) -> Found:
    """``export default`` of something without a name."""
    body = node.child_by_field_name("body")
    at = node.start_byte
    return Found(kind, "default", at, body.start_byte if body else -1, "", bases_of(node, site, HERITAGE))


def _names_its_value(holder: Node, site: Site) -> bool:
    kind = holder.type
    if kind == "pair":
        return object_path(site) is not None
    if kind == "assignment_expression":
        left = holder.child_by_field_name("left")
        return left is not None and site.read(left) != _WHOLE_MODULE
    return kind in {"variable_declarator", "field_definition", "public_field_definition"}


def _required(node: Node, site: Site) -> Iterable[str]:
    """What ``require("x")`` and ``import("x")`` name."""
    if not site.text.startswith((b"require", b"import"), node.start_byte):
        return ()
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or function.type not in {"identifier", "import"}:
        return ()
    inside = arguments.named_children
    if site.read(function) not in {"require", "import"} or not inside:
        return ()
    path = site.read(inside[0])
    is_plain = inside[0].type == "string" or (inside[0].type == "template_string" and "${" not in path)
    return [path] if is_plain else ()


DEFINITIONS: dict[str, Rule] = {
    "function_declaration": named(Kind.FUNCTION),
    "generator_function_declaration": named(Kind.FUNCTION),
    "class_declaration": named(Kind.CLASS, bases=HERITAGE),
    "method_definition": _method,
    "variable_declarator": _variable,
    "assignment_expression": _assignment,
    "pair": _pair,
    "function_expression": expression(Kind.FUNCTION),
    "generator_function": expression(Kind.FUNCTION),
    "arrow_function": expression(Kind.FUNCTION),
    "class": expression(Kind.CLASS),
}
IMPORTS: dict[str, str | ImportRule] = {
    "import_statement": "source",
    "export_statement": "source",
    "call_expression": _required,
}
WRAPPERS = frozenset(
    {"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"}
)
LEAVES = frozenset(
    {"identifier", "property_identifier", "shorthand_property_identifier", "private_property_identifier"}
    | {
        "string",
        "template_string",
        "number",
        "regex",
        "import_statement",
        "formal_parameters",
        "this",
        "null",
    }
)

TABLE = Table(
    grammar="javascript",
    definitions=DEFINITIONS | {"field_definition": field_rule},
    attributes=frozenset({"decorator"}),
    wrappers=WRAPPERS,
    imports=IMPORTS,
    leaves=LEAVES,
    tail=b";,",
)
