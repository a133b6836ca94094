"""What a teacher says of single words and of sentences, for the student not to forget it while it learns from pairs.

Pairs teach what words of code mean; that "erase" is near "remove", which no pair may ever say, is known to the teacher.
A lesson is some texts and the teacher's vectors of them; how like the texts are to each other is what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.train.examples import Bags, bags_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.train.start import Teacher

    F32 = NDArray[np.float32]


class Lessons(NamedTuple):
    """Texts, and unit vectors of them by a teacher, (n, d)."""

    bags: Bags
    vectors: F32

    def draw(self, rng: np.random.Generator, number: int) -> Lessons:
        """Return some of them."""
        chosen = np.sort(rng.choice(len(self.vectors), min(number, len(self.vectors)), replace=False))
        return Lessons(self.bags.take(chosen), self.vectors[chosen])


def lessons_of(texts: Sequence[str], terms: NDArray[np.uint64], teacher: Teacher) -> Lessons:
    """Have a teacher look at texts; those without a term are left out."""
    bags = bags_of(texts, terms)
    full = np.flatnonzero(np.diff(bags.offsets))
    return Lessons(bags.take(full), teacher(texts)[full])
