"""An embedder whose every answer is looked at, so that a wrong one is an error before it reaches the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.embed import Embedder
    from indexer.tokens import TermCounts

_UNIT = 1e-3  # how far a row's length may be from 1: float16 models stay well below it


class Checked:
    """An embedder whose every answer is looked at."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.dim: int = inner.dim
        self.version: str = inner.version

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, looked at."""
        return self._look(len(texts), self._inner.embed(texts))

    def _look(self, n: int, vectors: object) -> NDArray[np.float32]:
        if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32:
            self._fail(f"float32 was promised, {getattr(vectors, 'dtype', type(vectors).__name__)} came")
        rows = cast("NDArray[np.float32]", vectors)
        if rows.shape != (n, self.dim):
            self._fail(f"shape ({n}, {self.dim}) was promised, {rows.shape} came")
        squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
        if not np.isfinite(squares).all():
            self._fail("a vector has a value that is not finite")
        if (np.abs(np.sqrt(squares[squares > 0]) - 1) > _UNIT).any():
            self._fail("vectors of length 1 were promised, others came")
        return rows

    def _fail(self, what: str) -> None:
        raise EmbedderError(f'embedder "{self.name}": {what}')


class CheckedTerms(Checked):
    """The same for a term embedder."""

    def embed_terms(self, counts: TermCounts) -> NDArray[np.float32]:
        """Return the vectors of counted texts, looked at."""
        inner: Any = self._inner
        return self._look(len(counts.offsets) - 1, inner.embed_terms(counts))
