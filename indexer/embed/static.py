"""The static embedder: a vector a term, read from a file that ships with the package; a text is their weighted mean.

The file is an ``.npz`` of

- ``terms``: uint64 (v,), ascending and unique: `tokens.hash_terms` of the terms the model knows;
- ``vectors``: int8 (v, dim), and ``scales``: float32 (v,), finite: term i's vector is ``scales[i] * vectors[i]``. How
  much a term matters is in its vector's length, frozen at training, never learnt from the indexed repository;
- ``meta``: uint8, JSON: ``{"version": "...", "tokenizer": tokens.VERSION}``. A model of another tokenizer version knows
  other terms and is refused.

A text's vector is the sum over its known terms of (1 + log(count)) times the term's vector, at length 1; terms the
model does not know say nothing, and a text without a known term gets zeros.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from indexer import tokens
from indexer.embed.weights import weights as weight_table
from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MODEL = Path(__file__).with_name("static.npz")
_BLOCK = 8192  # term occurrences added up at once: 8 MB of float32 at 256 dimensions


class StaticEmbedder:
    """The embedder of one model file. A missing, damaged or unfitting file raises `EmbedderError`."""

    name = "static"

    def __init__(self, path: Path = MODEL) -> None:
        model = _read(path)
        self._terms: NDArray[np.uint64] = model["terms"]
        self._vectors: NDArray[np.int8] = model["vectors"]
        self._scales: NDArray[np.float32] = model["scales"]
        self.dim = int(self._vectors.shape[1])
        self.version = f"{model['version']}/{tokens.VERSION}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts, shape (n, dim)."""
        return self.embed_terms(tokens.count_terms([text.encode("utf-8", "surrogatepass") for text in texts]))

    def embed_terms(self, counts: tokens.TermCounts) -> NDArray[np.float32]:
        """Return the vectors of counted texts, shape (n, dim)."""
        n = len(counts.offsets) - 1
        place = np.searchsorted(self._terms, counts.terms)
        place[place == len(self._terms)] = 0
        known = np.flatnonzero(self._terms[place] == counts.terms) if len(self._terms) else place[:0]
        place = place[known]
        weights = self._scales[place] * (weight_table()[counts.counts[known]] / 1024).astype(np.float32)
        row = np.repeat(np.arange(n), np.diff(counts.offsets))[known]
        sums = self._sum(n, row, place, weights)
        length = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
        rows: NDArray[np.float32] = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)
        return rows

    def _sum(
        self, n: int, row: NDArray[np.int64], place: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Add up weighted vectors by row (ascending), in that order, so that a batch's cut changes no bit."""
        sums = np.zeros((n, self.dim), np.float32)
        firsts = np.flatnonzero(np.diff(row, prepend=-1))
        edges = np.unique(np.searchsorted(firsts, np.arange(0, len(row) + _BLOCK, _BLOCK)))
        for a, b in pairwise(edges.tolist()):
            begin, end = firsts[a], firsts[b] if b < len(firsts) else len(row)
            scaled = self._vectors[place[begin:end]] * weights[begin:end, None]
            sums[row[firsts[a:b]]] = np.add.reduceat(scaled, firsts[a:b] - begin)
        return sums


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            model = {key: archive[key] for key in ("terms", "vectors", "scales")}
            meta = json.loads(archive["meta"].tobytes())
    except FileNotFoundError:
        raise EmbedderError(
            f'embedder "static": there is no model at {path}; choose embed.model = "hashing"'
        ) from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise EmbedderError(f'embedder "static": the model {path} cannot be read ({error})') from error
    if not isinstance(meta, dict) or not isinstance(meta.get("version"), str):
        raise EmbedderError(f'embedder "static": the model {path} does not tell its version')
    if meta.get("tokenizer") != tokens.VERSION:
        raise EmbedderError(
            f'embedder "static": the model {path} is for tokenizer {meta.get("tokenizer")}, this is {tokens.VERSION}'
        )
    wrong = _faults(model)
    if wrong:
        raise EmbedderError(f'embedder "static": the model {path} is damaged: {wrong}')
    return model | {"version": meta["version"]}


def _faults(model: dict[str, Any]) -> str:
    terms, vectors, scales = model["terms"], model["vectors"], model["scales"]
    if (terms.dtype, vectors.dtype, scales.dtype) != (np.uint64, np.int8, np.float32):
        return "its arrays have other types than uint64, int8, float32"
    if terms.ndim != 1 or vectors.ndim != 2 or vectors.shape[1] < 1 or scales.ndim != 1:
        return "its arrays have other shapes than (v,), (v, dim), (v,)"
    if not len(terms) == len(vectors) == len(scales):
        return "its arrays have different lengths"
    if (terms[1:] <= terms[:-1]).any():
        return "its terms are not ascending"
    return "" if np.isfinite(scales).all() else "a scale is not finite"
