"""What the rules of several tables ask of a node: a child of some type, a name in its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found, Rule, Site, bases_of
from indexer.chunk.pieces import trim

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

    from indexer.chunk.spans import Definition


def child(node: Node, *types: str) -> Node | None:
    """The first direct child of one of these types, named or not."""
    return next((inner for inner in node.children if inner.type in types), None)


def qualified(name: str, *separators: str) -> tuple[str, str]:
    """``A::B::c`` -> (``A.B``, ``c``): scope and name; separators that begin the name are dropped."""
    for separator in separators:
        name = name.replace(separator, ".")
    scope, _, last = name.strip(".").rpartition(".")
    return scope, last


def typed(
    kind: str, name: Sequence[str], body: Sequence[str] = (), bases: Sequence[str] = (), quotes: str = "`\"'"
) -> Rule:
    """As `indexer.chunk.grammar.named`, for grammars that tell name and body by their node types, not by fields."""

    def rule(node: Node, site: Site) -> Found | None:
        name_node = child(node, *name)
        if name_node is None or name_node.start_byte == name_node.end_byte:
            return None
        body_node = child(node, *body)
        return Found(
            kind,
            site.read(name_node).strip(quotes),
            name_node.start_byte,
            body_node.start_byte if body_node else -1,
            bases=bases_of(node, site, bases) if bases else (),
        )

    return rule


def cut_at_next(*kinds: str) -> Callable[[list[Definition], bytes], list[Definition]]:
    """A table's ``finish`` for statements that reach to the next of their kinds (``package A;``), or as far as given.

    Two of them that end together are neighbours; one that ends earlier stands inside.
    """

    def finish(definitions: list[Definition], text: bytes) -> list[Definition]:
        cut = list(definitions)
        last: dict[int, int] = {}  # end -> index of the last one that reaches there
        for index, definition in enumerate(definitions):
            if definition.kind not in kinds:
                continue
            before = last.get(definition.end)
            if before is not None:
                cut[before] = replace(cut[before], end=trim(text, cut[before].start, definition.start)[1])
            last[definition.end] = index
        return cut

    return finish
