"""Definitions with their documentation taken out: what pairs and function-level tests are made of.

Python is read by its own parser, every other language by `indexer.chunk`, whose chunks say where a definition's doc
comment stands. A definition's code is the whole of it, nested definitions included, moved to the left margin.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.chunk import chunk
from indexer.settings import ChunkSettings
from indexer.train.doctext import plain
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexer.types import Chunk

FUNCTIONS = frozenset({Kind.FUNCTION, Kind.METHOD})
TYPES = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.STRUCT, Kind.ENUM, Kind.TRAIT, Kind.TYPE})
_WHOLE = ChunkSettings(max_tokens=8192, overlap=0)
# Languages in which a comment for the reader of the documentation looks unlike one for the reader of the code.
_FORMAL = frozenset(
    {"java", "javascript", "typescript", "tsx", "php", "csharp", "rust", "kotlin", "scala", "swift"}
)
_FORMAL_MARK = re.compile(rb"/\*[*!]|///|//!|#\[doc|\"\"\"")
_TEST_SCOPE = re.compile(r"\b(?:tests?|bench(?:es|marks)?)\b")
_TEST_NAME = re.compile(r"(?:test_|Test[A-Z]|Benchmark[A-Z]|Example[A-Z]|bench_)")
_BRACKETS_ONLY = re.compile(r"^\s*(?:[\s{}()\[\];,]*|end[;.]?)$")


@dataclass(frozen=True, slots=True)
class Documented:
    """One definition. ``doc`` is plain text, "" for none; ``code`` is without it.

    ``formal`` says that ``doc`` is written as documentation (a docstring, a ``/** */``), where the language tells
    this from other comments. ``inner`` is the code behind the signature; ``body`` counts the lines behind the signature (Python: behind the docstring) that say something.
    """

    symbol: str
    scope: str
    kind: str
    start_line: int
    end_line: int
    signature: str
    doc: str
    code: str
    inner: str
    body: int
    formal: bool = True


def definitions(language: str, text: bytes) -> Iterator[Documented]:
    """Every function, method and type of a file. What cannot be parsed has none."""
    if language == "python":
        yield from _of_python(text.decode("utf-8", "replace"))
    else:
        yield from _of_chunks(language, text)


def is_test(one: Documented) -> bool:
    """Whether a definition belongs to tests that stand in a file of the product, as Rust's do."""
    return bool(_TEST_SCOPE.search(one.scope)) or bool(_TEST_NAME.match(one.symbol))


def _of_python(text: str) -> Iterator[Documented]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while waiting:
        node, scope = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if (found := _python_definition(child, scope, lines)) is not None:
                    yield found
                waiting.append((child, (*scope, child.name)))
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                waiting.append((child, scope))


def _python_definition(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: tuple[str, ...], lines: list[str]
) -> Documented | None:
    doc = ast.get_docstring(node) or ""
    first, end = node.lineno - 1, node.end_lineno or node.lineno
    body = end
    head = node.body[0].lineno - 1
    if doc:
        body = node.body[0].end_lineno or end
        if head == first or len(node.body) == 1:
            return None  # on one line, or nothing but a docstring
    else:
        body = head
    margin = len(lines[first]) - len(lines[first].lstrip())
    kept = lines[first:head] + lines[body:end]
    is_class = isinstance(node, ast.ClassDef)
    return Documented(
        symbol=node.name,
        scope=".".join(scope),
        kind=Kind.CLASS if is_class else Kind.METHOD if scope else Kind.FUNCTION,
        start_line=first + 1,
        end_line=end,
        signature=" ".join(line.strip() for line in lines[first : max(head, first + 1)]),
        doc=doc,
        code="\n".join(_moved(line, margin) for line in kept),
        inner="\n".join(_moved(line, margin) for line in lines[body:end]),
        body=sum(1 for line in lines[body:end] if line.strip()),
    )


def _moved(line: str, margin: int) -> str:
    return line[margin:] if not line[:margin].strip() else line


def _of_chunks(language: str, text: bytes) -> Iterator[Documented]:
    chunks = chunk(language, text, _WHOLE).chunks
    ends = _ends(chunks)
    for number, one in enumerate(chunks):
        if one.part == 0 and one.symbol and one.kind in FUNCTIONS | TYPES:
            yield _chunk_definition(language, text, one, ends[number])


def _ends(chunks: tuple[Chunk, ...]) -> list[tuple[int, int]]:
    """Where each chunk with all that hangs below it ends: byte, line. A parent stands before its children."""
    ends = [(one.spans[-1].end, one.spans[-1].end_line) for one in chunks]
    for number in range(len(chunks) - 1, -1, -1):
        parent = chunks[number].parent
        if parent >= 0:
            ends[parent] = max(ends[parent], ends[number])
    return ends


def _chunk_definition(language: str, text: bytes, one: Chunk, end: tuple[int, int]) -> Documented:
    start, (doc_start, doc_end) = one.spans[0].start, one.docstring
    inside = start <= doc_start < doc_end <= end[0]
    pieces = [text[start:doc_start], text[doc_end : end[0]]] if inside else [text[start : end[0]]]
    code = "\n".join(piece.decode("utf-8", "replace").strip("\r\n") for piece in pieces if piece.strip())
    lines = code.replace("\r\n", "\n").split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[-1:] if line.strip()), default=0)
    inner = text[one.signature[1] or start : end[0]].decode("utf-8", "replace").split("\n")
    return Documented(
        symbol=one.symbol,
        scope=one.scope,
        kind=one.kind,
        start_line=one.spans[0].start_line,
        end_line=end[1],
        signature=" ".join(text[slice(*one.signature)].decode("utf-8", "replace").split()),
        doc=plain(language, text[doc_start:doc_end].decode("utf-8", "replace")),
        code="\n".join(_moved(line, margin) for line in lines).strip(),
        inner="\n".join(_moved(line, margin) for line in inner).strip(),
        body=sum(1 for line in inner if not _BRACKETS_ONLY.match(line)),
        formal=language not in _FORMAL or bool(_FORMAL_MARK.match(text, doc_start)),
    )
