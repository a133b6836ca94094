"""C: functions under whatever declarators, tagged and typedef'd types, macros with parameters.

``typedef struct tag {...} Name;`` is one chunk when tag and name are the same or there is no tag; otherwise the struct
is ``tag``, with the typedef around it, and what follows it is ``Name``. C++ builds on the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, bases_of, named
from indexer.chunk.tables import macros
from indexer.types import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

TAGGED = {
    "struct_specifier": Kind.STRUCT,
    "union_specifier": Kind.STRUCT,
    "class_specifier": Kind.CLASS,
    "enum_specifier": Kind.ENUM,
}
_NAMES = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "destructor_name",
        "operator_name",
    }
    | {"operator_cast", "template_function", "primitive_type"}
)
_MOST_DECLARATORS = 50  # a name inside more pointers, arrays and parentheses than this is no name


def declared(node: Node | None) -> Node | None:
    """The name inside a declarator: ``*(*f)(int)`` -> ``f``."""
    for _ in range(_MOST_DECLARATORS):
        if node is None or node.type in _NAMES:
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None:  # some declarators hold the next one without a field
            inner = next((child for child in node.named_children if _is_declarator(child)), None)
        node = inner
    return None


def _is_declarator(node: Node) -> bool:
    return node.type.endswith("declarator") or node.type in _NAMES


def _function(node: Node, site: Site) -> Found | None:
    made = macros.made(node, site)
    if made is not None:
        return made
    name = declared(node.child_by_field_name("declarator"))
    if name is None:
        return None
    body = node.child_by_field_name("body")
    return Found(Kind.FUNCTION, site.read(name), name.start_byte, body.start_byte if body else -1)


def tagged(node: Node, site: Site) -> Found | None:
    """A struct, union, enum or class with a tag and a body."""
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        return None
    found = Found(TAGGED[node.type], site.read(name), name.start_byte, body.start_byte)
    parent = site.parents[-1] if site.parents else None
    if parent is not None and parent.type == "type_definition":
        if _is_whole(parent, node, site):
            return None
        return found._replace(start=parent.start_byte)
    return found._replace(bases=bases_of(node, site, ("base_class_clause",)))


def _is_whole(typedef: Node, type_node: Node, site: Site) -> bool:
    """Whether a typedef and the type with a body in it are one definition: no tag, or the same name."""
    tag, name = type_node.child_by_field_name("name"), declared(typedef.child_by_field_name("declarator"))
    return tag is None or (name is not None and site.read(tag) == site.read(name))


def typedef(node: Node, site: Site) -> Found | None:
    """``typedef``: the whole of it, or what follows the struct with another name in it."""
    name, type_node = declared(node.child_by_field_name("declarator")), node.child_by_field_name("type")
    if name is None or type_node is None:
        return None
    body = type_node.child_by_field_name("body")
    kind = TAGGED.get(type_node.type)
    if kind is None or body is None:
        return Found(Kind.TYPE, site.read(name), name.start_byte)
    if not _is_whole(node, type_node, site):
        return Found(Kind.TYPE, site.read(name), name.start_byte, start=type_node.end_byte)
    tag = type_node.child_by_field_name("name")
    return Found(kind, site.read(name), (tag or name).start_byte, body.start_byte)


DEFINITIONS: dict[str, Rule] = {
    "function_definition": _function,
    "struct_specifier": tagged,
    "union_specifier": tagged,
    "enum_specifier": tagged,
    "type_definition": typedef,
    "preproc_function_def": named(Kind.MACRO, body="value"),
}
LEAVES = frozenset(
    {"identifier", "type_identifier", "field_identifier", "string_literal", "parameter_list", "preproc_def"}
    | {"enumerator_list", "number_literal", "preproc_include", "preproc_function_def", "char_literal"}
)

TABLE = Table(
    grammar="c",
    definitions=DEFINITIONS,
    imports={"preproc_include": "path"},
    leaves=LEAVES | {"expression_statement", "return_statement", "initializer_list"},
    tail=b";",
    hidden=macros.hidden_for_c,
)
