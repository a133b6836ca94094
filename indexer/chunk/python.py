"""Python: by `ast`, and by tree-sitter where `ast` refuses (Python 2, NUL bytes, deep nesting, a syntax error).

Both readers give the same bare facts, `_Bare`: where a definition's statement begins and ends, its decorators, name,
docstring and bases. Everything that takes judgement (which comments belong to it, where the signature ends) is
decided once, from the bytes, so that the two agree: which of them reads a file depends on the version of Python.

Imports are written as ``package.module.name``, one a name, with the leading dots of relative ones; a star is left
off. They are sorted.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tree_sitter_language_pack import get_language

from indexer.chunk import grammar
from indexer.chunk.pieces import BOM, trim
from indexer.chunk.spans import Definition, Lines, Outline, assemble
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tree_sitter import Node, TreeCursor

    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_AFTER_END = re.compile(rb"[ \t\f]*(?:;[ \t\f]*)?(?:#[^\r\n]*)?")
_COMMENT = re.compile(rb"([ \t\f]*)#[^\r\n]*")
_BLANK_LINE = re.compile(rb"[ \t\f]*(?:[\r\n]|\Z)")
_LINES_BELOW = 200  # how far comments are looked for below an end; nested definitions each look by themselves
_PLAIN = re.compile(rb"[uUrR]{0,2}[\"']")
_OPENING, _CLOSING = frozenset({b"(", b"[", b"{"}), frozenset({b")", b"]", b"}"})
_HEADER = re.compile(
    rb"""[^()\[\]{}:"'#\\]+|\\.|[bBrRuUfF]*(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:\\.|[^"\\\r\n])*"|'(?:\\.|[^'\\\r\n])*')"""
    rb"""|#[^\r\n]*|.""",
    re.DOTALL,
)


class _Bare(NamedTuple):
    """A definition as its reader sees it; byte offsets. ``floor``: where the statement before it ended."""

    kind: str
    name: str
    floor: int
    start: int  # the first decorator's sign, or `at`
    at: int  # "def", "async" or "class"
    body: int  # the first statement inside
    end: int  # of the last statement inside
    docstring: tuple[int, int]
    bases: tuple[str, ...]


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Chunks of a Python file."""
    found = outline(text)
    return assemble(
        text, language, found, settings, Kind.REST if found.definitions or not found.fallback else Kind.TEXT
    )


def outline(text: bytes) -> Outline:
    """Definitions and imports of a Python text, by whichever reader can."""
    return outline_by_ast(text) or outline_by_grammar(text)


def outline_by_ast(text: bytes) -> Outline | None:
    """By `ast`; None when it refuses the text."""
    source = _source(text)
    tree = _parse(source) if source is not None else None
    if tree is None:
        return None
    lines = Lines(text)
    reader = _Reader(text, lines.starts)
    reader.read(tree)
    return _outline(text, lines, reader.found, reader.imports)


def _outline(text: bytes, lines: Lines, found: Iterable[_Bare], imports: set[str]) -> Outline:
    judge = _Judge(text, lines.starts)
    return Outline([judge.definition(bare) for bare in found], tuple(sorted(imports)), lines=lines)


def _source(text: bytes) -> str | None:
    """The text for `ast`: without byte-order mark, as `str` so that a coding line does not count; None if it is not UTF-8."""
    try:
        return text.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        return None


def _parse(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" and the like: the author's business
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


class _Reader:
    """Walks the statements of an `ast` tree, without entering expressions and without recursion."""

    def __init__(self, text: bytes, starts: list[int]) -> None:
        self.found: list[_Bare] = []
        self.imports: set[str] = set()
        self._text = text
        self._starts = starts
        self._shift = len(BOM) if text.startswith(BOM) else 0

    def read(self, tree: ast.Module) -> None:
        todo: list[tuple[ast.stmt | None, Sequence[ast.stmt]]] = [(None, tree.body)]
        while todo:
            around, body = todo.pop()
            before: ast.stmt | None = None
            for statement in body:
                kind = type(statement)
                if kind in _DEFINITIONS:
                    self._define(statement, self._floor(before, around))  # type: ignore[arg-type]
                    todo.append((statement, statement.body))  # type: ignore[attr-defined]
                elif kind in _BLOCKS:
                    todo += [(statement, inner) for inner in _blocks(statement) if inner]
                elif kind is ast.Import:
                    self.imports.update(alias.name for alias in statement.names)  # type: ignore[attr-defined]
                elif kind is ast.ImportFrom:
                    self.imports.update(_from(statement))  # type: ignore[arg-type]
                before = statement

    def _floor(self, before: ast.stmt | None, around: ast.stmt | None) -> int:
        """Where comments above the next statement must begin: not inside the one before, nor in the header around."""
        if before is not None:
            return self._end(before)
        return self._start(around) if around is not None else 0

    def _start(self, node: ast.stmt | ast.expr) -> int:
        line = node.lineno
        return self._starts[line - 1] + node.col_offset + (self._shift if line == 1 else 0)

    def _end(self, node: ast.stmt | ast.expr) -> int:
        line = node.end_lineno or node.lineno
        return self._starts[line - 1] + (node.end_col_offset or 0) + (self._shift if line == 1 else 0)

    def _first(self, statement: ast.stmt, floor: int) -> int:
        """Where a statement begins, its decorators included."""
        if type(statement) in _DEFINITIONS and statement.decorator_list:  # type: ignore[attr-defined]
            decorator = self._start(statement.decorator_list[0])  # type: ignore[attr-defined]
            return max(self._text.rfind(b"@", floor, decorator), floor)
        return self._start(statement)

    def _define(self, statement: _Definition, floor: int) -> None:
        at = self._start(statement)
        body = self._first(statement.body[0], at)
        is_class = isinstance(statement, ast.ClassDef)
        bases = statement.bases if isinstance(statement, ast.ClassDef) else ()
        self.found.append(
            _Bare(
                Kind.CLASS if is_class else Kind.FUNCTION,
                statement.name,
                floor,
                self._first(statement, floor),
                at,
                body,
                self._end(statement),
                self._docstring(statement.body[0]),
                tuple(_one_line(self._text[self._start(base) : self._end(base)]) for base in bases),
            )
        )

    def _docstring(self, statement: ast.stmt) -> tuple[int, int]:
        if isinstance(statement, ast.Expr):
            value = statement.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return self._start(value), self._end(value)
        return 0, 0


_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_BLOCKS = frozenset(
    {ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match}
)


def _blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """The lists of statements right inside a compound statement."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, ())
    for name in ("handlers", "cases"):
        for clause in getattr(statement, name, ()):
            yield clause.body


def _from(statement: ast.ImportFrom) -> Iterator[str]:
    return _imported(
        "." * statement.level + (statement.module or ""), (alias.name for alias in statement.names)
    )


def _imported(module: str, names: Iterable[str]) -> Iterator[str]:
    dot = "" if module.endswith(".") else "."
    for name in names:
        yield module if name == "*" else f"{module}{dot}{name}"


def _one_line(raw: bytes) -> str:
    return " ".join(raw.decode("utf-8", "replace").split())


class _Judge:
    """Decides from the bytes what belongs to a definition."""

    def __init__(self, text: bytes, starts: list[int]) -> None:
        self._text = text
        self._starts = starts

    def definition(self, bare: _Bare) -> Definition:
        line, start = self._line(bare.start)
        column = bare.start - start
        return Definition(
            self._comments_above(bare.start, line, column, bare.floor),
            self._comments_below(bare.end, column),
            bare.at,
            bare.kind,
            bare.name,
            "",
            _signature(self._text, bare.at, bare.body),
            bare.docstring,
            bare.bases,
        )

    def _line(self, at: int) -> tuple[int, int]:
        """Index of the line of a byte, and where its text begins (behind a byte-order mark)."""
        index = bisect_right(self._starts, at) - 1
        return index, self._begin(index)

    def _begin(self, index: int) -> int:
        return len(BOM) if index == 0 and self._text.startswith(BOM) else self._starts[index]

    def _comments_above(self, start: int, line: int, column: int, floor: int) -> int:
        """The start, moved up over the comment lines directly above that are indented alike."""
        while line > 0:
            line -= 1
            above = self._begin(line)
            match = _COMMENT.match(self._text, above)
            if above < floor or not match or len(match[1]) != column:
                break
            start = above + column
        return start

    def _comments_below(self, end: int, column: int) -> int:
        """The end, moved over the comment on its line and over later comment lines that are indented deeper."""
        match = _AFTER_END.match(self._text, end)
        if match:
            end = trim(self._text, end, match.end())[1]
        index = bisect_right(self._starts, end)
        for at in self._starts[index : index + _LINES_BELOW]:
            match = _COMMENT.match(self._text, at)
            if match and len(match[1]) > column:
                end = trim(self._text, at, match.end())[1]
            elif not _BLANK_LINE.match(self._text, at):
                break
        return end


def _signature(text: bytes, at: int, body: int) -> tuple[int, int]:
    """From the keyword to before the colon that ends the header."""
    head = text[at:body]
    stripped = head.rstrip(b" \t\r\n\f\\")
    if stripped.endswith(b":") and b"#" not in head:
        return grammar.shorten(text, *trim(text, at, at + len(stripped) - 1))
    depth = 0
    for match in _HEADER.finditer(text, at, body):
        mark = match[0]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
        elif mark == b":" and depth == 0:
            return grammar.shorten(text, *trim(text, at, match.start()))
    return grammar.shorten(text, *trim(text, at, body))


def outline_by_grammar(text: bytes) -> Outline:
    """By tree-sitter: for what `ast` refuses; a text beyond the parser's bounds has no definitions and a reason."""
    tree = grammar.parse(get_language("python"), text)
    if tree is None:
        return Outline((), (), grammar.TOO_MANY_STEPS)
    reader = _TreeReader(text)
    if not reader.read(tree.walk()):
        return Outline((), (), grammar.TOO_MANY_NODES)
    return _outline(text, Lines(text), reader.found, reader.imports)


class _TreeReader:
    """Walks the statements of a tree-sitter tree; what is in none of `_ENTERED` is a statement or a piece of a header."""

    def __init__(self, text: bytes) -> None:
        self.found: list[_Bare] = []
        self.imports: set[str] = set()
        self._text = text
        self._depth = 0
        self._open: list[tuple[int, int]] = []  # depth and index of the definitions around
        self._decorated = (-1, 0, 0, 0)  # depth, start, end and floor of the last decorated definition
        self._end = 0  # of the last thing that was no comment: where a definition that is left ends

    def read(self, cursor: TreeCursor) -> bool:
        """Visit every statement; False when there are too many nodes."""
        left = grammar.node_budget(self._text)
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
            _Bare(
                Kind.CLASS if node.type == "class_definition" else Kind.FUNCTION,
                name_of(self._text, name),
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


def name_of(text: bytes, node: Node) -> str:
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
            yield _one_line(text[inner.start_byte : inner.end_byte])


def _tree_names(node: Node, text: bytes) -> Iterator[str]:
    """What stands in the ``name`` fields, without its alias."""
    for child in node.children_by_field_name("name"):
        name = child.child_by_field_name("name") if child.type == "aliased_import" else child
        if name is not None:
            yield name_of(text, name)


def _tree_from(node: Node, text: bytes) -> Iterator[str]:
    module = node.child_by_field_name("module_name")
    names = list(_tree_names(node, text)) or ["*"]
    return _imported(name_of(text, module) if module else "__future__", names)


_TREE_IMPORTS = {
    "import_statement": _tree_names,
    "import_from_statement": _tree_from,
    "future_import_statement": _tree_from,
}
