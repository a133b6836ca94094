"""Cutting, keying and tokenising texts: most of the cost of an index, and all that needs nothing but the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import chunk, tokens
from indexer.columns import columns_of
from indexer.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.columns import Columns
    from indexer.settings import ChunkSettings


class Task(NamedTuple):
    """One text to cut. ``tag`` is the caller's name for it and comes back with the result."""

    tag: int
    language: str
    text: bytes


class Cuts(NamedTuple):
    """The chunks of some texts, by their ``tags``: m chunks in all, one file after the other.

    ``keys``: (m, 2) uint64, one content key a chunk; ``terms``: the terms of m texts.
    """

    tags: list[int]
    files: Columns
    keys: NDArray[np.uint64]
    terms: tokens.TermCounts


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
    """Cut, key and tokenise a batch in this process."""
    files = columns_of([chunk.chunk(task.language, task.text, settings) for task in tasks])
    contents = contents_of([task.text for task in tasks], files)
    return Cuts([task.tag for task in tasks], files, keys_of(contents), tokens.count_terms(contents))
