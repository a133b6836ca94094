"""Learn the ranking's weights: ``python -m tests.benchmarks.learn_ranking EVAL REPOS INDEXES [--write]``.

EVAL holds a retrieval benchmark's development part (``repos.json``, ``split.json``, ``annotations/NAME.json``), REPOS its
repositories laid out, INDEXES is a folder for their indexes, which are made if they are missing. Each question is asked in
two settings, of the repository's source folder and of the whole checkout.

The ranking is one linear sum of signals. Its loss is the negative log-likelihood of the right files under a softmax over
a question's candidates, averaged over repositories and settings, with an L2 pull towards `EXPECTED` (0 where nothing is
expected), under fixed signs, minimised by projected Newton steps (Bertsekas, "Projected Newton methods for optimization
problems with simple constraints", 1982). What is printed is measured on repositories that were left out, one at a time;
what ``--write`` puts into ``indexer/search/ranking.json`` is learnt from all of them.

How sure an answer is, is a logistic regression over what the best file has of the possible, learnt from the questions
(right file on top: yes) and from the same questions asked of other repositories, and of others about no code at all (no).
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.reindex import reindex
from indexer.search import Corpus
from indexer.search import weights as ranking
from indexer.search.dense import meaning
from indexer.search.features import CANDIDATES, SURE, candidates, over_all
from indexer.search.offtopic import QUESTIONS
from indexer.search.query import parse
from indexer.search.rank import select
from indexer.settings import Settings
from indexer.workspace import Workspace
from tests.benchmarks.retrieval import choose_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from indexer.embed import Embedder
    from indexer.search.features import Candidates

F64 = NDArray[np.float64]

SETTINGS = ("source", "whole")
SIGNALS = (
    "words", "more_words", "body", "symbols", "stem_known", "stem_covered", "stem_shared", "stem_joined",
    "folder_asked", "folder_known", "mention", "definition", "named", "definition_words", "importers",
    "imports", "depth", "minor_language", "test", "test_asked", "test_mentioned", "example",
    "example_asked", "docs", "docs_asked", "vendor", "generated", "legacy", "data",
)  # fmt: skip
MEANING = ("meaning_best", "meaning_many", "meaning_mean", "meaning_stem")
EXPECTED = {
    "mention": 3.0,
    "test": -2.0,
    "test_asked": 1.5,
    "test_mentioned": 0.5,
    "example": -1.0,
    "example_asked": 1.0,
    "docs": -1.5,
    "docs_asked": 1.5,
    "vendor": -1.5,
    "generated": -2.0,
    "legacy": -0.5,
    "data": -1.0,
}
NEGATIVE = frozenset({"test", "example", "docs", "vendor", "generated", "legacy", "data"})
FREE = frozenset({"depth", "minor_language", "test_mentioned"})
PULL = 0.006


class Asked(NamedTuple):
    """One question: its repository, its candidates, which targets each of them (n, t) meets, how many there are."""

    repo: str
    query: str
    found: Candidates
    meets: NDArray[np.bool_]
    targets: int


class Table(NamedTuple):
    """Questions of one setting, their candidates (c,) one after the other: signals (c, s), what each should get (c,).

    Question i has the candidates from ``starts[i]`` to ``starts[i + 1]``, and counts as much as its ``share`` says.
    """

    asked: list[Asked]
    starts: NDArray[np.int64]
    x: F64
    wanted: F64
    share: F64


def main() -> None:
    """Ask, learn, say how well it went, and write what was learnt."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("eval", "repos", "indexes"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--model", default=Settings().embed.model, help="an embedder, or a model's .npz")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    bench = Bench(arguments.eval, arguments.repos, arguments.indexes, choose_embedder(arguments.model))
    learnt = json.loads(ranking.RANKING.read_text())
    scores: list[list[float]] = []
    for mode in ("lexical", "hybrid"):
        names = SIGNALS + (MEANING if mode == "hybrid" else ())
        tables = [bench.table(setting, mode, names) for setting in SETTINGS]
        scores = _report(mode, tables, names, scores)
        weights = fit(tables, names, np.ones(len(bench.names), np.bool_), bench.names)
        print(f"{mode}, learnt from all:", _named(names, weights), flush=True)
        learnt[mode] = {"signals": _named(names, weights)} | confidence(bench, mode)
    if arguments.write:
        ranking.RANKING.write_text(json.dumps(learnt, indent=2) + "\n")


def _named(names: Sequence[str], values: F64) -> dict[str, float]:
    return {name: round(float(value), 3) for name, value in zip(names, values, strict=True)}


class Bench:
    """The development repositories and their questions."""

    def __init__(self, folder: Path, repos: Path, indexes: Path, embedder: Embedder) -> None:
        self._specs = {spec["name"]: spec for spec in json.loads((folder / "repos.json").read_text())}
        self.names: list[str] = json.loads((folder / "split.json").read_text())["dev"]
        self._items = {
            name: json.loads((folder / "annotations" / f"{name}.json").read_text()) for name in self.names
        }
        self._repos, self._indexes, self._embedder = repos, indexes, embedder
        self._corpora: dict[tuple[str, str], Corpus] = {}

    def corpus(self, name: str, setting: str) -> Corpus:
        """Index one repository, or open its index."""
        if (name, setting) not in self._corpora:
            root = self._repos / name / (self._start(name) if setting == "source" else "")
            space = Workspace(root.resolve(), self._indexes / f"{name}-{setting}", Settings(), self._embedder)
            self._corpora[name, setting] = Corpus(reindex(space).snapshot)
        return self._corpora[name, setting]

    def _start(self, name: str) -> str:
        return str(self._specs[name].get("benchmark_root") or "").strip("/")

    def found(self, name: str, setting: str, mode: str, query: str) -> Candidates:
        """Ask one repository."""
        corpus = self.corpus(name, setting)
        means = meaning(corpus, self._embedder, query) if mode == "hybrid" else None
        question = parse(query)
        return candidates(corpus, question, over_all(corpus, question, None), means, CANDIDATES)

    def queries(self) -> Iterator[tuple[str, str]]:
        """All questions, with the repository that they are about."""
        for name in self.names:
            for item in self._items[name]:
                yield name, item["query"]

    def ask(self, setting: str, mode: str) -> list[Asked]:
        """Ask every question in one setting."""
        asked = []
        for name in self.names:
            before = self._start(name) + "/" if self._start(name) and setting == "source" else ""
            for item in self._items[name]:
                found = self.found(name, setting, mode, item["query"])
                targets = [
                    _target(target) for part in ("relevant", "secondary") for target in item.get(part, [])
                ]
                places = _shown(self.corpus(name, setting), found)
                meets = [
                    [_meets(before, place, target, self._start(name)) for target in targets]
                    for place in places
                ]
                shape = np.array(meets, np.bool_).reshape(len(places), len(targets))
                asked.append(Asked(name, item["query"], found, shape, len(targets)))
        return asked

    def table(self, setting: str, mode: str, names: Sequence[str]) -> Table:
        """Ask every question in one setting, as arrays."""
        asked = self.ask(setting, mode)
        starts = np.concatenate([[0], np.cumsum([len(one.found.files) for one in asked])]).astype(np.int64)
        x = np.concatenate([np.column_stack([one.found.signals[name] for name in names]) for one in asked])
        right = [one.meets.any(1) for one in asked]
        wanted = np.concatenate([some / max(some.sum(), 1) for some in right])
        counts = Counter(one.repo for one in asked)
        share = np.array(
            [some.any() / counts[one.repo] / len(counts) for one, some in zip(asked, right, strict=True)]
        )
        return Table(asked, starts, x, wanted, share)


def _target(target: Any) -> tuple[str, int, int]:
    if isinstance(target, str):
        return target, 1, 10**9
    return target["path"], target.get("start_line") or 1, target.get("end_line") or 10**9


def _shown(corpus: Corpus, found: Candidates) -> list[tuple[str, int, int]]:
    """Path and lines that would be shown of each candidate."""
    places = []
    for file in found.files.tolist():
        own = corpus.file[found.rows] == file
        best = select(corpus, found.rows[own], found.said[own], 1)
        lines = (best[0].run[0].start_line, best[0].run[-1].end_line) if best else (0, 0)
        places.append((corpus.snapshot.paths[file], *lines))
    return places


def _meets(before: str, place: tuple[str, int, int], target: tuple[str, int, int], start: str) -> bool:
    path, first, last = place
    paths = {target[0], f"{start}/{target[0]}" if start else target[0]}
    return before + path in paths and first <= target[2] and last >= target[1]


# --- learning


def fit(
    tables: Sequence[Table],
    names: Sequence[str],
    used: NDArray[np.bool_],
    repos: Sequence[str],
    start: F64 | None = None,
) -> F64:
    """Learn weights from the repositories that are used (r,); a good ``start`` only makes it quicker."""
    expected = np.array([EXPECTED.get(name, 0.0) for name in names])
    low = np.array([-np.inf if name in FREE | NEGATIVE else 0.0 for name in names])
    high = np.array([0.0 if name in NEGATIVE else np.inf for name in names])
    keep = {repo for repo, use in zip(repos, used, strict=True) if use}
    parts = []
    for table in tables:
        share = table.share * [one.repo in keep for one in table.asked]
        parts.append(table._replace(share=share / share.sum() / len(tables)))
    weights = np.clip(expected if start is None else start, low, high)
    loss, gradient, hessian = _loss(parts, weights, expected)
    for _ in range(60):
        free = ~(((weights <= low) & (gradient > 0)) | ((weights >= high) & (gradient < 0)))
        step = np.zeros(len(names))
        step[free] = np.linalg.solve(hessian[np.ix_(free, free)], gradient[free])
        size = 1.0
        while size > 1e-6:
            tried = np.clip(weights - size * step, low, high)
            after = _loss(parts, tried, expected)
            if after[0] < loss - 1e-4 * size * float(gradient @ step) * 0.01:
                break
            size /= 2
        else:
            break
        done = loss - after[0] < 1e-7
        weights, (loss, gradient, hessian) = tried, after
        if done:
            break
    return weights


def _loss(parts: Sequence[Table], weights: F64, expected: F64) -> tuple[float, F64, F64]:
    """Loss, gradient (s,) and Hessian (s, s)."""
    away = weights - expected
    loss, gradient = PULL / 2 * float(away @ away), PULL * away
    hessian = PULL * np.eye(len(weights))
    for part in parts:
        first, lengths = part.starts[:-1], np.diff(part.starts)
        sums = part.x @ weights
        sums -= np.repeat(np.maximum.reduceat(sums, first), lengths)
        odds = np.exp(sums)
        total = np.add.reduceat(odds, first)
        chance = odds / np.repeat(total, lengths)
        loss -= float(part.share @ (np.add.reduceat(part.wanted * sums, first) - np.log(total)))
        share = np.repeat(part.share, lengths)
        gradient = gradient - part.x.T @ (share * (part.wanted - chance))
        mean = np.add.reduceat(part.x * chance[:, None], first)
        spread = part.x.T @ (part.x * (share * chance)[:, None]) - mean.T @ (mean * part.share[:, None])
        hessian = hessian + spread
    return loss, gradient, hessian


def left_out(tables: Sequence[Table], names: Sequence[str], folds: int = 21) -> tuple[list[F64], F64]:
    """Sums (c,) of each setting by weights learnt without the question's repository; the mean of these weights."""
    repos = sorted({one.repo for one in tables[0].asked})
    sums = [np.zeros(len(table.x)) for table in tables]
    all_weights = []
    start = fit(tables, names, np.ones(len(repos), np.bool_), repos)
    for fold in range(folds):
        used = np.arange(len(repos)) % folds != fold
        weights = fit(tables, names, used, repos, start)
        all_weights.append(weights)
        out = {repo for repo, use in zip(repos, used, strict=True) if not use}
        for table, column in zip(tables, sums, strict=True):
            rows = np.repeat([one.repo in out for one in table.asked], np.diff(table.starts))
            column[rows] = table.x[rows] @ weights
    return sums, np.mean(all_weights, axis=0)


def _report(
    mode: str, tables: Sequence[Table], names: Sequence[str], lexical: list[list[float]]
) -> list[list[float]]:
    """Print NDCG@10 of each setting, and return each question's; names are always asked for by words alone."""
    sums, weights = left_out(tables, names)
    told = []
    for at, (setting, table, column) in enumerate(zip(SETTINGS, tables, sums, strict=True)):
        ends = zip(table.asked, table.starts[:-1], table.starts[1:], strict=True)
        scores = [ndcg(one, column[start:end]) for one, start, end in ends]
        if lexical:
            scores = [lexical[at][i] if _is_name(one) else scores[i] for i, one in enumerate(table.asked)]
        told.append(scores)
        kinds, repos = defaultdict(list), defaultdict(list)
        for one, score in zip(table.asked, scores, strict=True):
            kinds["symbol" if _is_name(one) else "sentence"].append(score)
            repos[one.repo].append(score)
        mean = float(np.mean([np.mean(values) for values in repos.values()]))
        by_kind = {kind: round(float(np.mean(values)), 4) for kind, values in kinds.items()}
        print(f"{mode} {setting}: NDCG@10 {mean:.4f} {by_kind}", flush=True)
    print({name: round(float(value), 2) for name, value in zip(names, weights, strict=True)})
    return told


def _is_name(asked: Asked) -> bool:
    return " " not in asked.query.strip()


def ndcg(asked: Asked, sums: F64, k: int = 10) -> float:
    """NDCG@10 as the benchmark has it: each rank counts once, each target at its first rank."""
    order = np.argsort(-np.round(sums, 5), kind="stable")[:k]
    met = np.zeros(asked.targets, np.bool_)
    gain = 0.0
    for rank, at in enumerate(order.tolist()):
        if (asked.meets[at] & ~met).any():
            gain += 1 / math.log2(rank + 2)
        met |= asked.meets[at]
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(k, asked.targets)))


# --- how sure an answer is


def confidence(bench: Bench, mode: str) -> dict[str, Any]:
    """Learn how sure the best candidate is, and say how well that tells right questions from others."""
    names = [name for name in SURE if mode == "hybrid" or not name.startswith("meaning")]
    right, wrong = [], []
    queries = list(bench.queries())
    for at, (name, query) in enumerate(queries):
        right.append(_absolute(bench.found(name, "whole", mode, query), names))
        other = bench.names[(bench.names.index(name) + 1 + at % (len(bench.names) - 1)) % len(bench.names)]
        wrong.append(_absolute(bench.found(other, "whole", mode, query), names))
    off = [
        _absolute(bench.found(name, "whole", mode, q), names) for name in bench.names[::4] for q in QUESTIONS
    ]
    x = np.array(right + wrong + off)
    y = np.array([1.0] * len(right) + [0.0] * (len(wrong) + len(off)))
    weight = np.concatenate([np.full(len(p), 1 / len(p)) for p in (right, wrong, off)]) * [1.0]
    weight[: len(right)] *= 2
    learnt = _logistic(x, y, weight)
    told = [1 / (1 + np.exp(-(np.array(part) @ learnt[:-1] + learnt[-1]))) for part in (right, wrong, off)]
    for part, values in zip(("right", "other repository", "off topic"), told, strict=True):
        print(f"{mode} sureness, {part}: {np.percentile(values, [5, 25, 50, 75, 95]).round(3).tolist()}")
    return {"confidence": _named(names, learnt[:-1]), "bias": round(float(learnt[-1]), 3)}


def _absolute(found: Candidates, names: Sequence[str]) -> list[float]:
    if not len(found.files):
        return [0.0] * len(names)
    return [float(found.absolute[name].max()) for name in names]


def _logistic(x: F64, y: F64, weight: F64, pull: float = 1e-3) -> F64:
    x = np.column_stack([x, np.ones(len(x))])
    learnt = np.zeros(x.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-(x @ learnt)))
        gradient = x.T @ (weight * (chance - y)) + pull * learnt
        hessian = (x * (weight * chance * (1 - chance))[:, None]).T @ x + pull * np.eye(len(learnt))
        learnt -= np.linalg.solve(hessian, gradient)
    return learnt


if __name__ == "__main__":
    main()
