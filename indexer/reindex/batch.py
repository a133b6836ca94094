"""Files that are cut but not bound yet, and those of their contents that have no vector yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.chunk.cutting import contents_of
from indexer.embed import TermEmbedder
from indexer.keys import as_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.chunk.cutting import Cuts
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
        self._by_terms = embedder if isinstance(embedder, TermEmbedder) else None
        self._writer = writer
        self._cuts: list[tuple[list[Waiting], Cuts]] = []
        self._new = _New()

    def __len__(self) -> int:
        """How many contents wait for a vector."""
        return len(self._new.seen)

    def add(self, waiting: list[Waiting], cuts: Cuts) -> None:
        """Take in the files that were cut."""
        self._cuts.append((waiting, cuts))
        missing = np.flatnonzero(self._writer.missing(cuts.keys))
        chosen = [
            at
            for at, key in zip(missing.tolist(), as_bytes(cuts.keys[missing]), strict=True)
            if self._is_first(key)
        ]
        if not chosen:
            return
        texts = [one.text for one in waiting]
        self._new.keys.append(cuts.keys[chosen])
        self._new.terms.append(cuts.terms_of(np.array(chosen), texts))
        if self._by_terms is None:
            contents = contents_of(texts, cuts.files)
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
            terms = tokens.TermCounts.joined(new.terms)
            if self._by_terms is not None:
                vectors = self._by_terms.embed_terms(terms)
            else:
                vectors = self._embedder.embed(new.texts)
            self._writer.add_contents(np.concatenate(new.keys), terms, vectors)
        for waiting, cuts in self._cuts:
            firsts = [one.records[0] for one in waiting]
            names = [(first.content_hash, first.language) for first in firsts]
            for one, block in zip(
                waiting, self._writer.add_blocks(names, cuts.files, cuts.keys), strict=True
            ):
                for record in one.records:
                    self._writer.put_file(record, block)
        self._cuts.clear()
        return len(new.seen)
