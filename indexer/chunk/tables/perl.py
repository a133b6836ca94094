"""Perl: packages, classes and roles (blocks, or statements that reach to the next one), subs, methods, named globs.

``sub`` in a package is a function, ``method`` in a class a method. POD directly above (no blank line) is a comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, Table, named
from indexer.chunk.tables.nodes import child, cut_at_next, qualified
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


def _package(kind: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        found = named(kind)(node, site)
        if found is None:
            return None
        scope, name = qualified(found.name, "::", "'")
        block = child(node, "block")
        if block:
            return found._replace(scope=scope, name=name, body=block.start_byte)
        return found._replace(scope=scope, name=name, end=site.parents[-1].end_byte)

    return rule


def _sub(kind: str) -> Rule:
    def rule(node: Node, site: Site) -> Found | None:
        found = named(kind)(node, site)
        if found is None:
            return None
        scope, name = qualified(found.name, "::")
        return found._replace(scope=scope, name=name)

    return rule


def _glob(node: Node, site: Site) -> Found | None:
    """``*name = sub { ... };``."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    name = child(left, "varname") if left and left.type == "glob" else None
    if (
        name is None
        or name.named_child_count
        or right is None
        or right.type != "anonymous_subroutine_expression"
    ):
        return None
    scope, bare = qualified(site.read(name), "::")
    return Found(Kind.FUNCTION, bare, name.start_byte, right.start_byte, scope)


def _used(node: Node, site: Site) -> Iterable[str]:
    module = node.child_by_field_name("module")
    if module is None:
        return []
    name = site.read(module)
    if name not in {"parent", "base"}:
        return [name]
    words = [word.strip("'\"(),") for word in site.read(node).rstrip(";").replace("qw(", " ").split()[2:]]
    return [word for word in words if word and not word.startswith(("-", "qw"))]


def _required(node: Node, site: Site) -> Iterable[str]:
    name = child(node, "bareword", "string_literal")
    return [site.read(name)] if name else []


TABLE = Table(
    grammar="perl",
    definitions={
        "package_statement": _package(Kind.NAMESPACE),
        "class_statement": _package(Kind.CLASS),
        "role_statement": _package(Kind.TRAIT),
        "subroutine_declaration_statement": _sub(Kind.FUNCTION),
        "method_declaration_statement": _sub(Kind.METHOD),
        "assignment_expression": _glob,
    },
    comments=frozenset({"comment", "pod"}),
    wrappers=frozenset({"expression_statement"}),
    imports={"use_statement": _used, "require_expression": _required},
    leaves=frozenset(
        {"bareword", "scalar", "string_literal", "interpolated_string_literal", "heredoc_content"}
    ),
    tail=b";",
    ends_its_lines=True,
    finish=cut_at_next(Kind.NAMESPACE, Kind.CLASS, Kind.TRAIT),
)
