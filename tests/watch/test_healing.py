"""What is lost, and how it is found again: overflow, a dead thread, the root gone, limits, file systems."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.watch import filesystem
from tests.scan.trees import commit, git, repository, write
from tests.watch.observing import PATIENCE, Eye
from tests.watch.watcher import ask, seen_in, watcher

Watching = Callable[..., Eye]
QUEUE = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "root", {"f.py": "x = 1\n", "pkg/m.py": "y = 2\n"})


def fill(folder: Path) -> None:
    """Raise more events than the queue holds, and the buffer that the thread may have read: three a file."""
    for n in range(QUEUE // 3 + 2048):
        (folder / f"n{n}.py").write_text(".")


def overflow(eye: Eye, folder: Path) -> None:
    """Make the reading thread stand still until the kernel's queue has overflowed."""
    with eye.watch._inbox._changed:
        fill(folder)


# --- overflow


def test_a_real_overflow(root: Path, watching: Watching) -> None:
    eye = watching(root)
    asked = eye.watch.cookie()
    overflow(eye, root / "pkg")
    (root / "late/deep").mkdir(parents=True)
    shutil.rmtree(root / "pkg")
    seen = eye.sync()
    assert seen.rescans == ["the kernel's queue of events overflowed"]
    assert seen.trees == {""}
    assert eye.watch.state().rearms == 1
    assert eye.wrong_watches() == []
    for n in range(200):
        (root / f"late/deep/{n}.py").write_text("")
    assert eye.sync().paths == {f"late/deep/{n}.py" for n in range(200)}
    assert asked


def test_a_cookie_lost_in_an_overflow_is_answered(root: Path, watching: Watching) -> None:
    eye = watching(root)
    overflow(eye, root)
    asked = [eye.watch.cookie() for _ in range(3)]
    missing = set(asked)
    while missing:
        missing -= eye.wait().cookies


def test_many_folders_and_overflows_one_after_the_other(root: Path, watching: Watching) -> None:
    for n in range(300):
        (root / f"d{n}/inner").mkdir(parents=True)
    eye = watching(root)
    for turn in range(2):
        with eye.watch._inbox._changed:
            for n in range(turn, 300):
                (root / f"d{n}/inner").rename(root / f"d{n}/other")
                (root / f"d{n}/other").rename(root / f"d{n}/inner")
            (root / f"d{turn}").rename(root / f"moved{turn}")
            fill(root)
        assert eye.sync().rescans
        assert eye.wrong_watches() == []
    assert eye.watch.state().rearms == 2


def test_a_consumer_that_stays_away_costs_no_memory(
    root: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexer.watch.inbox.MOST", 100)
    eye = watching(root)
    for n in range(500):
        (root / f"n{n}.py").write_text("")
    assert eye.sync().rescans
    (root / "f.py").write_text("2")
    assert eye.sync().covers("f.py")


def checkout(tmp_path: Path, files: int) -> None:
    """A checkout between commits that differ in many files, with the watching process stopped for all of it."""
    root = repository(tmp_path / "root")
    write(root, {f"p{n % 50}/q{n % 7}/f{n}.py": f"one {n}\n" for n in range(files)})
    commit(root)
    git(root, "checkout", "-q", "-b", "other")
    write(root, {f"p{n % 50}/q{n % 7}/f{n}.py": f"other {n}\n" for n in range(files)})
    commit(root)
    eye = Eye(root)  # for the truth alone
    try:
        with watcher(root) as process:
            ask(process)
            before = eye.scan()
            os.kill(process.pid, signal.SIGSTOP)
            git(root, "checkout", "-q", "master")
            os.kill(process.pid, signal.SIGCONT)
            answer = ask(process)
            assert eye.uncovered(before, seen_in(answer)) == []
            assert answer["rearms"] <= 2
            write(root, {f"p{n % 50}/after{n}.py": "" for n in range(200)})
            later = seen_in(ask(process))
            assert all(later.covers(f"p{n % 50}/after{n}.py") for n in range(200))
    finally:
        eye.close()


def test_checkout_while_stopped(tmp_path: Path) -> None:
    checkout(tmp_path, 2000)


@pytest.mark.slow
def test_large_checkout_while_stopped(tmp_path: Path) -> None:
    checkout(tmp_path, 20_000)


@pytest.mark.slow
def test_many_folders_overflow_while_stopped(tmp_path: Path) -> None:
    root = repository(tmp_path / "root")
    for n in range(20_000):
        (root / f"d{n % 200}/e{n}").mkdir(parents=True)
    with watcher(root) as process:
        os.kill(process.pid, signal.SIGSTOP)
        for n in range(QUEUE):
            (root / f"d{n % 200}/e{n}/x.py").write_text("")
        os.kill(process.pid, signal.SIGCONT)
        answer = ask(process)
        assert answer["rescans"]
        assert answer["rearms"] <= 2
        for n in range(200):
            (root / f"d{n}/e{n}/y.py").write_text("")
        later = ask(process)
        assert set(later["paths"]) == {f"d{n}/e{n}/y.py" for n in range(200)}
        assert later["rearms"] == answer["rearms"]


# --- the thread


def killed(eye: Eye) -> None:
    """An exception out of nowhere in the thread."""
    thread = eye.native._reader.ident or 0
    assert (
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit)) == 1
    )
    (eye.root / "f.py").write_text("the thread wakes up for this")


def failing(eye: Eye) -> None:
    """A fault of ours in the thread, with a cookie under way."""
    cookies, real = eye.watch._cookies, eye.watch._cookies.seen

    def once(name: bytes) -> None:
        cookies.seen = real  # type: ignore[method-assign]
        raise RuntimeError("planted")

    cookies.seen = once  # type: ignore[method-assign]
    cookies.ask()


@pytest.mark.parametrize("harm", [killed, failing])
def test_a_dead_thread_is_noticed_and_healed(
    root: Path, watching: Watching, harm: Callable[[Eye], None]
) -> None:
    eye = watching(root)
    first = eye.native._reader
    harm(eye)
    while "thread ended" not in (batch := eye.wait()).rescan:
        assert not batch.rescan
    first.join(PATIENCE)
    assert not first.is_alive()
    assert eye.native._reader is not first
    assert "started again" in eye.watch.state().problems[0]
    assert eye.wrong_watches() == []
    eye.sync()
    (root / "pkg/m.py").write_text("3")
    assert eye.sync().paths == {"pkg/m.py"}


def test_a_descriptor_closed_under_the_thread(root: Path) -> None:
    """It would spin for ever; in a process of its own, since a number that is free is soon somebody else's."""
    child = os.fork()
    if not child:
        eye = Eye(root)
        os.close(eye.native._reader._inotify_fd)
        os.write(eye.native._reader._kill_w, b"!")
        told = eye.wait().rescan
        eye.close()
        os._exit(0 if "thread ended" in told else 1)
    assert os.waitpid(child, 0)[1] == 0


# --- the root


def test_the_root_deleted_and_made_again(root: Path, watching: Watching) -> None:
    eye = watching(root)
    shutil.rmtree(root)
    while not (batch := eye.wait()).root_gone:
        pass
    assert "it was deleted" in batch.root_gone
    assert eye.watch.state().root_gone
    seen = eye.watch.cookie()
    batch = eye.wait()
    assert seen in batch.cookies
    assert batch.root_gone
    repository(root, {"new/x.py": ""})
    while not (batch := eye.wait()).rescan:
        pass
    assert batch.rescan == "the root is back"
    assert not eye.watch.state().root_gone
    assert eye.wrong_watches() == []
    (root / "new/x.py").write_text("1")
    assert eye.sync().paths == {"new/x.py"}


def test_the_root_replaced_at_once(root: Path, watching: Watching) -> None:
    """Whatever the moment: gone is told first, since locks and identities hang on the old folder."""
    eye = watching(root)
    for _ in range(5):
        shutil.rmtree(root)
        repository(root, {"x.py": "", "deep/y.py": ""})
        seen = eye.sync()
        while "the root is back" not in seen.rescans:
            seen.add(eye.wait())
        assert seen.gone
        eye.sync()
        assert eye.wrong_watches() == []


def test_the_root_renamed_and_back(root: Path, watching: Watching) -> None:
    eye = watching(root)
    root.rename(root.with_name("elsewhere"))
    assert "it was renamed" in eye.wait().root_gone
    (root.with_name("elsewhere") / "f.py").write_text("not ours now")
    assert eye.watch.next_batch(0.3) is None
    root.with_name("elsewhere").rename(root)
    assert eye.wait().rescan == "the root is back"
    assert eye.wrong_watches() == []


def test_a_folder_above_the_root_renamed(tmp_path: Path, watching: Watching) -> None:
    """No event at all: whoever asks is told."""
    root = repository(tmp_path / "above/root", {"f.py": ""})
    eye = watching(root)
    (tmp_path / "above").rename(tmp_path / "other")
    assert eye.sync().gone
    (tmp_path / "other").rename(tmp_path / "above")
    seen = eye.sync()
    while not seen.rescans:
        seen.add(eye.wait())
    assert seen.rescans == ["the root is back"]


def test_a_root_that_is_not_there_yet(root: Path, tmp_path: Path, watching: Watching) -> None:
    """From the time between reading the rules and watching."""
    rules = Eye.rules

    def gone_after(self: Eye) -> object:
        found = rules(self)
        shutil.rmtree(root)
        return found

    Eye.rules = gone_after  # type: ignore[method-assign, assignment]
    try:
        eye = watching(root)
    finally:
        Eye.rules = rules  # type: ignore[method-assign]
    assert eye.wait().root_gone
    repository(root, {"f.py": ""})
    assert eye.wait().rescan


def test_looking_by_itself_needs_no_patient_caller(root: Path, watching: Watching, unwatchable: int) -> None:
    """Who takes batches with a short timeout, again and again, is told of a root that is back, and polled for."""
    eye = watching(root)
    shutil.rmtree(root)
    repository(root, {"f.py": ""})
    until = time.monotonic() + PATIENCE
    while "the root is back" not in eye.seen.rescans and time.monotonic() < until:
        if batch := eye.watch.next_batch(0.005):
            eye.take(batch)
    assert "the root is back" in eye.seen.rescans
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        far = watching(Path(folder), poll_seconds=0.3)
        while not far.seen.rescans and time.monotonic() < until:
            if batch := far.watch.next_batch(0.005):
                far.take(batch)
        assert far.seen.rescans


def test_a_fault_of_ours_loses_no_cookie(
    root: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    eye = watching(root)

    def fail(*_: object) -> None:
        raise RuntimeError("planted")

    asked = eye.watch.cookie()
    with monkeypatch.context() as patch:
        patch.setattr(eye.native, "_take", fail)
        with pytest.raises(RuntimeError, match="planted"):
            eye.watch.next_batch(PATIENCE)
    batch = eye.wait()
    assert batch.rescan
    assert asked in batch.cookies


# --- what cannot be watched


@pytest.fixture
def unwatchable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Memory file systems count as if they were far away."""
    tmpfs = 0x01021994
    if filesystem._kind(b"/dev/shm") != tmpfs or filesystem._kind(os.fsencode(tmp_path)) == tmpfs:
        pytest.skip("needs a memory file system beside another one")
    monkeypatch.setitem(filesystem.UNWATCHABLE, tmpfs, "tmpfs")
    return tmpfs


def test_a_far_file_system_is_polled(
    tmp_path: Path, unwatchable: int, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path("/dev/shm") / f"watch-{os.getpid()}"
    try:
        repository(root, {"f.py": ""})
        eye = watching(root, poll_seconds=0.2)
        state = eye.watch.state()
        assert state.mode == "polling"
        assert "tmpfs" in state.problems[0]
        assert "polling" in eye.wait().rescan
        assert "polling" in eye.sync().rescans[0]
        monkeypatch.delitem(filesystem.UNWATCHABLE, unwatchable)
        eye.wait()
        assert eye.watch.state().mode == "inotify"
        (root / "f.py").write_text("1")
        seen = eye.sync()
        assert seen.covers("f.py")
        assert eye.watch.next_batch(0.5) is None
        shutil.rmtree(root)
        while not eye.wait().root_gone:
            pass
    finally:
        shutil.rmtree(root, ignore_errors=True)


@pytest.mark.parametrize(
    "name", ["few_watches", "no_instance", "mounted_and_unmounted", "bind_mount", "overlay", "unreadable"]
)
def test_in_a_namespace_of_its_own(tmp_path: Path, name: str) -> None:
    """What takes rights that only a name space of users gives; see `namespaced`."""
    words = ["unshare", "-Urm", sys.executable, "-m", "tests.watch.namespaced", name, str(tmp_path)]
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no name spaces here")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_threads_end_with_the_watch(root: Path) -> None:
    before = threading.active_count()
    eyes = [Eye(root) for _ in range(3)]
    for eye in eyes:
        eye.close()
    time.sleep(0.05)
    assert threading.active_count() == before
