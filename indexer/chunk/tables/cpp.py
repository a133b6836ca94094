"""C++: what C has, and classes, namespaces, templates, operators, and definitions outside of their class.

``void A::B::m() {}`` is ``m`` in the scope ``A.B``, without template arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, named
from indexer.chunk.tables import c, macros
from indexer.types import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

_ARGUMENTS = re.compile(r"<[^<>]*>")
_MOST_SCOPES = 50


def _function(node: Node, site: Site) -> Found | None:
    made = macros.made(node, site)
    if made is not None:
        return made
    type_node = node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    if _is_class_with_macro(type_node, declarator):
        return _class_with_macro(node, site)
    name = c.declared(declarator)
    if name is None:
        return None
    scopes = []
    for _ in range(_MOST_SCOPES):
        if name.type != "qualified_identifier":
            break
        scope, inner = name.child_by_field_name("scope"), name.child_by_field_name("name")
        if scope is not None:
            scopes.append(_without_arguments(site.read(scope)))
        if inner is None:
            break
        name = inner
    body = node.child_by_field_name("body")
    return Found(
        Kind.METHOD if scopes else Kind.FUNCTION,
        _name(name, site),
        name.start_byte,
        body.start_byte if body else -1,
        ".".join(scopes),
    )


def _name(node: Node, site: Site) -> str:
    """The name; a conversion operator's ends before its parentheses, a specialisation's before its arguments."""
    if node.type == "operator_cast":
        return site.read(node).partition("(")[0].strip()
    if node.type == "template_function":
        name = node.child_by_field_name("name")
        return site.read(name) if name else site.read(node)
    return site.read(node)


def _without_arguments(name: str) -> str:
    """``Foo<std::pair<K, V>>`` -> ``Foo``."""
    while True:
        shorter = _ARGUMENTS.sub("", name)
        if shorter == name:
            return name.strip().replace("::", ".")
        name = shorter


def _is_class_with_macro(type_node: Node | None, declarator: Node | None) -> bool:
    """``class EXPORT Name : Base {...}`` is read as a function ``Name`` of type ``class EXPORT``."""
    return (
        type_node is not None
        and type_node.type in c.TAGGED
        and type_node.child_by_field_name("body") is None
        and declarator is not None
        and declarator.type == "identifier"
    )


def _class_with_macro(node: Node, site: Site) -> Found | None:
    type_node, name = node.child_by_field_name("type"), node.child_by_field_name("declarator")
    if type_node is None or name is None:
        return None
    body = node.child_by_field_name("body")
    return Found(c.TAGGED[type_node.type], site.read(name), name.start_byte, body.start_byte if body else -1)


def _tagged(node: Node, site: Site) -> Found | None:
    found = c.tagged(node, site)
    if found is None:
        return None
    *scopes, name = _without_arguments(found.name).split(".")
    return found._replace(name=name, scope=".".join(scopes))


def _namespace(node: Node, site: Site) -> Found | None:
    """``namespace a::b`` is ``b`` in the scope ``a``."""
    found = named(Kind.NAMESPACE)(node, site)
    if found is None:
        return None
    *scopes, name = (part.strip() for part in found.name.replace("inline ", "").split("::"))
    return found._replace(name=name, scope=".".join(scopes))


_DEFINITIONS: dict[str, Rule] = c.DEFINITIONS | {
    "function_definition": _function,
    "struct_specifier": _tagged,
    "union_specifier": _tagged,
    "enum_specifier": _tagged,
    "class_specifier": _tagged,
    "namespace_definition": _namespace,
    "alias_declaration": named(Kind.TYPE, body="type"),
    "concept_definition": named(Kind.TYPE),
}

TABLE = Table(
    grammar="cpp",
    definitions=_DEFINITIONS,
    wrappers=frozenset({"template_declaration", "friend_declaration"}),
    imports={"preproc_include": "path"},
    leaves=c.LEAVES
    | {"template_parameter_list", "template_argument_list", "namespace_identifier", "base_class_clause"},
    tail=b";",
    hidden=macros.hidden,
)
