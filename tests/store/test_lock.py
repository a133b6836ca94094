"""One writer a root, by a lock that neither git clean nor a killed parent with living children can break."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING

import pytest

from indexer.errors import BusyError, IndexerError, StoreError
from indexer.store import Writer, open_snapshot, verify
from indexer.store.lock import RootLock
from tests.store.samples import IDENTITY, QuickDisk

if TYPE_CHECKING:
    from pathlib import Path

HOLD = """
    import os, sys, time
    from pathlib import Path
    from indexer.store.lock import RootLock
    lock = RootLock(Path(sys.argv[1]))
    child = os.fork() if "fork" in sys.argv else -1
    if child == 0:
        time.sleep(60)
    print(child, flush=True)
    time.sleep(60)
"""

WRITE = """
    import sys, time
    from pathlib import Path
    from indexer.errors import BusyError
    from indexer.store import Writer
    from tests.planted import plant
    from tests.store.samples import IDENTITY, QuickDisk, put
    root, name, *faults = sys.argv[1:]
    for fault in faults:
        plant(fault)
    done = 0
    while done < 10:
        try:
            with Writer(Path(root), Path(root) / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
                assert not writer.notes, writer.notes
                put(writer, f"{name}{done}", b"word\\n")
                writer.commit()
        except BusyError:
            time.sleep(0.001)
        else:
            done += 1
"""


def hold(root: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), str(root), *more], stdout=subprocess.PIPE, text=True
    )


def test_a_second_writer_is_told(root: Path) -> None:
    with (
        Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()),
        pytest.raises(BusyError, match="another indexer"),
    ):
        Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk())
    Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()).close()


def write_at_once(root: Path, *faults: str) -> list[str]:
    """Three writers, each at its own files; return what went wrong: who failed, and what is missing."""
    words = [sys.executable, "-c", textwrap.dedent(WRITE), str(root)]
    writers = [subprocess.Popen([*words, name, *faults], stderr=subprocess.DEVNULL) for name in "abc"]
    failed = [f"a writer ended with {status}" for writer in writers if (status := writer.wait())]
    try:
        there = set(open_snapshot(root / ".indexer").paths)
    except IndexerError as error:
        return [*failed, str(error)]
    return failed + sorted({f"{name}{number}" for name in "abc" for number in range(10)} - there)


def test_writers_take_turns(root: Path) -> None:
    assert write_at_once(root) == []
    assert verify(root / ".indexer") == []


def test_a_lock_that_is_not_taken_is_noticed(root: Path) -> None:
    """The planted fault of the test above."""
    assert write_at_once(root, "a_lock_not_taken")


def test_it_survives_git_clean(root: Path) -> None:
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()):
        shutil.rmtree(root / ".indexer")
        with pytest.raises(BusyError):
            RootLock(root)


def test_another_process_and_its_death(root: Path) -> None:
    process = hold(root)
    assert process.stdout is not None
    process.stdout.readline()
    with pytest.raises(BusyError):
        RootLock(root)
    process.kill()
    process.wait()
    process.stdout.close()
    RootLock(root).close()


def test_a_forked_child_does_not_keep_it(root: Path) -> None:
    """A pool of forked workers outlives its killed parent for a while; the root must be free nevertheless."""
    process = hold(root, "fork")
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.kill()
    process.wait()
    process.stdout.close()
    try:
        freed(root)
    finally:
        os.kill(child, signal.SIGKILL)


def freed(root: Path) -> None:
    """Take the lock as soon as it is free: a child gives it up in its first moment, which may not have come yet."""
    until = time.monotonic() + 20
    while True:
        try:
            RootLock(root).close()
        except BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def test_a_failed_start_gives_it_back(root: Path) -> None:
    (root / ".indexer").write_text("a file in the way")
    with pytest.raises(StoreError):
        Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk())
    RootLock(root).close()


def test_no_root(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot open the root"):
        RootLock(tmp_path / "nothing")
