"""Invariant 6: whatever is in a text, cutting it ends in bounded time and memory, and all of it has a home.

The bounds on processor time are far above what any of these takes; without the budgets each would take minutes.
"""

from __future__ import annotations

import random
import time

import pytest

from indexer.chunk import chunk, walk
from indexer.chunk.tables import LANGUAGES
from indexer.chunk.tree import TOO_MANY_NODES
from indexer.settings import ChunkSettings
from indexer.types import Kind
from tests.chunk.promises import hold, text_of

SETTINGS = ChunkSettings()
LANGUAGES_HERE = ["python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "csharp"]
REPEATED = {
    "brackets": b"(",
    "closing": b"}",
    "angles": b"a<",
    "quotes": b'"',
    "strings": b'"a" ',
    "semicolons": b";",
    "blank lines": b"\n",
    "lone carriage returns": b"a\r",
    "comments": b"// a\n# a\n",
    "comment openings": b"/*",
    "members": b"a.",
    "ternaries": b"a?b:",
    "functions": b"function f(){",
    "structs": b"struct A{",
    "templates": b"template<class T> ",
    "template literals": b"`${",
    "macros": b"A_",
    "macro calls": b") A_(x)",
    "macro names": b"struct AAA b <x",
    "attributes": b"#[a]\n@A ",
    "words": b"a b c d ",
}


def cut_within(seconds: float, language: str, text: bytes) -> str:
    """Cut a text, hold the promises that are cheap to hold, and return the reason for a fallback."""
    start = time.process_time()
    found = chunk(language, text, SETTINGS)
    assert time.process_time() - start < seconds
    covered = sum(span.end - span.start for piece in found.chunks for span in piece.spans)
    overlaps = sum(len(text_of(text, piece)) for piece in found.chunks if piece.part > 1)
    blank = sum(text.count(space) for space in (b" ", b"\n", b"\r", b"\t", b"\x0b", b"\x0c"))
    assert len(text) - blank <= covered <= len(text) + overlaps
    return found.fallback


@pytest.mark.parametrize("language", LANGUAGES_HERE)
@pytest.mark.parametrize("unit", REPEATED.values(), ids=REPEATED.keys())
def test_repetition(language: str, unit: bytes) -> None:
    cut_within(5, language, unit * (6_000 // len(unit)))


@pytest.mark.parametrize("language", LANGUAGES_HERE)
def test_random_bytes(language: str) -> None:
    text = random.Random(8).randbytes(20_000)
    cut_within(5, language, text)


@pytest.mark.parametrize("language", LANGUAGES_HERE)
@pytest.mark.parametrize(
    "text", [b'"' + b"x" * 20_000 + b'"', b"/* " + b"words and " * 2000 + b"*/"], ids=["string", "comment"]
)
def test_one_huge_leaf_has_a_home(language: str, text: bytes) -> None:
    """S-019."""
    hold(text, chunk(language, text, SETTINGS), SETTINGS)


@pytest.mark.parametrize(
    ("language", "unit"), [("javascript", b"["), ("go", b"("), ("c", b"{"), ("rust", b"["), ("python", b"(")]
)
def test_a_hundred_thousand_brackets_deep(language: str, unit: bytes) -> None:
    """S-013."""
    cut_within(10, language, b"x = " + unit * 100_000)


def test_a_hundred_thousand_functions_deep() -> None:
    text = b"function f(){" * 100_000 + b"}" * 100_000
    assert cut_within(20, "javascript", text)


def test_five_thousand_brackets_hide_no_definition() -> None:
    """S-013."""
    text = b"const x = " + b"[" * 5000 + b"]" * 5000 + b";\nfunction after() {}\n"
    assert "after" in {piece.symbol for piece in chunk("javascript", text, SETTINGS).chunks}


def test_a_minified_file_is_cut_by_bytes() -> None:
    """S-027."""
    text = b"var a=function(b,c){return b+c},d=function(e){return e};" * 20_000
    start = time.process_time()
    found = chunk("javascript", text, SETTINGS)
    assert time.process_time() - start < 30
    assert max(len(text_of(text, piece)) for piece in found.chunks) <= 32 * SETTINGS.max_tokens


def test_a_parse_that_takes_too_much_is_given_up_and_told() -> None:
    """Without a bound this would take the C++ grammar gigabytes."""
    text = b"a<" * 50_000
    start = time.process_time()
    found = chunk("cpp", text, SETTINGS)
    assert time.process_time() - start < 10
    assert found.fallback == "the parse took too much memory"
    assert {piece.kind for piece in found.chunks} == {Kind.TEXT}


def test_a_tree_with_too_many_nodes_is_given_up_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "node_budget", lambda text: 10)
    found = chunk("go", b"package a\nfunc f() { g(1, 2, 3) }\n", SETTINGS)
    assert found.fallback == TOO_MANY_NODES
    assert {piece.kind for piece in found.chunks} == {Kind.TEXT}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_table_fits_its_grammar(language: str) -> None:
    """S-031: a release of the grammars that renames a node fails here, not in silence."""
    assert walk.load(language) is not None
    assert chunk(language, b"", SETTINGS).chunks == ()
