"""Faults that the suites have to find: ``python -m tests.planted FAULT WORDS`` is the command line with one of them.

A fault is planted in that process and in every interpreter that is started from there: the updater is one.
`fixtures/planted.toml` says which suite is held by which fault, and where that is tested.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from indexer import processes
from indexer.chunk.worker import Pool
from indexer.cli import main
from indexer.reindex.run import Run
from indexer.store import Writer, commit, publish
from indexer.store.disk import Disk
from indexer.watch.inbox import Inbox


def an_event_lost() -> None:
    """What happens to files called b.py raises no event."""
    real: Any = Inbox._sort
    Inbox._sort = lambda self, wd, mask, name: name != b"b.py" and real(self, wd, mask, name)  # type: ignore[method-assign]


def a_check_skipped() -> None:
    """A known file is taken for unchanged though its hash moved, when it has grown."""
    real = Run._judge

    def judge(self: Run, read: Any, *, settled: bool) -> Any:
        before = self.writer.snapshot.record(read.stat.path)
        if before is not None and before.stat.size < read.stat.size:
            read = read._replace(digest=before.content_hash)
        return real(self, read, settled=settled)

    Run._judge = judge  # type: ignore[method-assign]


def a_removal_forgotten() -> None:
    """What has gone stays."""
    Writer.remove_file = lambda self, path: None  # type: ignore[method-assign]


class NoLock:
    """A lock that keeps nobody out."""

    def __init__(self, root: object) -> None: ...
    def check(self) -> None: ...
    def close(self) -> None: ...


def a_lock_not_taken() -> None:
    """Two may write at once."""
    commit.RootLock = NoLock  # type: ignore[attr-defined, assignment]


def a_rename_dropped() -> None:
    """A manifest is written in its place, half of it a moment before the rest."""

    def publish_in_place(disk: Disk, directory: Path, name: str, data: bytes, *, keep: bool) -> None:
        if keep:
            publish.keep_previous(disk, directory)
        with (directory / name).open("wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            time.sleep(0.5)
            file.write(data[len(data) // 2 :])

    publish.publish = publish_in_place


def the_innocent_blamed() -> None:
    """A file whose parser was killed from outside is at fault."""
    Pool._spare = lambda self, batch: False  # type: ignore[method-assign]


FAULTS = {
    fault.__name__: fault
    for fault in (
        an_event_lost,
        a_check_skipped,
        a_removal_forgotten,
        a_lock_not_taken,
        a_rename_dropped,
        the_innocent_blamed,
    )
}


def plant(fault: str) -> None:
    """Plant a fault here, and in every interpreter that is started from here."""
    FAULTS[fault]()
    real = processes.interpreter
    processes.interpreter = lambda code: real(f"from tests import planted; planted.plant({fault!r}); {code}")


if __name__ == "__main__":
    plant(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
