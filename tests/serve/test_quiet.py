"""What a service that has nothing to do leaves alone: the processor, and the files."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import pytest

from indexer.reindex import reindex
from indexer.serve.audit import Audit
from indexer.serve.events import Event, Progress
from indexer.serve.jobs import AUDIT, SCAN, UPDATE, Finished, Going, Job
from indexer.serve.service import LiveService, open_service
from indexer.serve.updater import _Updater
from tests.counting import workspace
from tests.serve.homes import Home, family, sync, wait_until
from tests.trees import age, git

BOUND = 20.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "pkg").mkdir(parents=True)
    for number in range(7):
        (top / "pkg" / f"m{number}.py").write_text(f"def thing_{number}(): pass\n")
    return top


async def idle(service: LiveService) -> None:
    while service.status().working:  # noqa: ASYNC110  (nobody is told of the end of an audit's slice)
        await asyncio.sleep(0.01)


class Runs:
    """The jobs that a service has had done, from now on."""

    def __init__(self, service: LiveService) -> None:
        self.ended: list[Finished] = []
        self.kinds: list[str] = []
        finished = service._finished

        def noted(message: Finished) -> None:
            self.ended.append(message)
            self.kinds.append(service._job.kind if service._job else "")
            finished(message)

        service._finished = noted  # type: ignore[method-assign]

    def scans(self) -> int:
        """How many of them have looked at everything since this was last asked."""
        count = sum(message.whole for message in self.ended)
        self.ended.clear()
        return count


# --- wake-ups


def deadlines(loop: asyncio.AbstractEventLoop) -> list[float]:
    """In how many seconds the loop would wake up by itself."""
    timers = loop._scheduled  # type: ignore[attr-defined]
    return [timer.when() - loop.time() for timer in timers if not timer.cancelled()]


class Pauses:
    """A pipe to an updater that notes for how long it was asked to wait for something to come."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.seconds: list[float] = []

    def poll(self, seconds: float) -> bool:
        self.seconds.append(seconds)
        return self._pipe.poll(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)


def test_an_updater_waits_with_a_timer_only_while_it_has_parsers(root: Path) -> None:
    space = workspace(root)
    age(root)
    reindex(space)
    ours, theirs = multiprocessing.Pipe()
    noted = Pauses(theirs)

    def serve() -> None:
        with suppress(EOFError, ConnectionError):
            _Updater(space, cast("Connection", noted)).run()

    def ends(job: Job) -> None:
        ours.send(job)
        while not isinstance(message := ours.recv(), Finished):
            assert isinstance(message, Going), message

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        # Each job is taken when the wait after the one before has ended.
        for job in (Job(1, SCAN), Job(2, UPDATE, ("pkg/m0.py",)), Job(3, SCAN)):
            ends(job)
        assert [pause for pause in noted.seconds if pause] == []
        (root / "pkg" / "m0.py").write_text("def changed(): pass\n")
        ends(Job(4, UPDATE, ("pkg/m0.py",)))
        ends(Job(5, SCAN))
        assert [pause for pause in noted.seconds if pause]
    finally:
        ours.close()
        thread.join()


def test_nothing_is_planned_within_a_minute(root: Path) -> None:
    async def story() -> None:
        async with open_service(workspace(root)) as service:
            for number in range(5):
                (root / "pkg" / "m0.py").write_text(f"def changed_{number}(): pass\n")
                assert (await service.view("wait", BOUND)).fresh
            assert [left for left in deadlines(asyncio.get_running_loop()) if left < 60] == []
            assert service._observer._watch is not None
            assert service._observer._watch._source.pause() is None

    asyncio.run(story())


_FOREVER = math.inf
# x86-64: which argument of a waiting call is the bound, and whether that is milliseconds or points to a time.
_BOUNDS = {0: None, 7: (2, "ms"), 61: None, 202: (3, "at"), 232: (3, "ms"), 271: (2, "at"), 281: (3, "ms")}


def bound(thread: Path) -> float:
    """For how many seconds a thread sleeps at the most if nothing happens; 0 when it does not, or nobody knows."""
    words = (thread / "syscall").read_text().split()
    if words[0] == "running" or int(words[0]) not in _BOUNDS:
        return 0.0
    place = _BOUNDS[int(words[0])]
    if place is None:
        return _FOREVER
    value = int(words[1 + place[0]], 16)
    if place[1] == "at":
        return 0.0 if value else _FOREVER
    ms = struct.unpack("i", struct.pack("I", value & 0xFFFFFFFF))[0]
    return _FOREVER if ms < 0 else ms / 1000


@pytest.mark.slow
def test_every_thread_of_a_daemon_sleeps_for_more_than_a_minute(home: Home, root: Path) -> None:
    """By what the kernel was told, and not by watching for long."""
    if os.uname().machine != "x86_64":
        pytest.skip("knows the calls of one machine")
    pid = home.start(root)
    sync(home, root)

    def short() -> list[str]:
        threads = [task for member in family(pid) for task in Path(f"/proc/{member}/task").iterdir()]
        return [str(thread) for thread in threads if bound(thread) < 60]

    wait_until(lambda: not short())
    time.sleep(0.5)
    assert short() == []


# --- the audit


@pytest.mark.parametrize("files", [0, 1, 49, 51, 1000, 5566, 200_000])
@pytest.mark.parametrize("hours", [0.001, 0.5, 24.0, 8760.0])
def test_an_audit_reads_everything_once_in_its_hours(hours: float, files: int) -> None:
    audit = Audit(hours)
    paths = [str(number) for number in range(files)]
    assert audit.pause(files) >= min(hours * 3600, 600)
    count = math.ceil(hours * 3600 / audit.pause(files)) if files else 0
    seen = [path for _ in range(count + 1) for path in audit.slice(paths)]
    assert set(seen) == set(paths)
    assert len(seen) <= 3 * files


def test_what_is_due_waits_for_other_work_and_is_told_nobody(root: Path) -> None:
    told: list[Event] = []

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            runs = Runs(service)
            await service.view("wait", BOUND)
            service.subscribe(told.append)
            service._auditor._ring()
            job = service._job
            assert job is not None
            assert job.kind == AUDIT
            assert set(job.paths) <= {f"pkg/m{number}.py" for number in range(7)}
            service._dirt.add(frozenset({"pkg/m0.py"}))
            service._auditor._ring()
            assert (await service.view("wait", BOUND)).fresh
            await service.view("wait", BOUND)
            await idle(service)
            assert runs.kinds[-3:] == [AUDIT, "update", AUDIT]
            assert service.status().current
            assert [left for left in deadlines(asyncio.get_running_loop()) if left < 60] == []

    asyncio.run(story())
    assert AUDIT not in {event.stage for event in told if isinstance(event, Progress)}


# --- git at work


def test_gits_own_writes_cost_no_scan(root: Path) -> None:
    """Each of these writes git's index; only what tracks other paths has everything looked at."""
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "one")
    path = root / "pkg" / "m0.py"
    cheap: list[Callable[[], object]] = [
        lambda: git(root, "status"),
        lambda: git(root, "add", "pkg/m0.py"),
        lambda: git(root, "commit", "-q", "-m", "two"),
        lambda: git(root, "update-index", "--force-write-index"),
        lambda: (git(root, "stash"), git(root, "stash", "pop")),
    ]
    dear: list[Callable[[], object]] = [
        lambda: git(root, "rm", "-q", "--cached", "pkg/m0.py"),
        lambda: git(root, "checkout", "-q", "-b", "other"),
        lambda: git(root, "add", "pkg/m0.py"),
    ]

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            await service.view("wait", BOUND)
            runs = Runs(service)
            for number, change in enumerate(cheap):
                path.write_text(f"def changed_{number}(): pass\n")
                await service.view("wait", BOUND)
                change()
                assert (await service.view("wait", BOUND)).fresh
                assert runs.scans() == 0, number
            for number, change in enumerate(dear):
                change()
                assert (await service.view("wait", BOUND)).fresh
                assert 1 <= runs.scans() <= 2, number

    asyncio.run(story())


def test_a_file_that_git_tracks_from_now_on_is_found(root: Path) -> None:
    """Ignored and tracked all the same: only git's index tells, in whatever repository it lies."""
    (root / "inner").mkdir()
    (root / "inner" / "out.py").write_text("def tracked_in_the_end(): pass\n")

    async def story(place: Path) -> None:
        (place / ".gitignore").write_text("out.py\n")
        (place / "out.py").write_text("def tracked_in_the_end(): pass\n")
        async with open_service(workspace(root)) as service:
            for words, there in (
                (["add", "-f"], True),
                (["rm", "-q", "--cached"], False),
                (["add", "-f"], True),
            ):
                view = await service.view("wait", BOUND)
                assert (str(place.relative_to(root) / "out.py") in view.corpus.snapshot.paths) is not there
                git(place, *words, "out.py")
                view = await service.view("wait", BOUND)
                assert (str(place.relative_to(root) / "out.py") in view.corpus.snapshot.paths) is there

    git(root, "init", "-q", "inner")
    asyncio.run(story(root / "inner"))
    git(root, "init", "-q")
    asyncio.run(story(root))
