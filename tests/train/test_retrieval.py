"""The arithmetic of the retrieval tests, on pools small enough to work out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from indexer.embed.hashing import HashingEmbedder
from indexer.train.documented import Documented
from tests.benchmarks import functions, paraphrases
from tests.benchmarks.retrieval import BM25, evaluate, reciprocal, unit


def documented(doc: str, *, symbol: str = "add", body: int = 3, kind: str = "function") -> Documented:
    return Documented(symbol, "", kind, 1, 5, "def add()", doc, "def add(): ...", "...", body)


def test_ranks_below_the_tenth_gain_nothing_and_ties_go_by_position() -> None:
    scores = np.array([[3, 2, 1], [1, 1, 1], [0, 5, 9]], np.float32)
    assert reciprocal(scores, np.array([0, 2, 0])).tolist() == pytest.approx([1, 1 / 3, 1 / 3])
    assert reciprocal(np.arange(11, dtype=np.float32)[None, :], np.array([0])).tolist() == [0]


def test_rows_are_stretched_and_a_flat_one_becomes_nothing() -> None:
    assert unit(np.array([[1, 3, 2], [4, 4, 4]], np.float32)).tolist() == [[0, 1, 0.5], [0, 0, 0]]


def test_bm25_is_what_the_formula_says() -> None:
    scores = BM25(["red green green", "blue", "red blue yellow pink"]).scores(["green", "red", "black"])
    mean = 8 / 3
    rare = np.log(1 + (3 - 1 + 0.5) / 1.5)
    assert scores[0].tolist() == pytest.approx(
        [rare * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / mean)), 0, 0], rel=1e-5
    )
    assert scores[1, 0] > scores[1, 2] > 0
    assert not scores[2].any()


def test_each_question_has_its_own_pool() -> None:
    questions = ["red", "red", "green", "blue"]
    documents = ["red red", "red", "green", "blue"]
    assert evaluate(questions, documents, None).lexical == pytest.approx((1 + 1 / 2 + 1 + 1) / 4)
    assert evaluate(questions, documents, None, pools=2).lexical == 1
    figures = evaluate(questions, documents, HashingEmbedder())
    assert figures.dense is not None
    assert set(figures.fused) == {0.2, 0.3, 0.4, 0.5, 0.6}


def test_a_question_is_the_first_sentence_without_the_functions_own_name() -> None:
    assert (
        functions.question_of(documented("Add adds two numbers. Fast.", symbol="Add")) == "adds two numbers."
    )
    assert functions.question_of(documented("Adds two numbers. Fast.")) == "Adds two numbers."


@pytest.mark.parametrize(
    ("one", "wanted"),
    [
        (documented("Adds the two numbers."), True),
        (documented("Adds numbers."), False),
        (documented("Adds the two numbers.", body=2), False),
        (documented("Adds the two numbers.", kind="class"), False),
        (documented("Adds the two numbers.", symbol="test_add"), False),
        (documented("Ajoute les deux numéros."), False),
        (documented(">>> add(1, 2) + 3 is 6"), False),
        (documented(":param a: the first number"), False),
        (documented("TODO: add the two numbers."), False),
    ],
)
def test_what_can_be_asked_for(one: Documented, wanted: bool) -> None:
    assert functions.asked(one, functions.question_of(one)) is wanted


def test_a_pool_has_each_question_once_and_is_dealt_by_a_checksum(tmp_path: Path) -> None:
    code = "def {0}(a, b):\n    '''Adds the two {1}.'''\n    c = a\n    d = b\n    return c + d\n\n\n"
    text = "".join(code.format(f"f{i}", f"number{i % 5}") for i in range(10))
    (tmp_path / "a.py").write_text(text)
    found = functions.pool("python", [("a", tmp_path)])
    assert sorted(item.symbol for item in found) == ["f0", "f1", "f2", "f3", "f4"]
    assert found == functions.pool("python", [("a", tmp_path)])
    assert all("Adds" not in item.code for item in found)


def test_there_are_thirty_paraphrases_in_two_languages() -> None:
    listed = json.loads(paraphrases.LIST.read_text(encoding="utf-8"))
    assert len(listed["questions"]) == 30
    for question in listed["questions"]:
        assert question["project"] in listed["projects"]
        assert question["english"].isascii()
        assert any("\u4e00" <= letter <= "\u9fff" for letter in question["chinese"])
