"""The training: pairs of texts come near each other, and away from the rest of their batch.

The loss is InfoNCE (van den Oord et al. 2018) in both directions over cosines with a learnt temperature. A text's
vector is what it is when the model is used: the sum of its terms' vectors, each times 1 + log(count). Pairs of which
a text is the same are not told from each other. What a term's two texts have in common is dropped from the right one
at random, lest word overlap be all that is learnt; known terms are now and then taken for unknown, so that the
buckets learn from all terms.

Optimised with Adagrad (Duchi et al. 2011) over whole rows: a row's step is its gradient over the root of the sum of
the squares of all it had, so that a term that is met a hundred times moves some ten times as far as one that is met
once. (Adam moves both alike: rare terms then learn their few pairs by heart.) The rate falls to nothing in a straight line.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from indexer import tokens
from indexer.train.batches import batches, draw
from indexer.train.examples import Bags, stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from indexer.train.companions import Companions
    from indexer.train.examples import Examples
    from indexer.train.lessons import Lessons

    F32 = NDArray[np.float32]


_CALM = 1e-8  # what the squares of a term's gradients start from
_SHARPNESS = 15.0  # of a likeness, when it is made a share


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train. ``shares`` weighs the kinds of pairs; ``drop`` and ``forget`` are probabilities a term."""

    epochs: float = 3
    batch: int = 2048
    block: int = 64
    rate: float = 1.0  # how far a term moves at its first gradient; a term's vector is about 1 long
    scale_rate: float = 0.05
    scale: float = 25.0  # of the cosines, at the beginning: one over the temperature
    most_scale: float = 40.0
    drop: float = 0.0  # from the right text: a term that the left one has too
    lose: float = 0.1  # from either text: any term
    swap: float = 0.08  # in the left text: a term is put in another word
    translate: float = 0.05  # the left text is put in Chinese, as far as it goes
    forget: float = 0.02
    balance: float = 0.7
    shares: tuple[tuple[str, float], ...] = (("doc", 2.0), ("zhdoc", 2.0))
    lesson: int = 512  # texts a batch whose likeness to each other is to be as a teacher sees it
    teaching: float = 0.2  # how much that weighs
    seconds: float = 1e9
    threads: int = 2
    seed: int = 1


def train(
    examples: Examples,
    table: F32,
    terms: NDArray[np.uint64],
    plan: Plan,
    *,
    tell: Callable[[str], None],
    lessons: Lessons | None = None,
    companions: Companions | None = None,
) -> F32:
    """Return the trained table. The same input gives the same output on the same machine and version of torch."""
    torch.set_num_threads(plan.threads)
    run = _Run(table, terms, plan, lessons, companions)
    steps = max(1, int(plan.epochs * len(examples) / plan.batch))
    begun = time.monotonic()
    losses: list[float] = []
    for step, chosen in enumerate(_forever(examples, plan, run.rng)):
        done = max(step / steps, (time.monotonic() - begun) / plan.seconds)
        if done >= 1:
            break
        losses.append(run.step(examples.take(chosen), 1 - done))
        if step % 100 == 99:
            spent = time.monotonic() - begun
            told = f"loss {np.mean(losses[-100:]):.3f}, scale {run.log_scale.exp():.1f}, {spent:.0f} s"
            tell(f"step {step + 1}/{steps}, {told}")
    trained: F32 = run.weight.numpy()
    return trained


def _forever(examples: Examples, plan: Plan, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    while True:
        chosen = draw(examples, dict(plan.shares), rng, balance=plan.balance)
        yield from batches(examples, chosen, rng, size=plan.batch, block=plan.block)


class _Run:
    """One training: what is learnt, and how."""

    def __init__(
        self,
        table: F32,
        terms: NDArray[np.uint64],
        plan: Plan,
        lessons: Lessons | None,
        companions: Companions | None,
    ) -> None:
        torch.manual_seed(plan.seed)
        self.rng = np.random.default_rng(plan.seed)
        self.weight = torch.from_numpy(_unit_scaled(table))
        self.log_scale = torch.tensor(np.log(plan.scale), dtype=torch.float32)
        self._moved = torch.full((len(table), 1), _CALM)
        self._terms = terms
        self._plan = plan
        self._lessons = lessons
        self._companions = companions

    def step(self, some: Examples, left_to_go: float) -> float:
        """Learn from one batch, at a rate in proportion to what is left to go, and return the batch's loss."""
        rng, plan = self.rng, self._plan
        left = some.left.keep(rng.random(len(some.left.rows)) >= plan.lose)
        if self._companions:
            left = self._companions.put(left, rng, swap=plan.swap, translate=plan.translate)
        gone = np.where(some.right.shared, 1 - (1 - plan.drop) * (1 - plan.lose), plan.lose)
        right = some.right.keep(rng.random(len(some.right.rows)) >= gone)
        bags = forget(stacked([left, right]), self._terms, plan.forget, rng)
        lesson = self._lessons.draw(rng, plan.lesson) if self._lessons else None
        if lesson:
            bags = stacked([bags, lesson.bags])
        matrix, transposed = _matrices(bags, len(self.weight))
        sums = (matrix @ self.weight).requires_grad_()
        unit = F.normalize(sums, dim=1)
        n = len(some)
        scale = self.log_scale.exp().clamp(max=plan.most_scale)
        lefts, rights, likeness = unit.detach().tensor_split([n, 2 * n])
        same = torch.from_numpy(_same(some))
        loss, left_slope, right_slope, scale_slope = contrast(lefts, rights, scale, same)
        slopes = [left_slope, right_slope]
        if lesson:
            likeness.requires_grad_()
            (plan.teaching * _likeness_loss(likeness, lesson.vectors)).backward()
            slopes.append(likeness.grad)
        unit.backward(torch.cat(slopes))
        slope = transposed @ sums.grad
        self._moved += slope.square().sum(1, keepdim=True)
        self.weight -= slope * (plan.rate * left_to_go / self._moved.sqrt())
        self.log_scale -= plan.scale_rate * left_to_go * scale_slope
        return loss


def contrast(left: Any, right: Any, scale: Any, same: Any) -> tuple[float, Any, Any, Any]:
    """InfoNCE in both directions over unit rows: the loss, and its slopes by left, right and log(scale).

    ``same`` marks pairs that are not told from each other. Written out by hand, one exponential serves both
    directions, which takes less than half the time of two cross entropies. Cosines are at most 1, so that nothing
    overflows.
    """
    cosines = left @ right.T
    likely = (cosines - 1).mul_(scale).exp_().masked_fill_(same, 0)
    rows, columns = likely.sum(1, keepdim=True), likely.sum(0, keepdim=True)
    own = (cosines.diagonal() - 1) * scale
    loss = float((rows.log().mean() + columns.log().mean()) / 2 - own.mean())
    likely.mul_(0.5 / rows + 0.5 / columns)
    likely.diagonal().sub_(1)
    likely.div_(len(left))
    return loss, likely @ right * scale, likely.T @ left * scale, (likely * cosines).sum() * scale


def _likeness_loss(unit: Any, vectors: F32) -> Any:
    """How far the likeness of texts to each other is from what the teacher sees (Kullback-Leibler, by text)."""
    taught = torch.from_numpy(vectors)
    itself = torch.eye(len(taught), dtype=torch.bool)
    wanted = (taught @ taught.T * _SHARPNESS).masked_fill(itself, -1e4).softmax(dim=1)
    found = (unit @ unit.T * _SHARPNESS).masked_fill(itself, -1e4).log_softmax(dim=1)
    return F.kl_div(found, wanted, reduction="batchmean")


def _unit_scaled(table: F32) -> F32:
    """Scale the table to a mean length of 1, for which the learning rate is meant."""
    lengths = np.linalg.norm(table, axis=1)
    scaled: F32 = table / lengths[lengths > 0].mean()
    return scaled


def forget(bags: Bags, terms: NDArray[np.uint64], share: float, rng: np.random.Generator) -> Bags:
    """Take a share of the known terms for unknown ones: each becomes the rows of how it begins and ends."""
    v = len(terms)
    gone = (rng.random(len(bags.rows)) < share) & (bags.rows < v)
    repeats = 1 + gone
    ends = np.cumsum(repeats)
    rows, strange = np.repeat(bags.rows, repeats), terms[bags.rows[gone]]
    rows[ends[gone] - 2] = v + tokens.heads(strange)
    rows[ends[gone] - 1] = v + tokens.BUCKETS + tokens.tails(strange)
    offsets = np.concatenate([[0], ends])[bags.offsets]
    return Bags(offsets, rows, np.repeat(bags.weights, repeats), np.repeat(bags.shared, repeats))


def _matrices(bags: Bags, size: int) -> tuple[Any, Any]:
    """Return texts as a sparse matrix (n, size), and its transpose."""
    n = len(bags.offsets) - 1
    order = np.argsort(bags.rows, kind="stable")
    owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(bags.offsets))
    starts = np.concatenate([[0], np.bincount(bags.rows, minlength=size).cumsum()])
    return (
        _csr(bags.offsets, bags.rows, bags.weights, (n, size)),
        _csr(starts, owner[order], bags.weights[order], (size, n)),
    )


def _csr(offsets: Any, columns: Any, values: Any, shape: tuple[int, int]) -> Any:
    parts = (torch.from_numpy(part) for part in (offsets.astype(np.int32), columns, values))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(*parts, shape, check_invariants=False)


def _same(some: Examples) -> NDArray[np.bool_]:
    """Mark the places of a batch's scores where another pair has the same left or the same right text."""
    same: NDArray[np.bool_] = some.left_text[:, None] == some.left_text
    same |= some.right_text[:, None] == some.right_text
    np.fill_diagonal(same, val=False)
    return same
