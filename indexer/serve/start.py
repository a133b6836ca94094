"""Start, stop and find the daemon of a root, from outside it.

Nobody is ever told to end by a process number that stands in a file: stopping is asked for over the socket, and
whether a daemon lives is told by its lock and its socket alone. Of many who start one at the same time, one does, and
the others wait for it. The standard library alone.
"""

# Paths are strings here: a question to a running daemon counts its milliseconds.
# ruff: noqa: PTH108, PTH123

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time
from typing import TYPE_CHECKING

from indexer.errors import DaemonError
from indexer.processes import interpreter
from indexer.serve import lock as locks
from indexer.serve import logs
from indexer.serve import place as places
from indexer.serve.client import GoneError, SilentError, connect_place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indexer.serve.client import Client
    from indexer.serve.place import Place

START_SECONDS = 60.0
STOP_SECONDS = 10.0
READY, FAILED, BUSY = b"ready", b"failed: ", b"busy"
_LATE = b"late"
_STEP_SECONDS = 0.03
_STOP_ASKED_SECONDS = 2.0
_SILENT_SECONDS = (
    8.0  # for which a daemon may hold its lock and not listen: it listens at once, and ends in five
)
# A daemon that was started this often in so many seconds, and ended well not once, is not started by itself again.
_CRASHES, _CRASH_SECONDS = 3, 600.0
_MAIN = "from indexer.cli import main; sys.exit(main())"


class StartError(DaemonError):
    """The daemon did not become ready. ``tail`` are the last lines of its log, where they say more."""

    def __init__(self, message: str, tail: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.tail = tuple(tail)


def start(
    root: str, flags: Sequence[str] = (), *, by_itself: bool = False, timeout: float = START_SECONDS
) -> Client:
    """Return a connection to the root's daemon, which is started if there is none, and ready.

    ``root`` is resolved; ``flags`` are further words for ``indexer daemon run``. ``by_itself``: nobody asked for it, so
    after repeated crashes it is not tried again. ``timeout`` is in seconds. Raises `StartError` with the reason,
    `SilentError` when neither comes in time, and whatever `connect_root` raises.
    """
    places.require_support()
    place = places.place_of(root)
    places.make_runtime_dir()
    until = time.monotonic() + timeout
    silent_until = min(until, time.monotonic() + _SILENT_SECONDS)
    while until > time.monotonic():
        client = _connected(place, until)
        if client is not None:
            return client
        if not locks.is_held(place.lock):
            silent_until = min(until, time.monotonic() + _SILENT_SECONDS)
        elif time.monotonic() > silent_until:
            raise StartError(unreachable(place))
        starting = locks.take(place.starting)
        if starting is not None:
            with starting:
                client = _start_one(place, flags, by_itself=by_itself, until=until)
            if client is not None:
                return client
        time.sleep(_STEP_SECONDS)
    raise SilentError(f"{root}: no daemon was ready within {timeout:g} s; its log is {place.log}")


def _connected(place: Place, until: float) -> Client | None:
    """Connect; None without a daemon, or with one that is just ending."""
    try:
        return connect_place(place, timeout=max(until - time.monotonic(), _STEP_SECONDS))
    except GoneError:
        return None


def _start_one(place: Place, flags: Sequence[str], *, by_itself: bool, until: float) -> Client | None:
    """Start the daemon, if it has not appeared meanwhile; None when another process is just becoming one."""
    client = _connected(place, until)
    if client is not None or locks.is_held(place.lock):
        return client
    if by_itself and (why := crash_loop(place)):
        raise StartError(why, logs.tail(place.log))
    if not by_itself:
        _forget_runs(place)
    since = logs.size_of(place.log)
    said = _spawn(place, flags, until)
    if said == READY:
        return _connected(place, until)
    if said == BUSY:
        return None
    if said.startswith(FAILED):
        raise StartError(said.removeprefix(FAILED).decode("utf-8", "replace"))
    if said == _LATE:
        raise SilentError(f"{place.root}: the daemon is not ready yet; its log is {place.log}")
    tail = logs.tail(place.log, since=since)
    raise StartError(f"{place.root}: the daemon ended before it was ready; its log is {place.log}", tail)


def _spawn(place: Place, flags: Sequence[str], until: float) -> bytes:
    """Start the process and return its first line: `READY`, `BUSY`, `FAILED` with the reason; empty when it died.

    A pipe rather than an exit status: the process that is started forks at once and ends, so that the daemon is
    nobody's child, and the pipe closes when the daemon does.
    """
    try:
        hears, tells = os.pipe()
        with open(hears, "rb", buffering=0) as pipe:
            try:
                _note_run(place)
                _launch(place, flags, tells, until)
            finally:
                os.close(tells)
            return _heard(pipe.fileno(), until)
    except subprocess.TimeoutExpired:
        return _LATE
    except OSError as error:
        raise StartError(f"{place.root}: no process can be started for it ({error.strerror})") from error


def _launch(place: Place, flags: Sequence[str], tells: int, until: float) -> None:
    log = os.open(place.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        subprocess.run(
            [*interpreter(_MAIN), "daemon", "run", place.root, *flags, "--detached", str(tells)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(tells,),
            start_new_session=True, cwd="/", check=False, timeout=max(until - time.monotonic(), 1.0),
        )  # fmt: skip
    finally:
        os.close(log)


def _heard(descriptor: int, until: float) -> bytes:
    heard = b""
    while not heard.endswith(b"\n"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(max(until - time.monotonic(), 0) * 1000):
            return _LATE
        piece = os.read(descriptor, 4096)
        if not piece:
            return b""
        heard += piece
    return heard.strip()


# --- stopping


def stop(root: str, *, timeout: float = STOP_SECONDS, told: Callable[[str], None] = lambda _: None) -> bool:
    """Ask the root's daemon to stop and wait until its lock is free; False when there is none.

    It works with a daemon of any protocol, and for a root that has gone. ``told`` is given a line when it takes more
    than a moment. Raises `DaemonError` when it has not ended within ``timeout`` seconds.
    """
    places.require_support()
    place = place_of(root)
    until = time.monotonic() + timeout
    if place is None:
        return False
    client = _reached(place, until, told)
    if client is None:
        return False
    with client:
        lock = client.socket_path.removesuffix(".sock") + ".lock"
        with contextlib.suppress(GoneError, SilentError):
            client.request("index/stop", timeout=_STOP_ASKED_SECONDS)
        if not client.wait_for_end(min(1.0, max(until - time.monotonic(), 0))):
            told(f"waiting for the daemon of {root} to finish its commit")
            client.wait_for_end(max(until - time.monotonic(), 0))
    if _wait_for_lock(lock, until):
        return True
    who = f" (process {client.pid})" if client.pid else ""
    raise DaemonError(
        f"the daemon of {root}{who} was told to stop and holds its lock still after {timeout:g} s; its log is {place.log}"
    )


def place_of(root: str) -> Place | None:
    """Return the place of a root, which may have gone; None when it has and no daemon knows it."""
    try:
        return places.place_of(root)
    except DaemonError:
        return places.place_by_path(root)


def _reached(place: Place, until: float, told: Callable[[str], None]) -> Client | None:
    """Connect, and give a daemon that is about to listen, or about to end, the time for it. None: there is none."""
    said = False
    while True:
        client = _connected(place, until)
        if client is not None:
            return client
        if not locks.is_held(place.lock):
            return None
        if time.monotonic() >= until:
            raise DaemonError(unreachable(place))
        if not said:
            said = True
            told(f"waiting for the daemon of {place.root}, which is starting or ending")
        time.sleep(_STEP_SECONDS)


def unreachable(place: Place) -> str:
    """One line for a daemon that nobody can speak with, not even to end it."""
    return (
        f"a daemon of {place.root} holds {place.lock} and listens nowhere; end its process by hand, "
        f"which has that file open (`fuser {place.lock}`) and whose number its log has in each line ({place.log})"
    )


def _wait_for_lock(lock: str, until: float) -> bool:
    while locks.is_held(lock):
        if time.monotonic() >= until:
            return False
        time.sleep(_STEP_SECONDS)
    return True


# --- runs that did not end well


def _note_run(place: Place) -> None:
    times = [*_runs(place), time.time()]
    descriptor = os.open(
        place.runs, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    with open(descriptor, "w", encoding="ascii") as file:
        json.dump(times, file)


def _forget_runs(place: Place) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place.runs)


def ended_well(place: Place) -> None:
    """For the daemon: it ends as it was asked to, and no run before it counts any more."""
    _forget_runs(place)


def _runs(place: Place) -> list[float]:
    """When it was started lately without having ended well since, in seconds since 1970."""
    try:
        with open(place.runs, encoding="ascii") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return []
    now = time.time()
    return [moment for moment in found if abs(now - moment) < _CRASH_SECONDS]


def crash_loop(place: Place) -> str:
    """One line when the daemon that is not running has crashed too often lately; empty otherwise."""
    count = len(_runs(place))
    if count < _CRASHES:
        return ""
    return (
        f"the daemon of {place.root} has crashed {count} times in {_CRASH_SECONDS / 60:g} minutes and is not started "
        f"by itself again; `indexer daemon start` tries it, its log is {place.log}"
    )
