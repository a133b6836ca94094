"""Python by tree-sitter, for what `ast` refuses: the same facts as `indexer.chunk.python` finds, from another tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter_language_pack import get_language

from indexer.chunk.spans import Lines, Outline
from indexer.chunk.statements import Bare, imported, one_line, outlined
from indexer.chunk.tree import TOO_MANY_NODES, node_budget, parse
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, TreeCursor

_PLAIN = re.compile(rb"[uUrR]{0,2}[\"']")


def outline(text: bytes) -> Outline:
    """By tree-sitter: for what `ast` refuses; a text beyond the parser's bounds has no definitions and a reason."""
    tree = parse(get_language("python"), text)
    if isinstance(tree, str):
        return Outline((), (), tree)
    reader = _TreeReader(text)
    if not reader.read(tree.walk()):
        return Outline((), (), TOO_MANY_NODES)
    return outlined(text, Lines(text), reader.found, reader.imports)


class _TreeReader:
    """Walks the statements of a tree-sitter tree; what is in none of `_ENTERED` is a statement or a piece of a header."""

    def __init__(self, text: bytes) -> None:
        self.found: list[Bare] = []
        self.imports: set[str] = set()
        self._text = text
        self._depth = 0
        self._open: list[tuple[int, int]] = []  # depth and index of the definitions around
        self._decorated = (-1, 0, 0, 0)  # depth, start, end and floor of the last decorated definition
        self._end = 0  # of the last thing that was no comment: where a definition that is left ends

    def read(self, cursor: TreeCursor) -> bool:
        """Visit every statement; False when there are too many nodes."""
        left = node_budget(self._text)
        while left:
            left -= 1
            node = cursor.node
            assert node is not None
            if self._enter(node) and cursor.goto_first_child():
                self._depth += 1
                continue
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    self._leave()
                    return True
                self._depth -= 1
                self._leave()
            self._leave()
        return False

    def _leave(self) -> None:
        """Close the definitions that are not around the next node."""
        while self._open and self._open[-1][0] >= self._depth:
            _, index = self._open.pop()
            bare = self.found[index]
            self.found[index] = bare._replace(end=max(self._end, bare.end))

    def _enter(self, node: Node) -> bool:
        """Take note of a node; whether statements may be inside."""
        kind = node.type
        if kind in _TREE_DEFINITIONS:
            self._define(node)
        elif kind == "decorated_definition":
            self._decorated = (self._depth, node.start_byte, node.end_byte, self._end)
        elif kind in _TREE_IMPORTS:
            self.imports.update(_TREE_IMPORTS[kind](node, self._text))
        if kind in _ENTERED:
            return True
        if node.is_named and kind != "comment":
            self._end = max(self._end, node.end_byte)
        return False

    def _define(self, node: Node) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or name.start_byte == name.end_byte:
            return
        at = node.start_byte
        start, floor = at, self._end
        depth, above, upto, before = self._decorated
        if depth == self._depth - 1 and at < upto:
            start, floor = above, before
        first = _first_statement(body)
        bases = node.child_by_field_name("superclasses")
        self._open.append((self._depth, len(self.found)))
        self.found.append(
            Bare(
                Kind.CLASS if node.type == "class_definition" else Kind.FUNCTION,
                _name_of(self._text, name),
                floor,
                start,
                at,
                first.start_byte if first else node.end_byte,
                name.end_byte,
                _tree_docstring(first, self._text),
                tuple(_tree_bases(bases, self._text)) if bases else (),
            )
        )


_TREE_DEFINITIONS = frozenset({"function_definition", "class_definition"})
_ENTERED = _TREE_DEFINITIONS | frozenset(
    {"module", "block", "decorated_definition", "ERROR", "if_statement", "elif_clause", "else_clause"}
    | {"for_statement", "while_statement", "try_statement", "except_clause", "except_group_clause"}
    | {"finally_clause", "with_statement", "match_statement", "case_clause"}
)


def _name_of(text: bytes, node: Node) -> str:
    """The node's text without any white space."""
    return "".join(text[node.start_byte : node.end_byte].decode("utf-8", "replace").split())


def _first_statement(body: Node | None) -> Node | None:
    for child in body.named_children if body else ():
        if child.type != "comment":
            return child
    return None


def _unwrapped(node: Node) -> Node:
    """What is inside parentheses, or what a statement consists of."""
    while node.type in {"parenthesized_expression", "expression_statement"}:
        inner = [child for child in node.named_children if child.type != "comment"]
        if len(inner) != 1:
            break
        node = inner[0]
    return node


def _tree_docstring(statement: Node | None, text: bytes) -> tuple[int, int]:
    if statement is None:
        return 0, 0
    node = _unwrapped(statement)
    parts = node.named_children if node.type == "concatenated_string" else [node]
    for part in parts:
        if part.type != "comment" and not (part.type == "string" and _PLAIN.match(text, part.start_byte)):
            return 0, 0
    return node.start_byte, node.end_byte


def _tree_bases(bases: Node, text: bytes) -> Iterator[str]:
    for child in bases.named_children:
        if child.type not in {"keyword_argument", "dictionary_splat", "comment"}:
            inner = _unwrapped(child)
            yield one_line(text[inner.start_byte : inner.end_byte])


def _tree_names(node: Node, text: bytes) -> Iterator[str]:
    """What stands in the ``name`` fields, without its alias."""
    for child in node.children_by_field_name("name"):
        name = child.child_by_field_name("name") if child.type == "aliased_import" else child
        if name is not None:
            yield _name_of(text, name)


def _tree_from(node: Node, text: bytes) -> Iterator[str]:
    module = node.child_by_field_name("module_name")
    names = list(_tree_names(node, text)) or ["*"]
    return imported(_name_of(text, module) if module else "__future__", names)


_TREE_IMPORTS = {
    "import_statement": _tree_names,
    "import_from_statement": _tree_from,
    "future_import_statement": _tree_from,
}
