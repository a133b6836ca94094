"""The updater: the process that writes a root's index for its daemon, at a low priority of the CPU.

It is a process of its own so that questions never wait for indexing, not even for Python's interpreter lock. It
gets jobs over a pipe, one at a time, and says how each goes and ends. It holds the root's writer, and so the lock, for
as long as it lives; a closed pipe ends it. It may be killed at any moment: a generation is all or nothing.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from indexer import embed
from indexer.errors import IndexerError
from indexer.reindex import Indexer
from indexer.serve import logs
from indexer.serve.allocator import give_back_memory
from indexer.serve.jobs import AUDIT, FULL, SCAN, UPDATE, Broken, Finished, Going, Job
from indexer.workspace import Workspace

if TYPE_CHECKING:
    from indexer.reindex import Outcome
    from indexer.serve.jobs import Message, Origin

_log = logging.getLogger(__name__)
_NICE = 10
_REST_SECONDS = 20.0  # without work, after which the parser processes are let go
_TELL_SECONDS = 0.1


def serve_descriptor(descriptor: int) -> None:
    """Serve as the updater of the daemon at the other end of a pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the daemon's business; it closes the pipe
    logs.to_stderr()
    os.nice(_NICE)
    with Connection(descriptor) as pipe, suppress(EOFError, ConnectionError):
        origin: Origin = pipe.recv()
        embedder = embed.load(origin.settings.embed.model)
        _Updater(Workspace(*origin, embedder), pipe).run()


class _Updater:
    """The loop, and the indexer it keeps between jobs; after an error that one is closed and made again."""

    def __init__(self, space: Workspace, pipe: Connection) -> None:
        self._space = space
        self._pipe = pipe
        self._indexer: Indexer | None = None
        self._job = Job(0, SCAN)
        self._told_at = 0.0

    def run(self) -> None:
        """Take jobs until the pipe closes."""
        try:
            while True:
                self._rest()
                self._job = self._pipe.recv()
                self._pipe.send(self._done())
        finally:
            self._forget()

    def _rest(self) -> None:
        """Let go of what only work needs: parsers after a while without any, memory with them.

        A scan that found nothing to parse is the end of that work; then this is done at once, so that no timer is left
        to wake a quiet machine.
        """
        indexer = self._indexer
        if indexer is None or not (indexer.has_parsers or self._job.kind == SCAN):
            return
        if not self._pipe.poll(_REST_SECONDS if indexer.has_parsers else 0):
            indexer.rest()
            give_back_memory()

    def _done(self) -> Message:
        job = self._job
        try:
            outcome = self._work(job)
        except IndexerError as error:
            self._forget()
            return Broken(job.number, type(error).__name__, str(error))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:  # noqa: BLE001  (a daemon outlives our bugs: logged, told, and tried again)
            self._forget()
            _log.exception("job %s failed", job.kind)
            return Broken(job.number, type(error).__name__, f"{type(error).__name__}: {error}")
        report, snapshot, unknown, notes, whole = outcome
        return Finished(job.number, report, snapshot.generation, unknown, notes, whole)

    def _work(self, job: Job) -> Outcome:
        if job.kind == FULL:
            self._forget()
        if self._indexer is None:
            self._indexer = Indexer(self._space, full=job.kind == FULL, progress=self._progress)
        if job.kind == UPDATE:
            return self._indexer.update(job.paths, job.trees)
        if job.kind == AUDIT:
            return self._indexer.audit(job.paths)
        return self._indexer.scan()

    def _forget(self) -> None:
        if self._indexer is not None:
            self._indexer.close()
            self._indexer = None

    def _progress(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told_at >= _TELL_SECONDS:
            self._told_at = now
            self._pipe.send(Going(self._job.number, stage, done, total))
