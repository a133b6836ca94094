"""Whole answers from real indexes: what comes first, what is left out, and that history does not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.embed.hashing import HashingEmbedder
from indexer.errors import EmbedderError
from indexer.search import Corpus, Request, literal, prepare, related, resolve_mode, search, symbols
from indexer.store import open_snapshot
from tests.search.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path

STORE = {
    "shop/models.py": '''
class QuerySet:
    """A lazy list of rows."""

    def filter(self, **conditions):
        """Keep the rows that meet the conditions."""
        return self.clone(conditions)

    def exclude(self, **conditions):
        return self.clone(not conditions)


class Basket:
    def filter(self, predicate):
        return [item for item in self.items if predicate(item)]
''',
    "shop/builder.py": '''
def build(runtime):
    """The builder for a runtime."""
    return runtime.assemble()
''',
    "tests/test_builder.py": '''
def test_build_builder_for_runtime():
    """The builder for a runtime is built for the runtime by the builder."""
    builder = runtime = build(runtime)


def test_build_twice():
    assert build(runtime) != build(runtime)  # builder for runtime
''',
    "shop/retry.py": """
# 重试请求，直到成功为止。
def again(request, times):
    for attempt in range(times):
        request.send()
""",
    "README.md": "# Shop\n\nHow to build the builder for your runtime.\n\n## Retry\n\nRequests are sent again.\n",
}


def names(hits: list[object]) -> list[str]:
    return [f"{hit.path}:{hit.scope}.{hit.symbol}" for hit in hits]  # type: ignore[attr-defined]


@pytest.fixture
def shop(tree: Tree) -> Tree:
    return tree.write(STORE)


@pytest.mark.parametrize(
    "query", ["QuerySet.filter", "QuerySet::filter", "queryset.filter", "QuerySet#filter"]
)
def test_the_definition_of_the_asked_method_is_first(shop: Tree, query: str) -> None:
    first = shop.ask(shop.index(), query)[0]
    assert (first.path, first.scope, first.symbol) == ("shop/models.py", "QuerySet", "filter")
    assert first.text.startswith("    def filter(self, **conditions):")
    assert (first.start_line, first.stale) == (5, False)


def test_what_stands_before_a_name_chooses_among_its_definitions(shop: Tree) -> None:
    assert shop.ask(shop.index(), "Basket.filter")[0].scope == "Basket"


@pytest.mark.parametrize("query", ["query set", "QUERYSET", "query_set"])
def test_a_name_is_found_however_it_is_spelt(shop: Tree, query: str) -> None:
    assert shop.ask(shop.index(), query)[0].symbol == "QuerySet"


def test_tests_and_documents_come_after_what_they_are_about(shop: Tree) -> None:
    corpus = shop.index()
    assert shop.ask(corpus, "builder for runtime")[0].path == "shop/builder.py"
    assert shop.ask(corpus, "tests of the builder for runtime")[0].path == "tests/test_builder.py"
    assert shop.ask(corpus, "README about the builder for runtime")[0].path == "README.md"


def test_a_chinese_question_finds_a_chinese_comment(shop: Tree) -> None:
    assert shop.ask(shop.index(), "如何重试请求")[0].symbol == "again"


def test_a_file_is_found_by_its_name(shop: Tree) -> None:
    corpus = shop.index()
    assert shop.ask(corpus, "what is in retry.py")[0].path == "shop/retry.py"
    assert shop.ask(corpus, "shop/models.py")[0].path == "shop/models.py"


def test_filters_come_before_the_top_k(tree: Tree) -> None:
    noise = {f"noise/n{i}.py": f"def connect_{i}():\n    connect = connect_pool(connect)\n" for i in range(8)}
    corpus = tree.write(
        noise | {"inside/a.go": "package a\n\nfunc Dial() { // connect to a host\n}\n"}
    ).index()
    for filters in ({"path": ("inside",)}, {"lang": ("go",)}, {"lang": ("Go",)}, {"path": ("!noise",)}):
        hits = tree.ask(corpus, "connect", k=3, **filters)
        assert {hit.path for hit in hits} == {"inside/a.go"}
    assert [hit.symbol for hit in tree.ask(corpus, "connect", kind=("function",), path=("inside",))] == [
        "Dial"
    ]
    assert tree.ask(corpus, "connect", lang=("cobol",)) == []
    assert len(tree.ask(corpus, "connect", k=3)) == 3


@pytest.mark.parametrize(
    "query",
    [
        "foo(bar",
        "std::vector<",
        '"unbalanced',
        "a AND",
        "*",
        "the of",
        "for",
        "x" * 10_000,
        "queryset " * 1200,
        "query\0set",
        "\\",
        "(?P<",
        "%s",
        "'; DROP TABLE",
        "\ud800",
        "🎉",
        "..",
        "::",
        "a.b.c.d::e->f",
        "[",
        "é",
    ],
)
def test_any_text_is_a_question(shop: Tree, query: str) -> None:
    for hit in shop.ask(shop.index(), query):
        assert hit.score > 0


def test_a_name_that_is_a_stop_word_is_found(tree: Tree) -> None:
    corpus = tree.write({"a.js": "function on(event) {\n  listen(event);\n}\n"}).index()
    assert [hit.symbol for hit in tree.ask(corpus, "on")] == ["on"]


def test_no_line_is_shown_twice(tree: Tree) -> None:
    body = "\n".join(
        f"        total = total + price_{i} * amount_{i}  # price of the amount" for i in range(60)
    )
    text = f"class Order:\n    def price(self):\n{body}\n        return total\n\n    def amount(self):\n        return price\n"
    hits = tree.ask(tree.write({"order.py": text}).index(), "price amount total", k=10)
    assert len(hits) > 3
    lines = [line for hit in hits for line in range(hit.start_line, hit.end_line + 1)]
    assert len(lines) == len(set(lines))


def test_equal_contents_are_shown_once_with_their_other_places(tree: Tree) -> None:
    text = "def discount(price):\n    return price * 0.9\n"
    corpus = tree.write({"b/one.py": text, "a/one.py": "\n\n" + text, "c/one.py": text}).index()
    hits = tree.ask(corpus, "discount")
    assert [hit.path for hit in hits] == ["a/one.py"]
    assert hits[0].also == (("b/one.py", 1), ("c/one.py", 1))
    assert tree.ask(corpus, "discount", path=("b",))[0].also == ()


def test_one_file_does_not_fill_the_list(tree: Tree) -> None:
    many = "\n\n".join(f"def parse_{i}(text):\n    return parse(text, {i})" for i in range(12))
    corpus = tree.write({"parser.py": many, "other.py": "def load(text):\n    return parse(text)\n"}).index()
    assert "other.py" in [hit.path for hit in tree.ask(corpus, "parse text", k=5)]


def test_a_class_shows_its_first_lines(shop: Tree) -> None:
    first = shop.ask(shop.index(), "QuerySet")[0]
    assert (first.start_line, first.end_line) == (2, 3)
    assert first.text == 'class QuerySet:\n    """A lazy list of rows."""'


def test_a_file_that_changed_is_marked_stale_and_shows_nothing(shop: Tree) -> None:
    corpus = shop.index()
    models = shop.root / "shop/models.py"
    models.write_bytes(models.read_bytes().replace(b"Keep the rows", b"Drop the rows"))
    first = shop.ask(corpus, "QuerySet.filter")[0]
    assert (first.symbol, first.stale, first.text) == ("filter", True, "")
    models.unlink()
    assert shop.ask(corpus, "QuerySet.filter")[0].stale


def test_lines_that_moved_are_stale_too(shop: Tree) -> None:
    corpus = shop.index()
    models = shop.root / "shop/models.py"
    models.write_bytes(b"# one line more\n" + models.read_bytes())
    assert shop.ask(corpus, "QuerySet.filter")[0].stale


def test_min_score_leaves_out_what_is_below(shop: Tree) -> None:
    corpus = shop.index()
    scores = [hit.score for hit in shop.ask(corpus, "builder for runtime")]
    assert scores == sorted(scores, reverse=True)
    kept = shop.ask(corpus, "builder for runtime", min_score=scores[1])
    assert [hit.score for hit in kept] == scores[:2]


@pytest.mark.parametrize("files", [{}, {"empty.py": "", "blank.md": " \n\n"}])
def test_an_empty_index_answers_with_nothing(tree: Tree, files: dict[str, str]) -> None:
    corpus = tree.write(files).index()
    for mode in ("hybrid", "lexical", "dense"):
        assert (
            tree.ask(corpus, "anything", mode=mode, path=("*.py",), lang=("python",), kind=("class",)) == []
        )
    assert literal(corpus, Request("any"), read_text=tree.read).hits == []
    assert symbols(corpus, "any", read_text=tree.read).hits == []


def test_which_mode_is_used() -> None:
    hashing = HashingEmbedder()
    assert resolve_mode("hybrid", hashing) == "lexical"
    assert resolve_mode("dense", hashing) == "dense"
    assert resolve_mode("dense", None) == "lexical"


def test_dense_orders_by_likeness(shop: Tree) -> None:
    hits = shop.ask(shop.index(), "return self.clone(conditions)", mode="dense", k=3)
    assert {"filter", "exclude"} <= {hit.symbol for hit in hits}


def test_vectors_of_another_embedder_are_an_error(shop: Tree) -> None:
    corpus = shop.index()
    request = Request("filter", mode="dense")
    with pytest.raises(EmbedderError, match="the index holds vectors of hashing"):
        search(corpus, request, embedder=HashingEmbedder(128), read_text=shop.read)


class Meaning(HashingEmbedder):
    """Stands for a model worth fusing."""

    name = "meaning"


def test_hybrid_fuses_both(tmp_path: Path) -> None:
    tree = Tree(tmp_path, Meaning()).write(STORE)
    corpus = tree.index()
    hybrid, lexical = (
        tree.ask(corpus, "clone the conditions"),
        tree.ask(corpus, "clone the conditions", mode="lexical"),
    )
    assert hybrid[0].symbol == lexical[0].symbol
    assert [hit.score for hit in hybrid] != [hit.score for hit in lexical]
    assert all(0 < hit.score <= 1 for hit in hybrid)


QUERIES = ["QuerySet.filter", "builder for runtime", "conditions", "retry request", "重试", "build", "filter"]
FILES = st.dictionaries(st.sampled_from(sorted(STORE)), st.sampled_from(sorted(STORE.values())), min_size=1)


@settings(max_examples=15, deadline=None)
@given(steps=st.lists(FILES, min_size=1, max_size=4))
def test_history_does_not_show(steps: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever came before, the answers are those of an index made from nothing."""
    grown = Tree(tmp_path_factory.mktemp("grown"))
    for files in steps:
        gone = [path for path in STORE if (grown.root / path).exists() and path not in files]
        for path in gone:
            (grown.root / path).unlink()
        corpus = grown.write(files).index(*gone)
    fresh = Tree(tmp_path_factory.mktemp("fresh")).write(steps[-1])
    anew = fresh.index()
    for query in QUERIES:
        for mode in ("lexical", "dense"):
            assert grown.ask(corpus, query, mode=mode) == fresh.ask(anew, query, mode=mode)
        found = [literal(c, Request(query), read_text=t.read) for c, t in ((corpus, grown), (anew, fresh))]
        named = [symbols(c, query, read_text=t.read) for c, t in ((corpus, grown), (anew, fresh))]
        assert found[0] == found[1]
        assert named[0] == named[1]
    for path in steps[-1]:
        like = [
            related(c, path, 3, mode="hybrid", read_text=t.read) for c, t in ((corpus, grown), (anew, fresh))
        ]
        assert like[0] == like[1]


def test_a_corpus_that_is_kept_answers_as_a_new_one(shop: Tree) -> None:
    corpus = shop.index()
    snapshot = open_snapshot(shop.index_dir)
    for query in QUERIES * 2:
        kept = shop.ask(corpus, query)
        assert kept == search(snapshot, Request(query), embedder=None, read_text=shop.read)
        assert kept == shop.ask(Corpus(snapshot), query)
    assert replace(kept[0], score=0.0) != kept[0]


def test_what_is_prepared_answers_as_what_is_not(tree: Tree) -> None:
    corpus = tree.write({"a.py": "import b\n\n\ndef keep():\n    return 1\n", "b.py": "x = 1\n"}).index()
    prepare(corpus, tree.embedder)
    assert {"symbol", "graph", "row_terms"} <= vars(corpus).keys()
    assert corpus.tree._stem_vectors or tree.embedder.name == "hashing"
    for query in ("keep", "what keeps one", "x"):
        request = Request(query=query)
        ready, new = (
            search(view, request, embedder=tree.embedder, read_text=lambda _: None)
            for view in (corpus, corpus.snapshot)
        )
        assert ready == new
    (tree.root / "a.py").unlink()
    (tree.root / "b.py").unlink()
    prepare(tree.index("a.py", "b.py"), tree.embedder)
