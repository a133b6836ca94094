"""A question of filters alone: everything that passes them, in the order of the paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.search import show
from indexer.search.found import Found

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indexer.search.corpus import Corpus
    from indexer.search.query import Request

MODE = "list"


def listed(
    corpus: Corpus,
    request: Request,
    reader: show.Reader,
    among: NDArray[np.bool_],
    notes: Sequence[str],
) -> Found:
    """Return the first k chunks that pass, by path and place, each with score 1; equal contents stand together."""
    wanted = among if request.calls else among & (corpus.snapshot.part == 0)
    rows = list(_first_of_each(corpus, wanted))
    shown = [show.Ranked(row, 1.0, corpus.snapshot.spans(row)) for row in rows[: request.k]]
    hits = show.hits(corpus, reader, shown, wanted)
    if len(rows) > request.k:
        notes = [*notes, f"the first {request.k:,} of {len(rows):,}; -k shows more"]
    return Found(MODE, hits, notes=tuple(notes))


def _first_of_each(corpus: Corpus, wanted: NDArray[np.bool_]) -> Iterator[int]:
    rows = np.flatnonzero(wanted)
    _, first = np.unique(corpus.content[rows], return_index=True)
    yield from rows[np.sort(first)].tolist()
