"""Choosing rows: what is shown of scored rows, and that every weight has its signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.search import Corpus, dense, explain
from indexer.search.columns import Inverse
from indexer.search.features import candidates, over_all
from indexer.search.query import parse
from indexer.search.rank import SAME_FILE, Scored, score, select
from indexer.search.weights import weights
from indexer.store import open_snapshot
from tests.search.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

columns = st.lists(st.integers(0, 9), max_size=30)


@given(columns, st.lists(st.integers(0, 9), max_size=10, unique=True))
def test_an_inverse_finds_every_row_of_every_value_once(column: list[int], ids: list[int]) -> None:
    rows, source = Inverse(np.array(column, np.uint32), 10).find(np.array(ids, np.int64))
    wanted = [(at, row) for at, value in enumerate(ids) for row, held in enumerate(column) if held == value]
    assert list(zip(source.tolist(), rows.tolist(), strict=True)) == wanted


def lay(tree: Tree) -> Corpus:
    """Five files of six functions each; the first function is the same in all of them."""
    bodies = [f"def f{i}(a):\n    return a + {i}\n\n\n" for i in range(6)]
    for file in range(5):
        own = [body.replace("a +", f"a{file} +") for body in bodies[1:]]
        tree.write({f"m{file}.py": bodies[0] + "".join(own)})
    return tree.index()


@pytest.fixture
def many(tree: Tree) -> Corpus:
    return lay(tree)


def by_hand(corpus: Corpus, scores: NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    """Choose again and again among all that is left."""
    left = {row: round(float(value), 5) for row, value in enumerate(scores) if round(float(value), 5) > 0}
    taken: dict[int, int] = {}
    contents: set[int] = set()
    chosen: list[tuple[int, float]] = []
    while left and len(chosen) < k:
        now = {
            row: round(own * SAME_FILE ** taken.get(int(corpus.file[row]), 0), 5) for row, own in left.items()
        }
        row = min(now, key=lambda at: (-now[at], at))
        value = now[row]
        del left[row]
        if int(corpus.content[row]) in contents or not value:
            continue
        contents.add(int(corpus.content[row]))
        taken[int(corpus.file[row])] = taken.get(int(corpus.file[row]), 0) + 1
        chosen.append((row, value))
    return chosen


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 12))
def test_rows_are_chosen_as_by_hand(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, k: int
) -> None:
    corpus = _shared(tmp_path_factory)
    value = st.sampled_from([0.0, 0.1, 0.25, 0.4, 0.5, 0.500001, 0.9, 1.0])
    scores = np.array(data.draw(st.lists(value, min_size=corpus.rows, max_size=corpus.rows)))
    chosen = select(corpus, np.arange(corpus.rows), scores, k)
    assert [(one.row, one.score) for one in chosen] == by_hand(corpus, scores, k)


_made: list[Corpus] = []


def _shared(factory: pytest.TempPathFactory) -> Corpus:
    if not _made:
        _made.append(lay(Tree(factory.mktemp("ranked"))))
    return _made[0]


def scored_by_words(corpus: Corpus, query: str) -> Scored:
    question = parse(query)
    return score(corpus, question, over_all(corpus, question, None))


def test_every_weight_is_that_of_a_signal(many: Corpus, tree: Tree) -> None:
    question = parse("return a plus four")
    meaning = dense.meaning(many, tree.embedder, "return a plus four")
    for mode, means in (("lexical", None), ("hybrid", meaning)):
        found = candidates(many, question, over_all(many, question, None), means)
        assert set(weights(mode).signals) == set(found.signals)
        assert set(weights(mode).confidence) <= set(found.absolute)


def test_what_is_not_allowed_says_nothing(many: Corpus) -> None:
    among = np.zeros(many.rows, np.bool_)
    among[list(many.rows_of(3))[2:]] = True
    question = parse("f1 f4")
    found = candidates(many, question, over_all(many, question, among), None)
    assert found.files.tolist() == [3]
    assert found.rows[found.said > 0].tolist() == [row for row in many.rows_of(3) if among[row]][2:3]


def test_contributions_add_up_to_the_sum_and_the_score(many: Corpus) -> None:
    scored = scored_by_words(many, "f4")
    ranked = select(many, scored.rows, scored.scores, 1)[0]
    told = {signal.name: signal for signal in explain.signals(many, scored, ranked)}
    total = sum(signal.contribution for signal in told.values())
    assert total == pytest.approx(told["sum"].value, abs=1e-3)
    assert ranked.score == pytest.approx(told["sureness"].value * told["row"].value, abs=1e-3)


def test_an_answer_is_surer_than_one_to_a_question_about_something_else(many: Corpus) -> None:
    assert scored_by_words(many, "f4").sureness > 0.5
    assert scored_by_words(many, "how long do I boil an egg").sureness < 0.2


def test_a_view_that_was_lent_columns_equals_a_new_one(tree: Tree) -> None:
    files = {
        "a/store.py": "import b.load\n\n\ndef keep(x):\n    return x\n",
        "b/load.py": "def load(x):\n    return x\n",
    }
    before = tree.write(files).index()
    assert before.tree.stem_words.texts == before.graph.files == 2
    tree.write({"b/load.py": "import a.store\n\n\ndef load(y):\n    return keep(y)\n"}).index()
    lent, new = (Corpus(open_snapshot(tree.index_dir), one) for one in (before, None))
    assert lent.tree is before.tree
    assert np.array_equal(lent.graph.edges, new.graph.edges)
    assert len(new.graph.edges) == 2
    more = tree.write({"b/more.py": "def more():\n    pass\n"}).index()
    assert Corpus(more.snapshot, before).tree is not before.tree


def test_where_words_hardly_match_meaning_says_more(many: Corpus, tree: Tree) -> None:
    def told(query: str) -> dict[str, float]:
        meaning = dense.meaning(many, tree.embedder, query)
        question = parse(query)
        found = candidates(many, question, over_all(many, question, None), meaning)
        return {name: float(column.max()) for name, column in found.signals.items()}

    fair, poor = told("f4"), told("return quaint umbrellas to several shops")
    assert fair["meaning_best"] == fair["words"] == pytest.approx(1)
    assert poor["meaning_best"] > 2
    assert poor["words"] < 0.5
