"""The file of the static embedder: an ``.npz`` of six arrays.

- ``terms``: uint64 (v,), ascending and unique: `tokens.hash_terms` of the terms the model knows;
- ``vectors``: int8 (v, dim), and ``scales``: float32 (v,), finite: term i's vector is ``scales[i] * vectors[i]``. How
  much a term matters is in its vector's length, frozen at training, never learnt from the indexed repository;
- ``buckets``: int8 (2 * `tokens.BUCKETS`, dim), and ``bucket_scales``: float32, likewise. The first half are the vectors
  of `tokens.heads`, the second of `tokens.tails`: an unknown term's vector is the sum of its two;
- ``meta``: uint8, JSON: ``{"version": "...", "tokenizer": tokens.VERSION}``. A model of another tokenizer version knows
  other terms and is refused.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from indexer import tokens
from indexer.embed import later
from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = Path(later.MODEL)
_ARRAYS = ("terms", "vectors", "scales", "buckets", "bucket_scales")


class Model(NamedTuple):
    """What is in the file; the module's docstring has shapes and meanings."""

    terms: NDArray[np.uint64]
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]
    buckets: NDArray[np.int8]
    bucket_scales: NDArray[np.float32]
    version: str


def read(path: Path) -> Model:
    """Read and check a model file. A missing, damaged or unfitting one raises `EmbedderError`."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in _ARRAYS}
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
    wrong = _faults(arrays)
    if wrong:
        raise EmbedderError(f'embedder "static": the model {path} is damaged: {wrong}')
    return Model(**arrays, version=meta["version"])


def write(path: Path, model: Model) -> None:
    """Write a model so that the file is there whole or not at all; the same model gives the same bytes."""
    meta = json.dumps({"version": model.version, "tokenizer": tokens.VERSION}).encode()
    arrays: dict[str, Any] = {key: getattr(model, key) for key in _ARRAYS}
    unfinished = path.with_name(f".{path.name}.unfinished")
    with unfinished.open("wb") as file:
        np.savez(file, **arrays, meta=np.frombuffer(meta, np.uint8))
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def version_of(model: Model) -> str:
    """Name a model by its content: the same vectors for the same terms have the same name, anywhere."""
    import hashlib  # for training alone, and slow to import

    digest = hashlib.sha256()
    for key in _ARRAYS:
        digest.update(np.ascontiguousarray(getattr(model, key)).tobytes())
    return digest.hexdigest()[:12]


def _faults(arrays: dict[str, Any]) -> str:
    terms, vectors, scales, buckets, bucket_scales = (arrays[key] for key in _ARRAYS)
    types = [array.dtype for array in (terms, vectors, scales, buckets, bucket_scales)]
    if types != [np.uint64, np.int8, np.float32, np.int8, np.float32]:
        return "its arrays have other types than uint64, int8, float32, int8, float32"
    shapes = [array.shape for array in (vectors, scales, buckets, bucket_scales)]
    v, dim = len(terms) if terms.ndim == 1 else -1, vectors.shape[-1] if vectors.ndim else 0
    b = 2 * tokens.BUCKETS
    if dim < 1 or shapes != [(v, dim), (v,), (b, dim), (b,)]:
        return f"its arrays have other shapes than (v,), (v, dim), (v,), ({b}, dim), ({b},)"
    if (terms[1:] <= terms[:-1]).any():
        return "its terms are not ascending"
    finite = np.isfinite(scales).all() and np.isfinite(bucket_scales).all()
    return "" if finite else "a scale is not finite"
