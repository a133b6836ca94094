"""The shipped model's embedder, by what its file says of itself: the model is read when there is something to embed.

Most runs find nothing changed and embed nothing, and all of them have to know what their vectors are made by. So of
the file only what names it is read here: the archive's list of members, the head of ``vectors`` and ``meta`` (see
`indexer.embed.model`). They are stored one after the other, uncompressed (APPNOTE 6.3.10, 4.3.12 and 4.3.16; numpy's
format 1.0). A file that is not like that is read whole, and refused by the one who reads it.
"""

from __future__ import annotations

import json
import os
import re
from functools import cached_property
from struct import Struct, error

from indexer.errors import EmbedderError
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.versions import TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from indexer.embed import Embedder
    from indexer.tokens import TermCounts

MODEL = os.path.join(os.path.dirname(__file__), "static.npz")  # noqa: PTH118, PTH120  (pathlib is slow to load)
_END = Struct("<I4xHHII2x")  # signature, number of members, (again), bytes and place of their list
_MEMBER = Struct("<I16xIIHHH8xI")  # signature, sizes, lengths of name, extra and comment, place
_LOCAL = Struct("<I22xHH")  # signature, lengths of name and extra
_SHAPE = re.compile(rb"'shape': \(\d+, (\d+)\)")
_HEAD = 256  # bytes of an array's member that hold its head


class Claim(NamedTuple):
    """What the model's file says it is."""

    version: str
    dim: int


def claim_of(path: str | Path) -> Claim | None:
    """Read what a model's file says of itself; None where that cannot be told without reading it whole."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123
            return _claim(file.fileno())
    except (OSError, ValueError, KeyError, TypeError, error):
        return None


def _claim(file: int) -> Claim | None:
    size = os.fstat(file).st_size
    signature, _, count, length, at = _END.unpack(os.pread(file, _END.size, size - _END.size))
    if signature != 0x06054B50:
        return None
    listed = os.pread(file, length, at)
    places: dict[bytes, tuple[int, int]] = {}
    at = 0
    for _ in range(count):
        _, _, plain, name, extra, comment, place = _MEMBER.unpack_from(listed, at)
        at += _MEMBER.size
        places[listed[at : at + name]] = (place, plain)
        at += name + extra + comment
    shape = _SHAPE.search(_bytes_of(file, *places[b"vectors.npy"]))
    meta = _bytes_of(file, *places[b"meta.npy"])
    told = json.loads(meta[meta.index(b"\n") + 1 :])
    if shape is None or told["tokenizer"] != TOKENIZER or not isinstance(told["version"], str):
        return None
    return Claim(told["version"], int(shape[1]))


def _bytes_of(file: int, place: int, size: int) -> bytes:
    """The first bytes of a member."""
    _, name, extra = _LOCAL.unpack(os.pread(file, _LOCAL.size, place))
    return os.pread(file, min(size, _HEAD), place + _LOCAL.size + name + extra)


def static(path: str | Path = MODEL) -> Embedder:
    """Return the embedder of a model file, checked. One that is missing, damaged or unfitting: `EmbedderError`."""
    claim = claim_of(path)
    return _read(path) if claim is None else Later(path, claim)


def _read(path: str | Path) -> Embedder:
    from pathlib import Path  # here, as all that follows: for those who embed

    from indexer.embed import checked
    from indexer.embed.static import StaticEmbedder

    return checked(StaticEmbedder(Path(path)))


class Later:
    """The embedder of a model file whose arrays have not been read yet."""

    name = "static"

    def __init__(self, path: str | Path, claim: Claim) -> None:
        self._path = path
        self.dim = claim.dim
        self.version = f"{claim.version}/{TOKENIZER}"

    @cached_property
    def _inner(self) -> Embedder:
        inner = _read(self._path)
        if (inner.dim, inner.version) != (self.dim, self.version):
            raise EmbedderError(f'embedder "static": the model {self._path} was replaced; start again')
        return inner

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, dim)."""
        return self._inner.embed(texts)

    def embed_terms(self, counts: TermCounts) -> NDArray[np.float32]:
        """Return the vectors of counted texts, shape (n, dim)."""
        rows: NDArray[np.float32] = self._inner.embed_terms(counts)  # type: ignore[attr-defined]
        return rows
