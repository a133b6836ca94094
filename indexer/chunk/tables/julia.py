"""Julia: modules, types, functions in both forms, macros, ``@enum``.

A method of another module's function (``Base.show``) has that module as its scope. A string directly above is the
docstring, as is a comment. What a macro is applied to (``@inline f(x) = x``) belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, named
from indexer.chunk.tables.nodes import child
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

# What stands around the call in ``f(x)::Int where {T}``.
_AROUND = frozenset({"signature", "where_expression", "typed_expression"})


def _head(node: Node | None) -> Node | None:
    while node is not None and node.type in _AROUND:
        node = node.named_child(0) if node.named_child_count else None
    return node


def _function(kind: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        signature = child(node, "signature")
        head = _head(signature)
        if signature is None or head is None:
            return None
        # ``function f end`` declares a name without methods.
        callee = head.named_child(0) if head.type == "call_expression" else head
        return _named(kind, callee, signature.end_byte, site)

    return rule


def _short(node: Node, site: Site) -> Found | None:
    """``f(x) = ...``."""
    left = node.named_child(0) if node.named_child_count else None
    head = _head(left)
    if left is None or head is None or head.type != "call_expression":
        return None
    return _named(Kind.FUNCTION, head.named_child(0), left.end_byte, site)


def _named(kind: str, callee: Node | None, body: int, site: Site) -> Found | None:
    """By what is called: ``f``, ``+``, ``Base.show``, ``Point{T}``, ``(p::Point)``; not ``$name``."""
    if callee is not None and callee.type in {"parametrized_type_expression", "curly_expression"}:
        callee = callee.named_child(0)
    if callee is None:
        return None
    read = site.read(callee)
    if callee.type in {"identifier", "operator"}:
        return Found(kind, read, callee.start_byte, body)
    if callee.type == "field_expression":
        scope, _, name = read.rpartition(".")
        return Found(kind, name.strip(":()") or name, callee.start_byte, body, scope.strip("."))
    if callee.type == "parenthesized_expression" and "::" in read:
        type_name = read.rpartition("::")[2].partition("{")[0]
        return Found(kind, type_name.strip("() "), callee.start_byte, body)
    return None


def _type(kind: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        head = child(node, "type_head")
        inner = head.named_child(0) if head and head.named_child_count else None
        base = None
        if inner and inner.type == "binary_expression":
            base, inner = inner.named_child(inner.named_child_count - 1), inner.named_child(0)
        if inner and inner.type == "parametrized_type_expression":
            inner = inner.named_child(0)
        if head is None or inner is None:
            return None
        bases = (site.read(base),) if base else ()
        return Found(kind, site.read(inner), inner.start_byte, head.end_byte, bases=bases)

    return rule


def _enum(node: Node, site: Site) -> Found | None:
    """``@enum Color red blue``."""
    macro, arguments = child(node, "macro_identifier"), child(node, "macro_argument_list")
    if macro is None or arguments is None or site.read(macro) != "@enum" or not arguments.named_child_count:
        return None
    head = arguments.named_child(0)
    assert head is not None
    return Found(Kind.ENUM, site.read(head).partition("::")[0], head.start_byte)


def _module(node: Node, site: Site) -> Found | None:
    found = named(Kind.NAMESPACE)(node, site)
    return found._replace(body=found.at + len(found.name.encode())) if found else None


def _used(node: Node, site: Site) -> Iterable[str]:
    """``using A, B: c`` -> A, B."""
    for name in node.named_children:
        yield site.read(name).partition(":")[0].partition(" as ")[0]


def _included(node: Node, site: Site) -> Iterable[str]:
    function = node.named_child(0) if node.named_child_count else None
    arguments = child(node, "argument_list")
    path = child(arguments, "string_literal") if arguments else None
    if function is None or path is None or site.read(function) != "include":
        return []
    return [site.read(path)]


TABLE = Table(
    grammar="julia",
    definitions={
        "module_definition": _module,
        "struct_definition": _type(Kind.STRUCT),
        "abstract_definition": _type(Kind.TYPE),
        "primitive_definition": _type(Kind.TYPE),
        "function_definition": _function(Kind.FUNCTION),
        "macro_definition": _function(Kind.MACRO),
        "assignment": _short,
        "macrocall_expression": _enum,
    },
    comments=frozenset({"line_comment", "block_comment", "string_literal"}),
    wrappers=frozenset({"macrocall_expression", "macro_argument_list"}),
    imports={"using_statement": _used, "import_statement": _used, "call_expression": _included},
    leaves=frozenset({"identifier", "prefixed_string_literal", "integer_literal", "signature", "type_head"}),
)
