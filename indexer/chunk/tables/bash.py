"""Bash (and sh): functions in both syntaxes, nested ones too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk.grammar import Site, Table, named
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node


def _sourced(node: Node, site: Site) -> Iterable[str]:
    name, argument = node.child_by_field_name("name"), node.child_by_field_name("argument")
    # ``load`` is what Bats has for it.
    if name is None or argument is None or site.read(name) not in {"source", ".", "load"}:
        return []
    return [site.read(argument)]


TABLE = Table(
    grammar="bash",
    definitions={"function_definition": named(Kind.FUNCTION)},
    imports={"command": _sourced},
    leaves=frozenset({"word", "raw_string", "simple_expansion", "heredoc_body", "command_name"}),
)
