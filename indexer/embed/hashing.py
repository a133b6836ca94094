"""Signed feature hashing of the shared tokenizer's terms: no model, no file, the same bits on every machine.

Each term adds its weight, 1 + log(count), with a sign, to one of the dimensions; both come from the upper bits of its
number.
The vectors know nothing of meaning: they are for tests, for ``related`` and as a fallback, and the ranking leaves
them out (fused with BM25 they make it worse). Sums are exact, and the square root and the division that follow are
correctly rounded by IEEE 754.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.embed.weights import weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class HashingEmbedder:
    """The hashing embedder with ``dim`` dimensions."""

    name = "hashing"

    def __init__(self, dim: int = 256) -> None:
        self.dim = dim
        self.version = f"1/{tokens.VERSION}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, dim)."""
        return self.embed_terms(tokens.count_terms([text.encode("utf-8", "surrogatepass") for text in texts]))

    def embed_terms(self, counts: tokens.TermCounts) -> NDArray[np.float32]:
        """Return the vectors of counted texts, shape (n, dim)."""
        n = len(counts.offsets) - 1
        row = np.repeat(np.arange(n), np.diff(counts.offsets))
        column = ((counts.terms >> np.uint64(24)) % np.uint64(self.dim)).astype(np.int64)
        sign = 1 - 2 * (counts.terms >> np.uint64(63)).astype(np.int64)
        sums = np.bincount(row * self.dim + column, weights()[counts.counts] * sign, minlength=n * self.dim)
        sums = sums.reshape(n, self.dim).astype(np.float64)  # bincount of nothing gives integers
        length = np.sqrt((sums * sums).sum(axis=1, keepdims=True))  # whole numbers still, below 2**53: exact
        rows: NDArray[np.float64] = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)
        return rows.astype(np.float32)
