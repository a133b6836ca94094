"""What an answer says of itself: weak or not, what its scores are made of, and how scores lie in a repository."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from indexer.search import Corpus, Found, Request, find
from indexer.search.calibrate import calibrate, first_sentence, sample
from indexer.search.features import over_all
from indexer.search.found import unknown_share
from indexer.search.offtopic import QUESTIONS
from indexer.search.query import parse
from indexer.search.show import Reader
from tests.search.test_search import STORE, Meaning
from tests.search.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def shop(tree: Tree) -> Tree:
    return tree.write(STORE)


def ask(tree: Tree, corpus: Corpus, query: str, **options: object) -> Found:
    request = Request(query, **options)  # type: ignore[arg-type]
    return find(corpus, request, embedder=tree.embedder, read_text=tree.read)


@pytest.mark.parametrize(
    "query",
    ["builder for runtime", "builder xyzzy", "xyzzy plugh", "Store", "Store.xyzzy the builder", "the"],
)
def test_what_the_ranking_has_looked_up_is_what_stands_there(shop: Tree, query: str) -> None:
    """Which words are unknown is not looked up again: the ranking tells, and tells the same."""
    corpus, question = shop.index(), parse(query)
    there = over_all(corpus, question, None).lexical.there
    assert unknown_share(corpus, question, there) == unknown_share(corpus, question)


def test_an_answer_is_weak_below_the_threshold_and_says_so(shop: Tree) -> None:
    corpus = shop.index()
    best = ask(shop, corpus, "builder for runtime").hits[0].score
    for threshold, weak in ((best, False), (best + 0.01, True), (0.0, False)):
        found = ask(shop, corpus, "builder for runtime", weak_below=threshold)
        assert found.weak is weak
        assert any(note.startswith("no good match: the best of these scores") for note in found.notes) is weak
        assert found.hits


def test_a_question_about_what_is_nowhere_is_weak_however_it_scores(shop: Tree) -> None:
    corpus = shop.index()
    found = ask(shop, corpus, "boil the eggs of a builder gently", weak_below=0.0001)
    assert found.weak is True
    assert "% of the question's words are nowhere in the index" in found.notes[-1]
    assert ask(shop, corpus, "filter the rows that meet conditions", weak_below=0.0001).weak is False


def test_nothing_is_weak_too(shop: Tree) -> None:
    corpus = shop.index()
    assert ask(shop, corpus, "zebra crossing") == Found("lexical", [], weak=True)
    found = ask(shop, corpus, "builder for runtime", min_score=1000.0)
    assert (found.hits, found.weak) == ([], True)
    assert found.notes[0].startswith("no hit reaches min_score 1000; the best scores ")


def test_vectors_alone_are_not_judged(shop: Tree) -> None:
    assert ask(shop, shop.index(), "builder", mode="dense", weak_below=1000.0).weak is None


@pytest.mark.parametrize("mode", ["lexical", "hybrid", "dense"])
@pytest.mark.parametrize("query", ["QuerySet.filter", "builder for runtime", "what is in retry.py", "filter"])
def test_what_a_score_is_made_of_adds_up(tmp_path: Path, mode: str, query: str) -> None:
    tree = Tree(tmp_path, Meaning()).write(STORE)
    hits = ask(tree, tree.index(), query, mode=mode, explain=True).hits
    assert hits
    for hit in hits:
        assert hit.explain
        values = {signal.name: signal.value for signal in hit.explain}
        total = values["cosine"] if mode == "dense" else values["sum"]
        assert sum(signal.contribution for signal in hit.explain) == pytest.approx(total, abs=1e-3)
        assert len({signal.name for signal in hit.explain}) == len(hit.explain)


def test_nobody_is_told_who_does_not_ask(shop: Tree) -> None:
    corpus = shop.index()
    plain, told = (ask(shop, corpus, "filter", explain=explain).hits for explain in (False, True))
    assert not any(hit.explain for hit in plain)
    assert [hit.score for hit in plain] == [hit.score for hit in told]


@pytest.mark.parametrize(
    ("documentation", "sentence"),
    [
        ('"""Return the rows. And more."""', "Return the rows"),
        ('r"""\n    Return the\n    rows (e.g. all)\n\n    More.\n"""', "Return the rows (e.g"),
        ("// Open opens a file.\n// It may fail.", "Open opens a file"),
        ("/**\n * Opens <b>a</b> {@link File}.\n * @param x\n */", "Opens a File"),
        ("/// Opens a file\n///\n/// More", "Opens a file"),
        ("# 重试请求，直到成功为止。再说一遍。", "重试请求，直到成功为止"),
        ("", ""),
        ("***", ""),
    ],
)
def test_first_sentences(documentation: str, sentence: str) -> None:
    assert first_sentence(documentation) == sentence


DOCUMENTED = {
    f"part{i}.py": f'def {verb}_{thing}(x):\n    """{verb.title()} the {thing} of every {where}."""\n    return x\n'
    for i, (verb, thing, where) in enumerate(
        (verb, thing, where)
        for verb in ("open", "close", "count")
        for thing in ("socket", "ledger", "parser")
        for where in ("tenant", "shard")
    )
}
GO = (
    "package a\n\n// Merge joins two sorted segments into one file.\nfunc Merge(a int) int {\n\treturn a\n}\n"
)


def calibrated(tree: Tree, corpus: Corpus) -> tuple[object, list[int]]:
    told: list[int] = []
    found = calibrate(
        corpus,
        Reader(corpus, tree.read),
        lambda question: ask(tree, corpus, question, weak_below=0.3),
        lambda _, done, __: told.append(done),
    )
    return found, told


def test_calibration(tree: Tree) -> None:
    corpus = tree.write(
        DOCUMENTED | {"merge.go": GO, "notes.md": "# Notes\n\nThis is no definition at all.\n"}
    ).index()
    examples = sample(corpus, Reader(corpus, tree.read))
    assert len({example.doc for example in examples}) == len(examples) == len(DOCUMENTED) + 1
    merge = next(example for example in examples if example.path == "merge.go")
    assert (merge.line, merge.doc, merge.name) == (
        3,
        "Merge joins two sorted segments into one file",
        "merge",
    )
    found, told = calibrated(tree, corpus)
    value = json.loads(json.dumps(asdict(found)))  # type: ignore[call-overload]
    assert value["sample"] == len(examples)
    assert set(value["scores"]) == {
        "right, by doc",
        "wrong, by doc",
        "right, by name",
        "wrong, by name",
        "nonsense",
    }
    assert value["first"]["doc"] > 0.9
    assert value["scores"]["nonsense"]["count"] == len(QUESTIONS)
    for scores in value["scores"].values():
        quantiles = list(scores["quantiles"].values())
        assert quantiles == sorted(quantiles)
    assert value["keeps_right"] > value["drops_nonsense"]
    assert value["weak"]["doc"] < 0.1
    assert value["weak"]["nonsense"] > 0.9
    assert told == sorted(told)
    assert calibrated(tree, corpus)[0] == found


def test_calibration_of_nothing(tree: Tree) -> None:
    corpus = tree.write({"a.md": "# A\n\nSome words.\n"}).index()
    found = asdict(calibrated(tree, corpus)[0])  # type: ignore[call-overload]
    assert (found["sample"], found["first"], found["keeps_right"]) == (0, {"doc": 0.0, "name": 0.0}, 0.0)


def test_everyday_questions_are_many_and_differ() -> None:
    assert len(set(QUESTIONS)) == len(QUESTIONS) >= 100
    assert sum(not question.isascii() for question in QUESTIONS) >= 20
