"""From a trained table to the model that is shipped: eight bits a number, one scale a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.embed.model import Model, version_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


def export(terms: NDArray[np.uint64], table: NDArray[np.float32]) -> Model:
    """Round a table, (v + buckets, dim), to a model; its version is the hash of its content."""
    whole, scales = quantised(table)
    v = len(terms)
    model = Model(terms, whole[:v], scales[:v], whole[v:], scales[v:], "")
    return model._replace(version=version_of(model))


def quantised(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round each row to whole numbers of its scale, the largest of them 127; a row of zeros has scale 0."""
    scales = (np.abs(table).max(axis=1) / 127).astype(np.float32)
    whole = np.rint(table / np.where(scales > 0, scales, 1)[:, None])
    return whole.clip(-127, 127).astype(np.int8), scales
