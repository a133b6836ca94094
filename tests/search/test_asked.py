"""Filters inside a question: what is one, what stays text, and what each lets through, on real indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.errors import QueryError
from indexer.search import FILTERS, Corpus, Found, find, read_request
from indexer.search.asked import take_filters

if TYPE_CHECKING:
    from tests.search.tree import Tree


@pytest.mark.parametrize(
    ("query", "text", "filters"),
    [
        ("retry kind:class", "retry", {"kind": ("class",)}),
        ("kind:class", "", {"kind": ("class",)}),
        ("lang:go how is a lane closed lang:rust", "how is a lane closed", {"lang": ("go", "rust")}),
        ("path:src/** -path:tests x", "x", {"path": ("src/**", "!tests")}),
        ("path:!tests x", "x", {"path": ("!tests",)}),
        ("-kind:section x", "x", {"kind": ("!section",)}),
        ('name:"a b" x', "x", {"name": ("a b",)}),
        ("calls:print() calls:os.open", "", {"calls": ("print", "os.open")}),
        ("inherits:Generic[T]", "", {"inherits": ("Generic[T]",)}),
        ("calls:std::move x", "x", {"calls": ("std::move",)}),
        ("a  b\n kind:class\n\n c", "a  b\n\n c", {"kind": ("class",)}),
    ],
)
def test_what_is_a_filter(query: str, text: str, filters: dict[str, tuple[str, ...]]) -> None:
    assert take_filters(query) == (text, filters)


@pytest.mark.parametrize(
    "query",
    [
        "std::vector",
        "http://x/y",
        "foo:bar",
        "kind: class",
        "kind:",
        "x:kind:class",
        "Kind:class",
        'name:"unclosed',
        "def f(path:str, name:str, kind:int=3):",
        "{ name:value; }",
        "name:value, more",
        "'kind:class'",
        "--kind:class",
    ],
)
def test_what_stays_text(query: str) -> None:
    assert take_filters(query) == (query, {})


WORDS = st.sampled_from(
    ["kind:class", "path:", ":", '"', "-", "!", "lang:go", "calls:f()", " ", "\n", "x", "é", "name:*"]
)


@given(st.lists(WORDS | st.text(max_size=4), max_size=12).map("".join))
def test_any_text_can_be_read(query: str) -> None:
    text, filters = take_filters(query)
    assert set(filters) <= set(FILTERS)
    assert filters or text == query


def test_a_filter_far_behind_in_a_pasted_file_is_text() -> None:
    query = "word " * 3000 + "kind:class"
    assert take_filters(query) == (query, {})


def test_filters_of_both_doors_are_joined_and_literal_text_is_left_alone() -> None:
    request = read_request("x lang:go", {"lang": ("rust",)})
    assert (request.query, request.lang) == ("x", ("rust", "go"))
    assert read_request("x lang:go", {}, literal=True).query == "x lang:go"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("x kind:klass", 'kind: "klass" is none of'),
        ("x -kind:klass", 'kind: "klass" is none of'),
        ("x name:! y", None),
        ("calls:get_*", 'calls: "get_\\*" is a pattern'),
    ],
)
def test_a_wrong_value_is_told(query: str, message: str | None) -> None:
    if message is None:
        assert read_request(query, {}).query == query
        return
    with pytest.raises(QueryError, match=message):
        read_request(query, {})


FILES = {
    "src/store.py": '''import os


class Base:
    """What is kept."""


class Store(Base, models.Model):
    """Rows on disk."""

    def get_rows(self):
        return os.open(self.path)

    def getRows(self):
        return self.get_rows()


class Typed(Generic[T], metaclass=Meta):
    limit = 3


class Far(Store):
    pass
''',
    "src/store.go": "package store\n\ntype Store struct {\n\tBase\n}\n\nfunc (s *Store) Rows() int {\n\treturn 1\n}\n",
    "lib/store.ts": "export class Store<T> extends Base<T> implements Rows {\n  rows(): T[] {\n    return [];\n  }\n}\n",
    "tests/test_store.py": "class StoreTest(unittest.TestCase):\n    def test_rows(self):\n        Store().get_rows()\n",
    "README.md": "# Store\n\nKeeps rows.\n",
}


@pytest.fixture
def corpus(tree: Tree) -> Corpus:
    return tree.write(FILES).index()


def ask(tree: Tree, corpus: Corpus, query: str, **options: object) -> Found:
    request = read_request(query, {}, **{"k": 100} | options)  # type: ignore[arg-type]
    return find(corpus, request, embedder=tree.embedder, read_text=tree.read)


def listed(tree: Tree, corpus: Corpus, query: str) -> list[str]:
    found = ask(tree, corpus, query)
    assert found.mode == "list"
    assert found.weak is None
    return [f"{hit.path}:{hit.symbol}" for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("kind:class path:src/**", ["src/store.py:Base", "src/store.py:Store", "src/store.py:Typed", "src/store.py:Far"]),
        ("kind:class -path:src", ["lib/store.ts:Store", "tests/test_store.py:StoreTest"]),
        ("kind:struct kind:class lang:go lang:ts", ["lib/store.ts:Store", "src/store.go:Store"]),
        ("name:store -kind:section", ["lib/store.ts:Store", "src/store.go:Store", "src/store.py:Store"]),
        ("name:get_*", ["src/store.py:get_rows"]),
        ("name:getrows", ["src/store.py:getRows"]),
        ("name:GetRows", []),
        ("name:getRows", ["src/store.py:getRows"]),
        ("name:*rows lang:python", ["src/store.py:get_rows", "src/store.py:getRows", "tests/test_store.py:test_rows"]),
        ("name:Store.get*", ["src/store.py:get_rows", "src/store.py:getRows"]),
        ("name:store::get_rows", ["src/store.py:get_rows"]),
        ("name:Other.get*", []),
        ("name:?tore lang:go", ["src/store.go:Store"]),
        ("inherits:Base", ["lib/store.ts:Store", "src/store.py:Store"]),
        ("inherits:Model", ["src/store.py:Store"]),
        ("inherits:models.Model", ["src/store.py:Store"]),
        ("inherits:other.Model", []),
        ("inherits:Generic", ["src/store.py:Typed"]),
        ("inherits:test*", ["tests/test_store.py:StoreTest"]),
        ("inherits:Test*", ["tests/test_store.py:StoreTest"]),
        ("kind:class lang:py -inherits:*", ["src/store.py:Base"]),
        ("inherits:Store", ["src/store.py:Far"]),
        ("calls:get_rows", ["src/store.py:getRows", "tests/test_store.py:test_rows"]),
        ("calls:os.open", ["src/store.py:get_rows"]),
        ("calls:open", ["src/store.py:get_rows"]),
        ("calls:os.get_rows", []),
        ("calls:get_rows -calls:Store", ["src/store.py:getRows"]),
    ],
)  # fmt: skip
def test_filters_alone_list_what_passes(tree: Tree, corpus: Corpus, query: str, hits: list[str]) -> None:
    assert listed(tree, corpus, query) == hits


def test_a_list_is_in_the_order_of_paths_and_tells_how_long_it_is(tree: Tree, corpus: Corpus) -> None:
    found = ask(tree, corpus, "kind:class kind:struct kind:method", k=2)
    assert [hit.path for hit in found.hits] == ["lib/store.ts", "lib/store.ts"]
    assert {hit.score for hit in found.hits} == {1.0}
    assert found.notes == ("the first 2 of 12; -k shows more",)


def test_equal_contents_are_listed_once(tree: Tree) -> None:
    text = "def discount(price):\n    return price * 0.9\n"
    corpus = tree.write({"b.py": text, "a.py": text, "c.py": "def other():\n    pass\n"}).index()
    hits = ask(tree, corpus, "kind:function").hits
    assert [(hit.path, hit.also) for hit in hits] == [("a.py", (("b.py", 1),)), ("c.py", ())]


def test_filters_narrow_a_question(tree: Tree, corpus: Corpus) -> None:
    hits = ask(tree, corpus, "rows on disk inherits:Model").hits
    assert [hit.symbol for hit in hits] == ["Store"]
    assert {hit.language for hit in ask(tree, corpus, "store rows lang:go").hits} == {"go"}


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("store lang:pyhton", "lang: nothing here is pyhton"),
        ("store lang:rust", "lang: there are python"),
        ("store path:srcc/**", "path: nothing here is srcc/**"),
        ("store name:nothing_such", "name: nothing here is nothing_such"),
        ("store inherits:Nobody", "inherits: nothing here is Nobody"),
    ],
)
def test_a_filter_that_nothing_passes_is_told(tree: Tree, corpus: Corpus, query: str, note: str) -> None:
    found = ask(tree, corpus, query)
    assert found.hits == []
    assert any(said.startswith(note) for said in found.notes), found.notes


def test_an_empty_index_lists_nothing(tree: Tree) -> None:
    found = ask(tree, tree.write({"empty.py": ""}).index(), "calls:f inherits:B name:x kind:class")
    assert found.hits == []
