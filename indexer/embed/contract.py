"""What an embedder and a term embedder look like; what they promise is said in `indexer.embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from indexer.tokens import TermCounts


@runtime_checkable
class Embedder(Protocol):
    """From texts to unit vectors; the module's docstring is the contract."""

    @property
    def name(self) -> str:
        """Who made the vectors, as in ``embed.model``."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    @property
    def version(self) -> str:
        """Changes whenever any vector would."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 (len(texts), dim), rows of length 1 or all zeros."""


@runtime_checkable
class TermEmbedder(Embedder, Protocol):
    """An embedder that needs no more than the counted terms of a text."""

    def embed_terms(self, counts: TermCounts) -> NDArray[np.float32]:
        """Return float32 (number of counted texts, dim): what `embed` gives for the texts themselves."""
