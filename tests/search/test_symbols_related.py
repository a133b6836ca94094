from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indexer.errors import QueryError
from indexer.search import Corpus, Filters, related, symbols

if TYPE_CHECKING:
    from tests.search.tree import Tree

FILES = {
    "app/views.py": """import http


class ListView:
    # Rows of one page.
    @property
    def queryset(self):
        rows = self.model.rows(self.page)
        return rows.order_by(self.ordering)

    def get_queryset(self):
        rows = self.model.rows(self.page)
        return rows.filter(self.ordering)


class QuerySet:
    def filter(self):
        return self.rows
""",
    "app/other.py": "def queryset_of(model):\n    rows = model.rows(model.page)\n    return rows.order_by(model.ordering)\n",
    "tests/test_views.py": "class QuerySet:\n    def filter(self):\n        return None\n",
    "app/http.go": "package app\n\nfunc NewRequest() {\n}\n",
}


@pytest.fixture
def corpus(tree: Tree) -> Corpus:
    return tree.write(FILES).index()


def listed(tree: Tree, corpus: Corpus, name: str) -> list[tuple[str, int, str]]:
    return [(hit.path, hit.start_line, hit.symbol) for hit in symbols(corpus, name, read_text=tree.read).hits]


def test_exact_then_other_spellings_then_parts(tree: Tree, corpus: Corpus) -> None:
    assert listed(tree, corpus, "queryset") == [
        ("app/views.py", 7, "queryset"),
        ("app/views.py", 16, "QuerySet"),
        ("tests/test_views.py", 1, "QuerySet"),
        ("app/other.py", 1, "queryset_of"),
        ("app/views.py", 11, "get_queryset"),
    ]
    assert listed(tree, corpus, "QuerySet")[0] == ("app/views.py", 16, "QuerySet")


@pytest.mark.parametrize("name", ["ListView.queryset", "ListView::queryset", "listview.queryset"])
def test_qualified(tree: Tree, corpus: Corpus, name: str) -> None:
    assert listed(tree, corpus, name)[0] == ("app/views.py", 7, "queryset")


def test_a_package_before_the_name(tree: Tree, corpus: Corpus) -> None:
    assert listed(tree, corpus, "app.NewRequest") == [("app/http.go", 3, "NewRequest")]


def test_the_text_is_the_line_of_the_definition(tree: Tree, corpus: Corpus) -> None:
    hit = symbols(corpus, "ListView.queryset", read_text=tree.read).hits[0]
    assert (hit.text, hit.end_line, hit.stale) == ("    def queryset(self):", 9, False)
    (tree.root / "app/views.py").write_text("changed\n")
    assert symbols(corpus, "ListView.queryset", read_text=tree.read).hits[0].stale


def test_globs_and_trailing_underscores(tree: Tree, corpus: Corpus) -> None:
    assert [name for _, _, name in listed(tree, corpus, "*queryset")] == [
        "queryset",
        "get_queryset",
        "QuerySet",
        "QuerySet",
    ]
    assert [name for _, _, name in listed(tree, corpus, "ListView.*")] == ["queryset", "get_queryset"]
    assert listed(tree, corpus, "queryset_")[0] == ("app/other.py", 1, "queryset_of")


def test_filters_and_how_many_there_are(tree: Tree, corpus: Corpus) -> None:
    found = symbols(corpus, "queryset", read_text=tree.read, k=2)
    assert (len(found.hits), found.notes) == (2, ("the first 2 of 5; -k shows more",))
    classes = symbols(
        corpus, "queryset", read_text=tree.read, where=Filters(kind=("class",), path=("!tests",))
    )
    assert [(hit.path, hit.symbol) for hit in classes.hits] == [("app/views.py", "QuerySet")]
    nothing = symbols(corpus, "queryset", read_text=tree.read, where=Filters(lang=("cobol",)))
    assert (nothing.hits, nothing.notes[0]) == ([], "lang: nothing here is cobol")


def test_the_very_name_in_production_code_scores_one(tree: Tree, corpus: Corpus) -> None:
    scores = [hit.score for hit in symbols(corpus, "QuerySet", read_text=tree.read).hits]
    assert scores[0] == 1.0 > scores[1]


def test_names_that_are_nowhere_and_no_names(tree: Tree, corpus: Corpus) -> None:
    assert listed(tree, corpus, "nowhere") == []
    assert listed(tree, corpus, "()") == []
    with pytest.raises(QueryError, match="give a name"):
        symbols(corpus, " ", read_text=tree.read)


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_related(tree: Tree, corpus: Corpus, mode: str) -> None:
    hits = related(corpus, "app/views.py", 8, mode=mode, read_text=tree.read).hits
    assert {hits[0].symbol, hits[1].symbol} == {"get_queryset", "queryset_of"}
    assert "queryset" not in [hit.symbol for hit in hits]


def test_related_of_a_blank_line_is_that_of_its_neighbour(tree: Tree, corpus: Corpus) -> None:
    blank, at = (
        related(corpus, "app/views.py", line, mode="lexical", read_text=tree.read) for line in (10, 9)
    )
    assert blank == at


def test_related_to_nothing(tree: Tree, corpus: Corpus) -> None:
    with pytest.raises(QueryError, match=r"app/gone\.py is not in the index"):
        related(corpus, "app/gone.py", 1, mode="lexical", read_text=tree.read)
    with pytest.raises(QueryError, match="app is a folder"):
        related(corpus, "app", 1, mode="lexical", read_text=tree.read)
    with pytest.raises(QueryError, match=r"app/other\.py has 4 lines, and no line 99"):
        related(corpus, "app/other.py", 99, mode="lexical", read_text=tree.read)
    tree.write({"empty.py": ""})
    with pytest.raises(QueryError, match="nothing indexed at line 1"):
        related(tree.index(), "empty.py", 1, mode="lexical", read_text=tree.read)


def test_related_tells_of_which_chunk_and_takes_filters(tree: Tree, corpus: Corpus) -> None:
    found = related(corpus, "app/views.py", 8, mode="lexical", read_text=tree.read)
    assert found.notes == ("like method queryset in app/views.py:5-9",)
    found = related(
        corpus, "app/views.py", 8, mode="lexical", read_text=tree.read, where=Filters(path=("!app/views.py",))
    )
    assert found.hits[0].path == "app/other.py"
    assert "app/views.py" not in {hit.path for hit in found.hits}


def test_a_copy_is_related_and_shown_once(tree: Tree) -> None:
    text = "def discount(price, rate):\n    return price * rate * 0.9\n"
    corpus = tree.write(
        {"a.py": text, "b.py": text, "c.py": text, "d.py": text.replace("0.9", "0.8")}
    ).index()
    hits = related(corpus, "a.py", 1, mode="lexical", read_text=tree.read).hits
    assert [(hit.path, hit.also) for hit in hits] == [("b.py", (("c.py", 1),)), ("d.py", ())]
