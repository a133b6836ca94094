"""The training: pairs of texts come near each other, and away from the rest of their batch.

The loss is InfoNCE (van den Oord et al. 2018) in both directions over cosines with a learnt temperature. A text's
vector is what it is when the model is used: the sum of its terms' vectors, each times 1 + log(count). Pairs of which
a text is the same are not told from each other. What a term's two texts have in common is dropped from the right one
at random, lest word overlap be all that is learnt; known terms are now and then taken for unknown, so that the
buckets learn from all terms. Optimised with Adam (Kingma and Ba 2015), the rate falling to nothing in a straight line.
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
from indexer.train.examples import Bags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from indexer.train.examples import Examples

    F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train. ``shares`` weighs the kinds of pairs; ``drop`` and ``forget`` are probabilities a term."""

    epochs: float = 8
    batch: int = 2048
    block: int = 64
    rate: float = 3e-3
    scale: float = 20.0  # of the cosines, at the beginning: one over the temperature
    most_scale: float = 40.0
    drop: float = 0.4  # from the right text: a term that the left one has too
    forget: float = 0.02
    balance: float = 0.7
    shares: tuple[tuple[str, float], ...] = ()
    seconds: float = 1e9
    threads: int = 2
    seed: int = 1


def train(
    examples: Examples, table: F32, terms: NDArray[np.uint64], plan: Plan, tell: Callable[[str], None]
) -> F32:
    """Return the trained table. The same input gives the same output on the same machine and version of torch."""
    torch.set_num_threads(plan.threads)
    torch.manual_seed(plan.seed)
    rng = np.random.default_rng(plan.seed)
    weight = torch.nn.Parameter(torch.from_numpy(_unit_scaled(table)))
    log_scale = torch.nn.Parameter(torch.tensor(np.log(plan.scale), dtype=torch.float32))
    optimiser = torch.optim.Adam(
        [{"params": [weight], "lr": plan.rate}, {"params": [log_scale], "lr": plan.rate / 3}], fused=True
    )
    steps = max(1, int(plan.epochs * len(examples) / plan.batch))
    begun = time.monotonic()
    losses: list[float] = []
    for step, chosen in enumerate(_forever(examples, plan, rng)):
        done = max(step / steps, (time.monotonic() - begun) / plan.seconds)
        if done >= 1:
            break
        for group, rate in zip(optimiser.param_groups, (plan.rate, plan.rate / 3), strict=True):
            group["lr"] = rate * (1 - done)
        losses.append(_step(examples.take(chosen), weight, log_scale, terms=terms, plan=plan, rng=rng))
        optimiser.step()
        if step % 100 == 99:
            spent = time.monotonic() - begun
            tell(
                f"step {step + 1}/{steps}, loss {np.mean(losses[-100:]):.3f}, scale {log_scale.exp():.1f}, {spent:.0f} s"
            )
    return weight.detach().numpy()


def _unit_scaled(table: F32) -> F32:
    """Scale the table to a mean length of 1, for which the learning rate is meant."""
    lengths = np.linalg.norm(table, axis=1)
    return table / lengths[lengths > 0].mean()


def _forever(examples: Examples, plan: Plan, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    while True:
        chosen = draw(examples, dict(plan.shares), rng, balance=plan.balance)
        yield from batches(examples, chosen, rng, size=plan.batch, block=plan.block)


def _step(
    some: Examples,
    weight: Any,
    log_scale: Any,
    *,
    terms: NDArray[np.uint64],
    plan: Plan,
    rng: np.random.Generator,
) -> float:
    """Set the gradients for one batch, and return its loss."""
    right = some.right.keep(~(some.right.shared & (rng.random(len(some.right.rows)) < plan.drop)))
    bags = forget(_stacked(some.left, right), terms, plan.forget, rng)
    matrix, transposed = _matrices(bags, len(weight))
    with torch.no_grad():
        sums = matrix @ weight
    sums.requires_grad_()
    left, right_ = F.normalize(sums, dim=1).split(len(some))
    scores = left @ right_.T * log_scale.exp().clamp(max=plan.most_scale)
    scores = scores.masked_fill(torch.from_numpy(_same(some)), -1e4)
    wanted = torch.arange(len(some))
    loss = (F.cross_entropy(scores, wanted) + F.cross_entropy(scores.T, wanted)) / 2
    log_scale.grad = None
    loss.backward()
    weight.grad = transposed @ sums.grad
    return float(loss.detach())


def _stacked(left: Bags, right: Bags) -> Bags:
    offsets = np.concatenate([left.offsets, right.offsets[1:] + left.offsets[-1]])
    return Bags(offsets, *(np.concatenate(both) for both in zip(left[1:], right[1:], strict=True)))


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
    same = some.left_text[:, None] == some.left_text
    same |= some.right_text[:, None] == some.right_text
    np.fill_diagonal(same, val=False)
    return same
