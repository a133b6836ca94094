"""Cutting, keying and tokenising texts: most of the cost of an index, and all that needs nothing but the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import chunk, tokens
from indexer.columns import columns_of
from indexer.keys import as_bytes, keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.columns import Columns
    from indexer.settings import ChunkSettings


class Task(NamedTuple):
    """One text to cut. ``tag`` is the caller's name for it and comes back with the result.

    ``known``: content keys, as `as_bytes` has them, put together: of these chunks no terms are wanted.
    """

    tag: int
    language: str
    text: bytes
    known: bytes = b""


class Cuts(NamedTuple):
    """The chunks of some texts, by their ``tags``: m chunks in all, one file after the other.

    ``keys``: (m, 2) uint64, one content key a chunk; ``terms``: the terms of the chunks (n,) of ``fresh``, which ascend:
    those that were not said to be known.
    """

    tags: list[int]
    files: Columns
    keys: NDArray[np.uint64]
    fresh: NDArray[np.int64]
    terms: tokens.TermCounts

    def terms_of(self, chunks: NDArray[np.int64], texts: Sequence[bytes]) -> tokens.TermCounts:
        """The terms of some chunks, ascending; counted now, where they were said to be known and are asked for."""
        if np.isin(chunks, self.fresh).all():
            return self.terms.take(np.searchsorted(self.fresh, chunks))
        contents = contents_of(texts, self.files)
        return tokens.count_terms([contents[at] for at in chunks.tolist()])


class Failed(NamedTuple):
    """A text whose parser crashed or ran out of time; ``reason`` is one of `Reason`."""

    tag: int
    reason: str
    detail: str


def contents_of(texts: Sequence[bytes], files: Columns) -> list[bytes]:
    """Return what each chunk's content key and vector are made from: the bytes of its spans, joined."""
    owners = np.repeat(np.arange(len(texts)), files.sizes).tolist()
    starts, ends = files.spans[:, 0].tolist(), files.spans[:, 1].tolist()
    contents: list[bytes] = []
    at = 0
    for owner, size in zip(owners, files.span_sizes.tolist(), strict=True):
        text = texts[owner]
        if size == 1:
            contents.append(text[starts[at] : ends[at]])
        else:
            contents.append(b"".join(text[starts[i] : ends[i]] for i in range(at, at + size)))
        at += size
    return contents


def cut_all(tasks: Sequence[Task], settings: ChunkSettings) -> Cuts:
    """Cut and key a batch in this process, and tokenise what is not known."""
    files = columns_of([chunk.chunk(task.language, task.text, settings) for task in tasks])
    contents = contents_of([task.text for task in tasks], files)
    keys = keys_of(contents)
    fresh = _not_among(keys, b"".join([task.known for task in tasks]))
    terms = tokens.count_terms([contents[at] for at in fresh.tolist()])
    return Cuts([task.tag for task in tasks], files, keys, fresh, terms)


def _not_among(keys: NDArray[np.uint64], known: bytes) -> NDArray[np.int64]:
    """Which of (m, 2) keys are not among those known, ascending."""
    those = set(as_bytes(np.frombuffer(known, np.uint64).reshape(-1, 2)))
    return np.array([at for at, key in enumerate(as_bytes(keys)) if key not in those], np.int64)
