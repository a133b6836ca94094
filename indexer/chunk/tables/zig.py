"""Zig: functions, named tests, and constants that name a struct, enum, union, opaque or error set."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Site, Table
from indexer.chunk.tables.nodes import child
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

_PUBLIC = re.compile(rb"\bpub\s+\Z")
_LONGEST_PUBLIC = 16
_C_INCLUDE = re.compile(rb'@cInclude\("([^"\r\n]{1,200})"\)')
_STATEMENTS = frozenset({"Decl", "Statement"})


def _start(node: Node, site: Site) -> int:
    """``pub`` stands beside the declaration's node, not in it."""
    window = max(0, node.start_byte - _LONGEST_PUBLIC)
    public = _PUBLIC.search(site.text, window, node.start_byte)
    return public.start() if public else node.start_byte


def _function(node: Node, site: Site) -> Found | None:
    head = child(node, "FnProto")
    name = head.child_by_field_name("function") if head else None
    if head is None or name is None:
        return None
    return Found(Kind.FUNCTION, _bare(name, site), name.start_byte, head.end_byte, start=_start(node, site))


def _type(node: Node, site: Site) -> Found | None:
    """``const X = struct { ... }``, at any level."""
    container, name = _container(node), node.child_by_field_name("variable_type_function")
    if container is None or name is None:
        return None
    keyword = site.text[container.start_byte : container.end_byte].split(maxsplit=1)[0]
    is_enum = container.type == "ErrorSetDecl" or keyword.startswith(b"enum")
    outer = site.parents[-1]
    start, end = (_start(outer, site), outer.end_byte) if outer.type in _STATEMENTS else (-1, -1)
    kind = Kind.ENUM if is_enum else Kind.STRUCT
    return Found(kind, _bare(name, site), name.start_byte, start=start, end=end)


def _bare(name: Node, site: Site) -> str:
    read = site.read(name)
    return read[2:-1] if read.startswith('@"') else read


def _container(variable: Node) -> Node | None:
    """The type that is the whole value of ``const X = struct { ... }``."""
    value = variable.named_child(variable.named_child_count - 1)
    while (
        value is not None and value.type in {"ErrorUnionExpr", "SuffixExpr"} and value.named_child_count == 1
    ):
        value = value.named_child(0)
    return value if value and value.type in {"ContainerDecl", "ErrorSetDecl"} else None


def _test(node: Node, site: Site) -> Found | None:
    name = child(node, "STRINGLITERALSINGLE", "IDENTIFIER")
    body = child(node, "Block")
    read = site.read(name).strip('"') if name else "test"
    return Found(Kind.FUNCTION, read or "test", node.start_byte, body.start_byte if body else -1)


def _imported(node: Node, site: Site) -> Iterable[str]:
    """``@import("std")``, ``@cImport(@cInclude("a.h"))``."""
    builtin, arguments = child(node, "BUILTINIDENTIFIER"), child(node, "FnCallArguments")
    if (
        builtin is None
        or arguments is None
        or site.read(builtin) not in {"@import", "@cImport", "@embedFile"}
    ):
        return []
    if site.read(builtin) == "@cImport":
        text = site.text[arguments.start_byte : arguments.end_byte]
        return [name.decode("utf-8", "replace") for name in _C_INCLUDE.findall(text)]
    return [site.read(arguments).strip('()"')]


TABLE = Table(
    grammar="zig",
    definitions={"Decl": _function, "VarDecl": _type, "TestDecl": _test},
    comments=frozenset({"doc_comment", "line_comment", "container_doc_comment"}),
    imports={"SuffixExpr": _imported},
    leaves=frozenset(
        {"IDENTIFIER", "STRINGLITERALSINGLE", "INTEGER", "FnProto", "BuildinTypeExpr", "LINESTRING"}
    ),
)
