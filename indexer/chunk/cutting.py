"""Cutting, keying and tokenising texts: most of the cost of an index, and all that needs nothing but the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexer import chunk, tokens
from indexer.keys import keys_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks


class Task(NamedTuple):
    """One text to cut. ``tag`` is the caller's name for it and comes back with the result."""

    tag: int
    language: str
    text: bytes


class Cut(NamedTuple):
    """The chunks of one text. ``keys``: (n, 2) uint64, one content key a chunk; ``terms``: n texts' terms."""

    tag: int
    file: FileChunks
    keys: NDArray[np.uint64]
    terms: tokens.TermCounts


class Answer(NamedTuple):
    """What a child sends back for a batch: all files' chunks, and their keys and terms in one piece."""

    files: list[FileChunks]
    keys: NDArray[np.uint64]
    terms: tokens.TermCounts


def content_of(text: bytes, file: FileChunks) -> list[bytes]:
    """Return what each chunk's content key and vector are made from: the bytes of its spans, joined."""
    return [
        text[piece.spans[0].start : piece.spans[0].end]
        if len(piece.spans) == 1
        else b"".join(text[span.start : span.end] for span in piece.spans)
        for piece in file.chunks
    ]


def cut_all(tasks: Sequence[Task], settings: ChunkSettings) -> Answer:
    """Cut, key and tokenise a batch in this process."""
    files = [chunk.chunk(task.language, task.text, settings) for task in tasks]
    contents: list[bytes] = []
    for task, file in zip(tasks, files, strict=True):
        contents += content_of(task.text, file)
    return Answer(files, keys_of(contents), tokens.count_terms(contents))


def split(tasks: Sequence[Task], answer: Answer) -> Iterator[Cut]:
    """Give each task its own slice of a batch's answer."""
    first = 0
    offsets, terms, counts = answer.terms
    for task, file in zip(tasks, answer.files, strict=True):
        last = first + len(file.chunks)
        low, high = int(offsets[first]), int(offsets[last])
        own = tokens.TermCounts(offsets[first : last + 1] - low, terms[low:high], counts[low:high])
        yield Cut(task.tag, file, answer.keys[first:last], own)
        first = last
