"""Python: by its lines (`python_scan`), and by `ast` or else tree-sitter where those cannot be told.

All three readers give the same bare facts, `indexer.chunk.statements.Bare`: where a definition's statement begins and
ends, its decorators, name, docstring and bases. Everything that takes judgement (which comments belong to it, where
the signature ends) is decided once, from the bytes, so that they agree: what `ast` takes depends on the version of
Python.

Imports are written as ``package.module.name``, one a name, with the leading dots of relative ones; a star is left
off. They are sorted.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from indexer.chunk import python_scan, python_tree
from indexer.chunk import text as plain
from indexer.chunk.pieces import BOM
from indexer.chunk.spans import Lines, Outline, assemble
from indexer.chunk.statements import Bare, imported, one_line, outlined
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks

# `ast` takes up to a kilobyte of memory a byte of dense code (a million bytes of "a" lines: 940 MB).
_LARGEST_FOR_AST = 250_000
_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Chunks of a Python file; as plain text, saying why, when neither reader can."""
    found = outline(text)
    if found.fallback:
        return replace(plain.chunk(language, text, settings), fallback=found.fallback)
    return assemble(text, language, found, settings)


def outline(text: bytes) -> Outline:
    """Definitions and imports of a Python text, by whichever reader can."""
    found = python_scan.outline(text)
    if found is None and len(text) <= _LARGEST_FOR_AST:
        found = outline_by_ast(text)
    return found or python_tree.outline(text)


def outline_by_ast(text: bytes) -> Outline | None:
    """By `ast`; None when it refuses the text."""
    tree = parse_source(text)
    if tree is None:
        return None
    lines = Lines(text)
    reader = _Reader(text, lines.starts)
    reader.read(tree)
    return outlined(text, lines, reader.found, reader.imports)


def parse_source(text: bytes) -> ast.Module | None:
    """The tree of `ast`; None when it refuses the text.

    It is given a `str`, so that a coding line does not count (the text is UTF-8 by now), without byte-order mark.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" and the like: the author's business
        try:
            return ast.parse(text.removeprefix(BOM).decode("utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # a UnicodeDecodeError is a ValueError
            return None


class _Reader:
    """Walks the statements of an `ast` tree, without entering expressions and without recursion."""

    def __init__(self, text: bytes, starts: list[int]) -> None:
        self.found: list[Bare] = []
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
            Bare(
                Kind.CLASS if is_class else Kind.FUNCTION,
                statement.name,
                floor,
                self._first(statement, floor),
                at,
                body,
                self._end(statement),
                self._docstring(statement.body[0]),
                tuple(one_line(self._text[self._start(base) : self._end(base)]) for base in bases),
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
    return imported(
        "." * statement.level + (statement.module or ""), (alias.name for alias in statement.names)
    )
