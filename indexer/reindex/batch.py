"""Files that are cut but not bound yet, and those of their contents that have no vector yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.chunk.cutting import content_of
from indexer.embed import TermEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.chunk.cutting import Cut
    from indexer.embed import Embedder
    from indexer.store import Writer
    from indexer.types import FileRecord


@dataclass(slots=True)
class Waiting:
    """A text at the parser, and every file of this run that holds the same bytes in the same language."""

    records: list[FileRecord]
    text: bytes


@dataclass(slots=True)
class _New:
    """Contents that the store lacks: keys (n, 2), their terms, and their texts where the embedder needs them."""

    keys: list[NDArray[np.uint64]] = field(default_factory=list)
    terms: list[tokens.TermCounts] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)


class Batch:
    """Gathers cuts until `flush` gives the new contents among them vectors and binds the files."""

    def __init__(self, embedder: Embedder, writer: Writer) -> None:
        self._embedder = embedder
        self._writer = writer
        self._cuts: list[tuple[Waiting, Cut]] = []
        self._new = _New()

    def __len__(self) -> int:
        """How many contents wait for a vector."""
        return len(self._new.seen)

    def add(self, waiting: Waiting, cut: Cut) -> None:
        """Take in one cut file."""
        self._cuts.append((waiting, cut))
        chosen = [
            at
            for at in np.flatnonzero(self._writer.missing(cut.keys)).tolist()
            if self._is_first(cut.keys[at].tobytes())
        ]
        if not chosen:
            return
        self._new.keys.append(cut.keys[chosen])
        self._new.terms.append(_rows(cut.terms, chosen))
        if not isinstance(self._embedder, TermEmbedder):
            contents = content_of(waiting.text, cut.file)
            self._new.texts += [contents[at].decode("utf-8", "replace") for at in chosen]

    def _is_first(self, key: bytes) -> bool:
        if key in self._new.seen:
            return False
        self._new.seen.add(key)
        return True

    def flush(self) -> int:
        """Embed what is new, bind every gathered file, and return how many contents were embedded."""
        new, self._new = self._new, _New()
        if new.keys:
            terms = _joined(new.terms)
            if isinstance(self._embedder, TermEmbedder):
                vectors = self._embedder.embed_terms(terms)
            else:
                vectors = self._embedder.embed(new.texts)
            self._writer.add_contents(np.concatenate(new.keys), terms, vectors)
        for waiting, cut in self._cuts:
            first = waiting.records[0]
            block = self._writer.add_block(first.content_hash, first.language, cut.file, cut.keys)
            for record in waiting.records:
                self._writer.put_file(record, block)
        self._cuts.clear()
        return len(new.seen)


def _rows(counts: tokens.TermCounts, chosen: list[int]) -> tokens.TermCounts:
    """Some rows of term counts."""
    if len(chosen) == len(counts.offsets) - 1:
        return counts
    lengths = np.diff(counts.offsets)[chosen]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    at = np.arange(offsets[-1]) + np.repeat(counts.offsets[chosen] - offsets[:-1], lengths)
    return tokens.TermCounts(offsets, counts.terms[at], counts.counts[at])


def _joined(pieces: list[tokens.TermCounts]) -> tokens.TermCounts:
    """Term counts one after the other."""
    lengths = np.concatenate([np.diff(piece.offsets) for piece in pieces])
    return tokens.TermCounts(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([piece.terms for piece in pieces]),
        np.concatenate([piece.counts for piece in pieces]),
    )
