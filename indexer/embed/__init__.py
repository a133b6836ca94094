"""Embedders: from texts to vectors of unit length. What every one of them promises is said here, once.

An embedder has

- ``name``, ``dim`` and ``version``: who it is. The store keeps all three; vectors of two embedders, or of two
  versions of one, are never in the same index. Whatever would change any vector changes ``version``;
- ``embed(texts)``: float32 of shape (len(texts), dim), row i for text i, batch first. Rows have length 1 within
  1e-3; the row of a text that says nothing to the embedder (an empty one) is all zeros. The same text gives the
  same row in any batch, process and order. What cannot be embedded raises `EmbedderError`: never fewer rows, never
  a guess.

A *term embedder* also has ``embed_terms(counts)``: the same rows from `tokens.count_terms` of the texts' UTF-8, so
that a text that was counted for the postings is not read again. `hashing` and `static` are of this kind.

A model of your own (a local one, or a client of a server) is a package that is installed beside this one and names
a function without arguments, which returns the embedder, in the entry-point group ``indexer.embedders``::

    [project.entry-points."indexer.embedders"]
    my-model = "my_package:make_embedder"

Then ``embed.model = "my-model"`` selects it. Addresses, keys and time-outs are that package's own business; a
repository can neither choose nor configure it. `load` wraps whatever it loads with `checked`, so that a wrong shape or
type, a value that is not finite or a row that is not of unit length is an error before it reaches the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.tokens import TermCounts

GROUP = "indexer.embedders"
_UNIT = 1e-3  # how far a row's length may be from 1: float16 models stay well below it


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


def load(name: str) -> Embedder:
    """Return the embedder of that name, checked. An unknown name or one that cannot be made: `EmbedderError`."""
    if name == "hashing":
        from indexer.embed.hashing import HashingEmbedder

        return checked(HashingEmbedder())
    if name == "static":
        from indexer.embed.static import StaticEmbedder

        return checked(StaticEmbedder())
    from importlib.metadata import entry_points  # slow to import, and few have a model of their own

    found = [point for point in entry_points(group=GROUP) if point.name == name]
    if not found:
        others = sorted({point.name for point in entry_points(group=GROUP)})
        raise EmbedderError(f'embed.model: no embedder is called "{name}"; there are {_list(others)}')
    try:
        made = found[0].load()()
    except Exception as error:
        raise EmbedderError(f'embedder "{name}" ({found[0].value}) could not be made: {error!r}') from error
    if not isinstance(made, Embedder):
        raise EmbedderError(f'embedder "{name}" ({found[0].value}) has not the attributes of an embedder')
    return checked(made)


def _list(others: list[str]) -> str:
    return ", ".join(["hashing", "static", *others])


def checked(embedder: Embedder) -> Embedder:
    """Wrap an embedder so that it raises `EmbedderError` where it does not give what it promised."""
    if isinstance(embedder, _Checked):
        return embedder
    if not isinstance(embedder.dim, int) or embedder.dim < 1:
        raise EmbedderError(f'embedder "{embedder.name}" says it has {embedder.dim!r} dimensions')
    return _CheckedTerms(embedder) if isinstance(embedder, TermEmbedder) else _Checked(embedder)


class _Checked:
    """An embedder whose every answer is looked at."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name: str = inner.name
        self.dim: int = inner.dim
        self.version: str = inner.version

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
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


class _CheckedTerms(_Checked):
    """The same for a term embedder."""

    def embed_terms(self, counts: TermCounts) -> NDArray[np.float32]:
        inner: Any = self._inner
        return self._look(len(counts.offsets) - 1, inner.embed_terms(counts))
