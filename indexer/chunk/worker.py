"""Parser processes that may be killed: a file that hangs or crashes its parser costs itself and nobody else.

`Pool` hands batches of texts to a few child processes and yields what comes back, in the order in which it comes.
Everything happens in the caller's one thread. When a child dies or runs over its time, its batch is given out again
file by file, so that the one at fault is found and named, and the others are cut as usual. SIGKILL comes from outside
(a system short of memory kills whom it likes, not whom it should): what the child was at work on is given out once
more before anybody is blamed.

A child says that it is ready and then reads batches from a pipe until that closes. It cuts, keys and tokenises, since
these three are most of the cost of an index and need nothing but the text. One that ends before it is ready has not
met any file: that is an error of the installation and no file is blamed for it.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from indexer.chunk.batches import Batches
from indexer.chunk.cutting import Cuts, Failed, Task, cut_all
from indexer.errors import WorkerError
from indexer.processes import start_interpreter
from indexer.types import Reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from multiprocessing.process import BaseProcess

    from indexer.settings import ChunkSettings, WorkerSettings

_READY = "ready"
_START_SECONDS = 60.0  # for a new interpreter on a machine under load
_DYING_SECONDS = 1.0
# A file's time is the processor's. On a machine that has none to give the clock may run so many times as long.
_PATIENCE = 30
_LOOK_SECONDS = 0.05
# A megabyte of the densest real code takes three seconds and 220 MB. Nothing larger is cut unless the settings allow it.
_SLOWER_PER_BYTE = 1.5e-6
_MEMORY_BYTES, _MEMORY_PER_BYTE, _MEMORY_FREE_BYTES = 300_000_000, 220, 1_000_000
_KILLED = "the parser died of SIGKILL"


def _serve(
    pipe: connection.Connection, inherited: Sequence[connection.Connection], settings: ChunkSettings
) -> None:
    """The child's loop. Ctrl-C is the parent's business; a closed pipe ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in inherited:  # else a dead parent's pipes would stay open in its children
        other.close()
    limit_memory(0)
    gc.disable()  # syntax trees hold no cycles; looking for some costs a sixth of the parse
    with suppress(EOFError, ConnectionError):
        pipe.send(_READY)
        while True:
            tasks = pipe.recv()
            limit_memory(_bytes_of(tasks))
            try:
                answer: Cuts | str = cut_all(tasks, settings)
            except MemoryError:
                answer = f"the parser took more than {_MEMORY_BYTES // 1_000_000} MB of memory"
            except Exception as error:  # noqa: BLE001  (ours to mend, but one file's trouble: `status` names it)
                answer = f"{type(error).__name__}: {error}"
            pipe.send(answer)


def _bytes_of(tasks: Sequence[Task]) -> int:
    return sum(len(task.text) for task in tasks)


def limit_memory(size: int) -> None:
    """Bound what this process may take from now on for texts of ``size`` bytes.

    A few kilobytes of unclosed brackets can cost a parser gigabytes at once. Past the bound an allocation fails, and the
    parser raises or dies of it: one file's trouble, told as such.
    """
    if sys.platform != "linux":  # elsewhere the address space says little of the memory
        return
    with open("/proc/self/statm", "rb", buffering=0) as stream:  # noqa: PTH123  (a third of the time, at each batch)
        pages = int(stream.read().split()[0])
    more = _MEMORY_BYTES + _MEMORY_PER_BYTE * max(size - _MEMORY_FREE_BYTES, 0)
    bound = pages * resource.getpagesize() + more
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or bound < hard:
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))


def serve_descriptor(descriptor: int) -> None:
    """Serve as the child of a new interpreter: the settings come first on the pipe."""
    with connection.Connection(descriptor) as pipe:
        _serve(pipe, (), pipe.recv())


class _Child:
    """One parser process and the batch it is at work on. ``deadline`` is when to see whether it is to be given up."""

    def __init__(self, settings: ChunkSettings, others: Sequence[_Child]) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.batch: list[Task] = []
        self.seconds = 0.0
        self.deadline = self._last = time.monotonic() + _START_SECONDS
        self._before = 0.0
        self.ready = False
        with theirs:
            if may_fork():
                inherited = [*(child.pipe for child in others), self.pipe]
                self._process: _Process = _forked(theirs, inherited, settings)
            else:
                self._process = _Spawn(start_interpreter(__name__, "serve_descriptor", theirs.fileno()))
                self.pipe.send(settings)

    def give(self, batch: list[Task], seconds: float) -> None:
        """Hand it a batch. Its time runs from now, or from when it is ready."""
        self.batch, self.seconds = batch, seconds
        if self.ready:
            self._start()
        with suppress(ConnectionError):  # it is dead: the wait that follows sees the end of the pipe
            self.pipe.send(batch)

    def take(self) -> Cuts | str | None:
        """Return what has arrived (a string: why there is no answer), or None when the child is dead."""
        try:
            answer: Cuts | str = self.pipe.recv()
        except (EOFError, OSError):
            return None
        if answer == _READY and not self.ready:
            self.ready = True
            self._start()
        return answer

    def _start(self) -> None:
        now = time.monotonic()
        self.deadline, self._last = now + self.seconds, now + self.seconds * _PATIENCE
        self._before = _worked(self._process.number) or 0.0

    def is_late(self) -> bool:
        """Whether it has had its time; moves the deadline where the processor was given to others."""
        now = time.monotonic()
        if now < self.deadline:
            return False
        total = _worked(self._process.number)
        left = 0.0 if total is None else self.seconds - (total - self._before)
        if left <= 0 or now >= self._last:
            return True
        self.deadline = min(now + max(left, _LOOK_SECONDS), self._last)
        return False

    def end(self, why: str = "") -> str:
        """Kill it, or see how it ended by itself; return ``why`` or the latter."""
        code = None if why else self._process.wait(_DYING_SECONDS)
        self._process.kill()
        self._process.wait(None)
        self.pipe.close()
        if why:
            return why
        if code is not None and code < 0:
            return f"the parser died of {signal.Signals(-code).name}"
        return f"the parser ended with status {code}"

    def close(self) -> None:
        """Let it end by itself: it does when its pipe closes."""
        self.pipe.close()
        if self._process.wait(_DYING_SECONDS) is None:
            self._process.kill()
            self._process.wait(None)


class _Process(Protocol):
    """What a child is to its parent, however it was started."""

    @property
    def number(self) -> int:
        """Its process number."""

    def wait(self, seconds: float | None) -> int | None:
        """Return the exit status, negative for a signal; None when it has not ended in time."""

    def kill(self) -> None:
        """End it at once; nothing happens when it has ended."""


class _Fork:
    """A child that shares this process's memory as it was."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process

    @property
    def number(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def wait(self, seconds: float | None) -> int | None:
        self._process.join(seconds)
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


class _Spawn:
    """A child that is an interpreter of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def number(self) -> int:
        return self._process.pid

    def wait(self, seconds: float | None) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        self._process.kill()


def _worked(process: int) -> float | None:
    """Return the processor seconds that a process has had; None where that is not told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def may_fork() -> bool:
    """Tell whether forking is safe: only while this process has one thread. It is ten times cheaper."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


def _forked(
    theirs: connection.Connection, inherited: list[connection.Connection], settings: ChunkSettings
) -> _Process:
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(theirs, inherited, settings), daemon=True
    )
    process.start()
    return _Fork(process)


class Pool:
    """A few parser processes, started as they are needed. Use it as a context manager."""

    def __init__(self, chunking: ChunkSettings, workers: WorkerSettings) -> None:
        self._chunking = chunking
        self._limit = workers.processes or min(4, len(_processors()))
        self._seconds = workers.file_timeout
        self._children: list[_Child] = []
        self._spared: set[tuple[int, ...]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every child. A later `run` starts new ones."""
        for child in self._children:
            if child.batch:
                child.end("given up")
            else:
                child.close()
        self._children.clear()

    def run(self, tasks: Iterable[Task]) -> Iterator[Cuts | Failed]:
        """Yield the results of all tasks, in any order: those of a batch that went well in one piece.

        ``tasks`` is read only as fast as the children work, and one batch ahead: a child that has answered is given the
        next before anybody looks at the answer.

        Raises `WorkerError` when a parser process cannot be started.
        """
        self._forget_abandoned()
        self._spared.clear()
        batches = Batches(tasks)
        while True:
            self._hand_out(batches)
            busy = [child for child in self._children if child.batch]
            if not busy:
                return
            batches.look_ahead()
            found = [result for child in self._ready(busy) for result in self._collect(child, batches)]
            self._hand_out(batches)
            yield from found

    def _forget_abandoned(self) -> None:
        """End the children that are at work for a run that was given up: their answers are nobody's."""
        for child in [child for child in self._children if child.batch]:
            self._children.remove(child)
            child.end("given up")

    def _hand_out(self, batches: Batches) -> None:
        """Give every idle child a batch, starting children up to the limit while there is work."""
        while True:
            idle = next((child for child in self._children if not child.batch), None)
            if idle is None and len(self._children) >= self._limit:
                return
            batch = batches.take()
            if batch is None:
                return
            if idle is None:
                idle = self._new_child()
                self._children.append(idle)
            idle.give(batch, self._seconds * (1 + _SLOWER_PER_BYTE * _bytes_of(batch)))

    def _new_child(self) -> _Child:
        try:
            return _Child(self._chunking, self._children)
        except OSError as error:  # no process, descriptor or memory left: no file is at fault
            raise WorkerError(
                f"a parser process could not be started: {error.strerror or error}; free some of what the system "
                "lacks, or raise its limit (`ulimit -a`)"
            ) from error

    def _ready(self, busy: list[_Child]) -> list[_Child]:
        """Wait until a child has answered, died, or run out of time; return those."""
        left = max(0.0, min(child.deadline for child in busy) - time.monotonic())
        ready = set(connection.wait([child.pipe for child in busy], left))
        return [child for child in busy if child.pipe in ready or child.is_late()]

    def _collect(self, child: _Child, batches: Batches) -> Iterator[Cuts | Failed]:
        batch = child.batch
        arrived = child.pipe.poll()  # an answer may lie in the pipe although the time is over
        was_ready = child.ready
        answer = child.take() if arrived else None
        if isinstance(answer, Cuts):
            child.batch = []
            yield answer
        elif answer is None:
            self._children.remove(child)
            late = f"the parser was stopped after {child.seconds:.3g} s" if not arrived else ""
            detail = child.end(late)
            if detail == _KILLED and self._spare(batch):
                batches.again.append(batch)
                return
            if not was_ready:
                raise WorkerError(
                    f"a parser process could not be started: {detail}; is the installation whole?"
                )
            yield from _blamed(batch, batches, Reason.TIMEOUT if late else Reason.CRASHED, detail)
        elif was_ready:
            child.batch = []
            yield from _blamed(batch, batches, Reason.CRASHED, answer)

    def _spare(self, batch: list[Task]) -> bool:
        """Tell whether a batch whose child was killed is tried as it is once more, which each is once."""
        tags = tuple(task.tag for task in batch)
        first = tags not in self._spared
        self._spared.add(tags)
        return first


def _blamed(batch: list[Task], batches: Batches, reason: str, detail: str) -> Iterator[Failed]:
    """Put a batch that failed to the proof file by file; a single file is at fault itself."""
    if len(batch) == 1:
        yield Failed(batch[0].tag, reason, detail)
    else:
        batches.again.extend([task] for task in batch)


def _processors() -> Sequence[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)
