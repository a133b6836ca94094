"""The learning of the ranking's weights: its gradient, its signs, its optimum."""

from __future__ import annotations

import numpy as np
import pytest

from indexer.search.features import Candidates
from tests.benchmarks import learn_ranking
from tests.benchmarks.learn_ranking import Asked, Table, fit, ndcg

NAMES = ("words", "test", "depth")


def table(seed: int, questions: int = 40) -> Table:
    """Questions of four candidates each; words speak for the right one, tests against it."""
    rng = np.random.default_rng(seed)
    none = Candidates(np.arange(4), {}, np.arange(0), np.zeros(0), {})
    asked, x, wanted = [], [], []
    for at in range(questions):
        right = rng.integers(4)
        signals = np.column_stack([rng.random(4), rng.random(4) < 0.5, rng.random(4)])
        signals[right, 0] += 0.5
        signals[right, 1] = 0
        meets = np.zeros((4, 1), np.bool_)
        meets[right] = True
        asked.append(Asked(f"r{at % 4}", "a question", none, meets, 1))
        x.append(signals)
        wanted.append(meets[:, 0].astype(float))
    share = np.full(questions, 1 / questions)
    return Table(asked, np.arange(0, 4 * questions + 1, 4), np.concatenate(x), np.concatenate(wanted), share)


def test_gradient_and_hessian_are_those_of_the_loss() -> None:
    parts, expected = [table(1), table(2)], np.array([0.0, -2.0, 0.0])
    weights, tiny = np.array([0.7, -0.4, 0.2]), 1e-5
    _, gradient, hessian = learn_ranking._loss(parts, weights, expected)
    for at in range(3):
        step = np.eye(3)[at] * tiny
        above, below = (learn_ranking._loss(parts, weights + sign * step, expected) for sign in (1, -1))
        assert (above[0] - below[0]) / 2 / tiny == pytest.approx(gradient[at], abs=1e-6)
        assert (above[1] - below[1]) / 2 / tiny == pytest.approx(hessian[at], abs=1e-6)


def test_what_is_learnt_is_a_minimum_within_the_signs() -> None:
    repos = ["r0", "r1", "r2", "r3"]
    parts = [table(1), table(2)]
    learnt = fit(parts, NAMES, np.ones(4, np.bool_), repos)
    assert learnt[0] > 0 > learnt[1]
    used = [part._replace(share=part.share / 2) for part in parts]
    expected = np.array([learn_ranking.EXPECTED.get(name, 0.0) for name in NAMES])
    gradient = learn_ranking._loss(used, learnt, expected)[1]
    assert np.abs(gradient).max() < 1e-3
    again = fit(parts, NAMES, np.ones(4, np.bool_), repos, learnt + 0.3)
    assert again == pytest.approx(learnt, abs=0.02)


def test_a_sign_is_kept_though_the_data_speak_against_it() -> None:
    wrong = table(3)
    flipped = wrong._replace(x=wrong.x * [-1, 1, 1])
    assert fit([flipped], NAMES, np.ones(4, np.bool_), ["r0", "r1", "r2", "r3"])[0] == 0


def test_a_rank_counts_once_and_a_target_at_its_first_rank() -> None:
    none = Candidates(np.arange(3), {}, np.arange(0), np.zeros(0), {})
    meets = np.array([[True, True], [True, False], [False, False]])
    assert ndcg(Asked("r", "q", none, meets, 2), np.array([3.0, 2.0, 1.0])) == pytest.approx(
        1 / (1 + 1 / np.log2(3))
    )
    assert ndcg(Asked("r", "q", none, meets, 2), np.array([1.0, 3.0, 2.0])) == pytest.approx(
        1.5 / (1 + 1 / np.log2(3))
    )
