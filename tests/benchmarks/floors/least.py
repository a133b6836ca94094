"""An index that answers with the least that an answer takes, for the floors that ask it.

A question is compared with every vector, its words' postings are added up, and of the ten best places the text is read and
held against what was indexed. Nothing is ranked beyond the sum of the two, no name is looked for, no rule is kept.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import simsimd

from indexer import tokens
from indexer.embed.static import StaticEmbedder
from indexer.keys import keys_of
from indexer.store import open_snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_K = 10
_MANY = 150_000  # vectors that are worth a second thread
_THREADS = min(2, os.cpu_count() or 1)


class Index:
    """The arrays of an index, and what is made of them once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.snapshot = open_snapshot(root / ".indexer")
        self.embedder = StaticEmbedder()
        self.content = self.snapshot.rows.content.astype(np.int64)
        self.file = self.snapshot.rows.file

    def answer(self, query: str) -> list[dict[str, Any]]:
        """The ten rows with the highest sum of likeness and words."""
        n = self.snapshot.content_count
        scores = self._likeness(query, n)
        scores += self._words(query, n)
        rows = scores[self.content]
        best = np.argpartition(rows, -min(_K, len(rows)))[-_K:]
        return [self._shown(row, float(rows[row])) for row in best[np.argsort(-rows[best])].tolist()]

    def _likeness(self, query: str, n: int) -> NDArray[np.float64]:
        vector = self.embedder.embed_terms(tokens.count_one(query))
        step = float(np.abs(vector).max()) / 127 or 1.0
        question = np.rint(vector / step).astype(np.int8)
        scores = np.empty(n)
        for first, vectors, scales in self.snapshot.vectors():
            if not len(vectors):
                continue
            threads = _THREADS if len(vectors) >= _MANY else 1
            products = np.asarray(simsimd.cdist(question, vectors, "dot", threads=threads))[0]
            np.multiply(products, scales * step, out=scores[first : first + len(vectors)])
        return scores

    def _words(self, query: str, n: int) -> NDArray[np.float64]:
        held = self.snapshot.holding(tokens.hash_terms(list(set(tokens.terms_of(query)))))
        worth = np.log1p(n / (1 + np.bincount(held.place, minlength=1)))
        said = worth[held.place] * (held.often / (held.often + 1.2))
        return np.bincount(held.ids, said, n).astype(np.float64)

    def _shown(self, row: int, score: float) -> dict[str, Any]:
        path = self.snapshot.paths[self.file[row]]
        text = (self.root / path).read_bytes()
        body = b"".join(text[span.start : span.end] for span in self.snapshot.spans(row))
        current = int(self.snapshot.find_contents(keys_of([body]))[0]) == int(self.content[row])
        return {"path": path, "score": score, "current": current, "text": body.decode("utf-8", "replace")}
