"""The daemon's end of the updater's pipe: starts the process, gives it jobs, tells what it says.

Everything happens on the event loop's thread; nothing here waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from typing import TYPE_CHECKING

from indexer.processes import start_interpreter
from indexer.serve.jobs import Broken, Going, Origin

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from indexer.serve.jobs import Job, Message
    from indexer.workspace import Workspace

_END_SECONDS = (
    1.5  # for the commit that is under way; killed after it, which loses nothing that was acknowledged
)


class Updater:
    """An updater process. ``tell`` is called with each message, and with a `Broken` job when it has died.

    One that cannot be started is as one that has died: whatever it is given is broken at once.
    """

    def __init__(self, space: Workspace, tell: Callable[[Message], None]) -> None:
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._job: Job | None = None
        self._pipe: Connection | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._failure = ""
        try:
            self._pipe, self._process = _started()
        except (OSError, ImportError) as error:  # the system has no descriptor, memory or process left
            self._failure = f"the updater process cannot be started: {error}"
            return
        with contextlib.suppress(ConnectionError):  # as in `give`
            self._pipe.send(Origin(space.root, space.index_dir, space.settings))
        self._loop.add_reader(self._pipe.fileno(), self._arrived)

    @property
    def alive(self) -> bool:
        """Whether jobs can be given."""
        return self._pipe is not None

    @property
    def pid(self) -> int:
        """The process; 0 without one."""
        return self._process.pid if self._process else 0

    def give(self, job: Job) -> None:
        """Give the next job; the one before must have ended."""
        assert self._job is None
        if self._pipe is None:
            self._loop.call_soon(self._tell, Broken(job.number, "WorkerError", self._failure))
            return
        self._job = job
        with contextlib.suppress(ConnectionError):  # it has died: the reader sees that and tells
            self._pipe.send(job)

    def _arrived(self) -> None:
        assert self._pipe is not None
        try:
            message: Message = self._pipe.recv()
        except (EOFError, OSError):
            self._died()
            return
        if not isinstance(message, Going):
            self._job = None
        self._tell(message)

    def _died(self) -> None:
        assert self._process is not None
        self._drop_pipe()
        job, self._job = self._job, None
        code = self._process.wait()
        how = signal.Signals(-code).name if code < 0 else f"status {code}"
        self._failure = f"the updater process ended with {how}"
        self._tell(Broken(job.number if job else 0, "UpdaterDied", self._failure))

    def _drop_pipe(self) -> None:
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()
            self._pipe = None

    async def close(self) -> None:
        """Let it finish or abandon its commit, and end it; a second call does nothing."""
        self._drop_pipe()
        if self._process is not None:
            await asyncio.to_thread(_end, self._process)


def _started() -> tuple[Connection, subprocess.Popen[bytes]]:
    import multiprocessing  # here, since a first answer is given before

    ours, theirs = multiprocessing.Pipe()
    with theirs:
        try:
            return ours, start_interpreter("indexer.serve.updater", "serve_descriptor", theirs.fileno())
        except OSError:
            ours.close()
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
