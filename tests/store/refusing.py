"""A disk that refuses: no room, a failing platter, read-only, half of what was to be written; and what must come of it."""

from __future__ import annotations

import errno
import os
import shutil
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from indexer.errors import StoreError
from indexer.store import Writer, verify
from tests.store.crashes import Ledger, State, judged, look
from tests.store.replay import Tree, World, lay_out
from tests.store.samples import IDENTITY, QuickDisk
from tests.store.scripts import make

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from indexer.store.disk import Buffer
    from indexer.store.dump import Dump
    from tests.store.scripts import Commit, Run

T = TypeVar("T")

CHANGES = frozenset({"write", "sync", "rename", "link", "remove", "make"})
FOR_EVER = 1 << 30


class Refusing(QuickDisk):
    """Refuses the changes number ``first`` to ``last``, counted from 1; a refused write leaves half of its bytes.

    ``reader`` looks at the index after every rename and removal; ``unreadable`` tells when it could not.
    """

    def __init__(self) -> None:
        self.first = self.last = 0
        self.count = 0
        self.error = errno.ENOSPC
        self.refused: list[str] = []
        self.reader: Callable[[], object] = lambda: None
        self.unreadable: list[str] = []

    def arm(self, first: int, last: int, error: int) -> None:
        self.first, self.last, self.error = first, last, error
        self.count = 0
        self.refused = []

    def attempt(self, action: str, path: Path, call: Callable[[], T]) -> T:
        if action in CHANGES:
            self.count += 1
            if self.first <= self.count <= self.last:
                self.refused.append(f"{action} {path.name}")
                raise OSError(self.error, os.strerror(self.error))
        done = call()
        if action in {"rename", "remove"}:
            try:
                self.reader()
            except StoreError as error:
                self.unreadable.append(f"after {action} {path.name}: {error}")
        return done

    def sync(self, path: Path) -> None:
        self._told("sync", path, lambda: None)

    def sync_directory(self, path: Path) -> None:
        self._told("sync", path, lambda: None)

    def write(self, path: Path, parts: Sequence[Buffer]) -> None:
        if self.first <= self.count + 1 <= self.last and self.error == errno.ENOSPC:
            whole = b"".join(bytes(part) for part in parts)
            path.write_bytes(whole[: len(whole) // 2])
        super().write(path, parts)


# --- what must come of it


def problems(run: Run, scratch: Path, ledger: Ledger, commit: Commit, again: Callable[[], None]) -> list[str]:
    """Operations of a commit that are refused, after which the index is not as it was, or the commit cannot be repeated.

    ``again`` has names come as they came before, so that what two refusals leave alike counts once.
    """
    world = World(run.directory.parent)
    for operation in run.disk.operations[: commit.at]:
        world.apply(operation)
    before = State(commit.at, "before the commit", world.killed())
    total, want = _unrefused(before, scratch, commit)
    found = []
    for at in range(1, total + 1, 5 if total > 40 else 1):  # a folder is thirty times the same operation
        for error in (errno.ENOSPC, errno.EIO, errno.EROFS):
            for last in (at, FOR_EVER):
                how = f"refused: {errno.errorcode[error]} from change {at} to {last}"
                judge = partial(
                    _is_refused, arm=(at, last, error), commit=commit, want=want, ledger=ledger, how=how
                )
                again()
                found += judged(before._replace(how=how), scratch, judge)
    return found


def _unrefused(before: State, scratch: Path, commit: Commit) -> tuple[int, Dump | None]:
    """How many changes the commit makes, and what comes of it."""
    lay_out(before.tree, scratch)
    disk = Refusing()
    with Writer(scratch, scratch / ".indexer", IDENTITY, keep_generations=1, disk=disk) as writer:
        make(writer, commit.changes)
        disk.arm(0, -1, 0)
        writer.commit(complete=commit.complete)
    want = look(scratch / ".indexer")
    shutil.rmtree(scratch)
    return disk.count, want


def _is_refused(
    root: Path,
    *,
    arm: tuple[int, int, int],
    commit: Commit,
    want: Dump | None,
    ledger: Ledger,
    how: str,
) -> None:
    directory, disk = root / ".indexer", Refusing()
    with Writer(root, directory, IDENTITY, keep_generations=1, disk=disk) as writer:
        before = look(directory)
        make(writer, commit.changes)
        disk.arm(*arm)
        try:
            writer.commit(complete=commit.complete)
            good = [want]
        except StoreError:
            # Refused after the rename, and so was the way back: the new generation is whole.
            good = [before, want] if arm[1] == FOR_EVER else [before]
        ledger.is_new(State(commit.at, how, tree_of(root)))
        assert look(directory) in good
        disk.arm(0, -1, 0)
        disk.reader = lambda: look(directory)
        writer.commit(complete=commit.complete)
        assert disk.unreadable == [], "at every moment there is a generation"
        assert look(directory) == want
        assert verify(directory) == []


def tree_of(root: Path) -> Tree:
    """What is there."""
    return {
        str(path.relative_to(root)): None if path.is_dir() else path.read_bytes() for path in root.rglob("*")
    }
