"""Parser processes that may be killed: a file that hangs or crashes its parser costs itself and nobody else.

`Pool` hands batches of texts to a few child processes and yields what comes back, in the order in which it comes.
Everything happens in the caller's one thread. When a child dies or runs over its time, its batch is given out again
file by file, so that the one at fault is found and named, and the others are cut as usual.

A child reads batches from a pipe until it closes. It cuts, keys and tokenises, since these three are most of the
cost of an index and need nothing but the text.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from multiprocessing import connection
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import xxhash

from indexer import chunk, tokens
from indexer.types import FileChunks, Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from numpy.typing import NDArray

    from indexer.settings import ChunkSettings, WorkerSettings

_BATCH_BYTES = 256 * 1024
_BATCH_FILES = 64


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


class Failed(NamedTuple):
    """A text whose parser crashed or ran out of time; ``reason`` is one of `Reason`."""

    tag: int
    reason: str
    detail: str


class _Answer(NamedTuple):
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


def keys_of(contents: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return the xxh3-128 of each content as two big-endian halves, (n, 2) uint64."""
    digests = b"".join(map(xxhash.xxh3_128_digest, contents))
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64).reshape(-1, 2)


def cut_all(tasks: Sequence[Task], settings: ChunkSettings) -> _Answer:
    """Cut, key and tokenise a batch in this process."""
    files = [chunk.chunk(task.language, task.text, settings) for task in tasks]
    contents: list[bytes] = []
    for task, file in zip(tasks, files, strict=True):
        contents += content_of(task.text, file)
    return _Answer(files, keys_of(contents), tokens.count_terms(contents))


def _split(tasks: Sequence[Task], answer: _Answer) -> Iterator[Cut]:
    """Give each task its own slice of a batch's answer."""
    first = 0
    offsets, terms, counts = answer.terms
    for task, file in zip(tasks, answer.files, strict=True):
        last = first + len(file.chunks)
        low, high = int(offsets[first]), int(offsets[last])
        own = tokens.TermCounts(offsets[first : last + 1] - low, terms[low:high], counts[low:high])
        yield Cut(task.tag, file, answer.keys[first:last], own)
        first = last


def _serve(
    pipe: connection.Connection, inherited: Sequence[connection.Connection], settings: ChunkSettings
) -> None:
    """The child's loop. Ctrl-C is the parent's business; a closed pipe ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:  # else a dead parent's pipes would stay open in its children
        other.close()
    gc.disable()  # syntax trees hold no cycles; looking for some costs a sixth of the parse
    while True:
        try:
            tasks = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: _Answer | str = cut_all(tasks, settings)
        except Exception as error:  # noqa: BLE001  (ours to mend, but one file's trouble: it is named in `status`)
            answer = f"{type(error).__name__}: {error}"
        try:
            pipe.send(answer)
        except (BrokenPipeError, ConnectionError):
            return


class _Child:
    """One parser process and the batch it is at work on."""

    def __init__(self, context: BaseContext, settings: ChunkSettings, others: Sequence[_Child]) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        forked = context.get_start_method() == "fork"
        inherited = [child.pipe for child in others] + [self.pipe] if forked else []
        self.process: BaseProcess = context.Process(  # type: ignore[attr-defined]
            target=_serve, args=(theirs, inherited, settings), daemon=True
        )
        self.process.start()
        theirs.close()
        self.batch: list[Task] = []
        self.deadline = 0.0

    def give(self, batch: list[Task], seconds: float) -> None:
        self.batch, self.deadline = batch, time.monotonic() + seconds
        with suppress(
            BrokenPipeError, ConnectionError
        ):  # it is dead: the wait that follows sees that and says so
            self.pipe.send(batch)

    def take(self) -> _Answer | str | None:
        """Return the answer that has arrived (a string: why there is none), or None when the child is dead."""
        try:
            answer: _Answer | str = self.pipe.recv()
        except (EOFError, OSError):
            return None
        return answer

    def kill(self, why: str = "") -> str:
        """End it at once; return ``why``, or else how it had ended by itself."""
        self.process.join(0.0 if why else 0.2)
        code = self.process.exitcode
        self.process.kill()
        self.process.join()
        self.pipe.close()
        if why:
            return why
        if code is not None and code < 0:
            return f"the parser died of {signal.Signals(-code).name}"
        return f"the parser ended with status {code}"

    def close(self) -> None:
        self.pipe.close()
        self.process.join(1.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def _context() -> BaseContext:
    """Forking is ten times cheaper than a new interpreter, and safe only while this process has one thread."""
    if sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


class Pool:
    """A few parser processes, started as they are needed. Use it as a context manager."""

    def __init__(self, chunking: ChunkSettings, workers: WorkerSettings) -> None:
        self._chunking = chunking
        self._limit = workers.processes or min(4, len(_processors()))
        self._seconds = workers.file_timeout
        self._children: list[_Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self._children:
            child.kill("given up") if child.batch else child.close()
        self._children.clear()

    def run(self, tasks: Iterable[Task]) -> Iterator[Cut | Failed]:
        """Yield one result a task, in any order. ``tasks`` is read only as fast as the children work."""
        batches = _batched(tasks)
        again: deque[list[Task]] = deque()
        while True:
            self._hand_out(batches, again)
            busy = [child for child in self._children if child.batch]
            if not busy:
                return
            for child in self._ready(busy):
                yield from self._collect(child, again)

    def _hand_out(self, batches: Iterator[list[Task]], again: deque[list[Task]]) -> None:
        """Give every idle child a batch, starting children up to the limit while there is work."""
        while True:
            idle = next((child for child in self._children if not child.batch), None)
            if idle is None and len(self._children) >= self._limit:
                return
            batch = again.popleft() if again else next(batches, None)
            if batch is None:
                return
            if idle is None:
                idle = _Child(_context(), self._chunking, self._children)
                self._children.append(idle)
            idle.give(batch, self._seconds)

    def _ready(self, busy: list[_Child]) -> list[_Child]:
        """Wait until a child has answered, died, or run out of time; return those."""
        left = max(0.0, min(child.deadline for child in busy) - time.monotonic())
        waiting = [child.pipe for child in busy] + [child.process.sentinel for child in busy]
        ready = set(connection.wait(waiting, left))
        now = time.monotonic()
        return [
            child
            for child in busy
            if child.pipe in ready or child.process.sentinel in ready or child.deadline <= now
        ]

    def _collect(self, child: _Child, again: deque[list[Task]]) -> Iterator[Cut | Failed]:
        batch = child.batch
        # An answer may lie in the pipe although the child has ended or its time is over.
        answered = child.pipe.poll()
        answer = child.take() if answered else None
        if isinstance(answer, _Answer):
            child.batch = []
            yield from _split(batch, answer)
            return
        reason, detail = Reason.CRASHED, answer or ""
        if answer is not None:
            child.batch = []
        else:
            if not answered and not connection.wait([child.process.sentinel], 0):
                reason, detail = Reason.TIMEOUT, f"the parser was stopped after {self._seconds:g} s"
            self._children.remove(child)
            detail = child.kill(detail)
        if len(batch) > 1:
            again.extend([task] for task in batch)
        else:
            yield Failed(batch[0].tag, reason, detail)


def _processors() -> Sequence[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


def _batched(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Group tasks so that a message is worth its while and memory stays small."""
    batch: list[Task] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += len(task.text)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
