from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer import tokens
from indexer.errors import QueryError
from indexer.search import Corpus, Request, literal
from indexer.search.literal import known_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.search.tree import Tree

FILES = {
    "a.py": "import os\n\n\ndef open_file(path):\n    # the very_long name here\n    return os.open(path, os.O_RDONLY)\n",
    "b/b.py": "x = 1\r\ny = open_files(path)\r\n\r\nz = open_file(path)\r\n",
    "c.md": "# 标题\n\n打开数据库文件的函数。\n",
    "d.txt": "one\rtwo open_file(path)\rthree\r",
}


def find(tree: Tree, corpus: Corpus, text: str, **filters: object) -> list[tuple[str, int, int]]:
    request = Request(text, **{"k": 100} | filters)  # type: ignore[arg-type]
    return [
        (hit.path, hit.start_line, hit.end_line) for hit in literal(corpus, request, read_text=tree.read).hits
    ]


@pytest.fixture
def corpus(tree: Tree) -> Corpus:
    return tree.write(FILES).index()


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("open_file(path)", [("a.py", 4, 4), ("b/b.py", 4, 4), ("d.txt", 2, 2)]),
        ("pen_fil", [("a.py", 4, 4), ("b/b.py", 2, 2), ("b/b.py", 4, 4), ("d.txt", 2, 2)]),
        ("the very_long name", [("a.py", 5, 5)]),
        ("e very_long nam", [("a.py", 5, 5)]),
        ("(path):\n    # the", [("a.py", 4, 5)]),
        ("= 1\r\ny = open", [("b/b.py", 1, 2)]),
        ("= 1\r\n", [("b/b.py", 1, 1)]),
        (")\r\n\r\n", [("b/b.py", 2, 3)]),
        ("数据库", [("c.md", 3, 3)]),
        ("开数据库文", [("c.md", 3, 3)]),
        ("OPEN_FILE", []),
        ("nowhere", []),
        ("the very_other name", []),
    ],
)
def test_occurrences(tree: Tree, corpus: Corpus, text: str, places: list[tuple[str, int, int]]) -> None:
    assert find(tree, corpus, text) == places


def test_a_hit_tells_the_line_and_the_symbol_around_it(tree: Tree, corpus: Corpus) -> None:
    hit = literal(corpus, Request("os.O_RDONLY"), read_text=tree.read).hits[0]
    assert (hit.symbol, hit.kind, hit.text) == (
        "open_file",
        "function",
        "    return os.open(path, os.O_RDONLY)",
    )
    assert not hit.stale


def test_filters_and_k(tree: Tree, corpus: Corpus) -> None:
    assert find(tree, corpus, "open_file(path)", path=("b",)) == [("b/b.py", 4, 4)]
    assert find(tree, corpus, "open_file", kind=("function",)) == [("a.py", 4, 4)]
    assert find(tree, corpus, "open_file", k=2) == [("a.py", 4, 4), ("b/b.py", 2, 2)]


def test_text_of_now_under_a_name_that_may_be_old(tree: Tree, corpus: Corpus) -> None:
    (tree.root / "a.py").write_text("# new first line\n" + FILES["a.py"])
    hit = literal(corpus, Request("the very_long name"), read_text=tree.read).hits[0]
    assert (hit.start_line, hit.stale) == (6, True)
    (tree.root / "a.py").unlink()
    assert find(tree, corpus, "the very_long name") == []


def test_only_files_with_the_words_are_read(tree: Tree, corpus: Corpus) -> None:
    read: list[str] = []

    def watching(read_text: Callable[[str], bytes | None]) -> Callable[[str], bytes | None]:
        return lambda path: read.append(path) or read_text(path)  # type: ignore[func-returns-value]

    literal(corpus, Request(" very_long "), read_text=watching(tree.read))
    assert read == ["a.py"]


def test_a_long_line_is_cut_around_the_occurrence(tree: Tree) -> None:
    corpus = tree.write({"long.txt": "word " * 20_000 + "needle" + " word" * 20_000}).index()
    text = literal(corpus, Request("needle"), read_text=tree.read).hits[0].text
    assert "needle" in text
    assert len(text) < 1000


def test_a_nul_byte_is_told(corpus: Corpus, tree: Tree) -> None:
    with pytest.raises(QueryError, match="NUL"):
        literal(corpus, Request("a\0b"), read_text=tree.read)


PIECES = st.lists(
    st.sampled_from(["foo", "fooBar", "_", " ", ".", "数据", "。", "x", "the", "é", "か", "\u3099", "\n"]),
    max_size=14,
)


@given(PIECES.map("".join), st.integers(0, 20), st.integers(0, 20))
@settings(deadline=None)
def test_whatever_holds_the_text_holds_its_terms(text: str, start: int, length: int) -> None:
    """The narrowing never loses a file: the terms it asks for are terms of any text around the wanted one."""
    data = text.encode()
    wanted = data[start : start + length]
    assert set(known_terms(wanted)) <= set(tokens.terms_of(data))
