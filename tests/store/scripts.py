"""Scripts of commits, merges and new beginnings, played by a writer on a recording disk."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from indexer.store import Writer, commit, open_snapshot, retention, tiers
from tests.store.replay import Recorder
from tests.store.samples import IDENTITY, put

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from indexer.store.dump import Dump

BEFORE = {"a": b"alpha one\nbeta two\n", "b": b"gamma\n", "c": b"delta x y\n"}
Changes = dict[str, "bytes | None"]  # None: the file has gone


class Commit(NamedTuple):
    """What a commit adds to what was there after so many operations."""

    at: int
    changes: Changes
    complete: bool


class Run:
    """A writer on a recording disk; ``acknowledged`` tells after how many operations each dump was promised."""

    def __init__(self, root: Path) -> None:
        self.disk = Recorder()
        self.directory = root / ".indexer"
        self.files: dict[str, bytes] = {}
        self.commits: list[Commit] = []
        self.acknowledged: list[tuple[int, Dump | None]] = [(0, None)]
        self.writer = Writer(root, self.directory, IDENTITY, keep_generations=1, disk=self.disk)

    def commit(self, changes: Changes, *, complete: bool = True) -> None:
        self.commits.append(Commit(len(self.disk.operations), changes, complete))
        make(self.writer, changes)
        for path, data in changes.items():
            if data is None:
                self.files.pop(path)
            else:
                self.files[path] = data
        self.writer.commit(complete=complete)
        self.promise()

    def promise(self) -> None:
        self.acknowledged.append((len(self.disk.operations), open_snapshot(self.directory).tables()))

    def reopen(self, *, fresh: bool) -> None:
        root = self.directory.parent
        self.writer.close()
        self.writer = Writer(root, self.directory, IDENTITY, fresh=fresh, keep_generations=1, disk=self.disk)


def make(writer: Writer, changes: Changes) -> None:
    """Make changes pending."""
    for path, data in changes.items():
        if data is None:
            writer.remove_file(path)
        else:
            put(writer, path, data)


def small_commits(run: Run) -> None:
    run.commit(dict(BEFORE))
    run.commit({"a": b"alpha one\nnew\n"})
    run.commit({"b": None, "d": b"gamma\n"})


def merging_commits(run: Run) -> None:
    run.commit(dict(BEFORE))
    for number in range(3):
        run.commit({"a": b"alpha %d\n" % number})
    run.writer.compact()
    run.promise()


def checkpoints_and_a_fresh_run(run: Run) -> None:
    run.commit({"a": BEFORE["a"]}, complete=False)
    run.commit({"b": BEFORE["b"]})
    run.reopen(fresh=True)
    run.commit({"a": b"other\n"}, complete=False)  # set aside: the old generation answers
    run.files.pop("b")
    run.commit({"c": b"more\n"})


SCRIPTS = [small_commits, merging_commits, checkpoints_and_a_fresh_run]
WORDS = ["alpha one", "beta", "gamma x y", "delta", "统一码 two", ""]
PATHS = ["a", "b", "c", "d/é", "z"]


def few_pieces(patch: pytest.MonkeyPatch) -> None:
    """So that three commits merge."""
    patch.setattr(tiers, "MOST_PIECES", 2)
    patch.setattr(tiers, "FEWEST", 2)


def limits_at_random(patch: pytest.MonkeyPatch, dice: random.Random) -> None:
    """Limits at which a few commits merge, fold into folders, forget and compact."""
    patch.setattr(tiers, "MOST_PIECES", dice.choice([2, 2, 3, 4]))
    patch.setattr(tiers, "FEWEST", 2)
    patch.setattr(commit, "FOLD_BYTES", dice.choice([1 << 22, 1 << 22, 6000, 1]))
    patch.setattr(retention, "FLOOR", dice.choice([0, 2, 1024]))


def play_at_random(run: Run, dice: random.Random) -> None:
    """A few commits, some of them unfinished, with merges of everything and new beginnings in between."""
    run.commit({**BEFORE, **changes_at_random(run, dice)}, complete=dice.random() < 0.7)
    for _ in range(dice.randint(3, 6)):
        how = dice.random()
        if how < 0.7:
            run.commit(changes_at_random(run, dice), complete=dice.random() < 0.8)
        elif how < 0.85:
            run.writer.compact()
            run.promise()
        else:
            fresh = dice.random() < 0.6
            run.reopen(fresh=fresh)
            run.files = {} if fresh else run.files


def changes_at_random(run: Run, dice: random.Random) -> Changes:
    made: Changes = {}
    for path in dice.sample(PATHS, dice.randint(1, 3)):
        gone = path in run.files and dice.random() < 0.3
        lines = dice.choices(WORDS, k=dice.randint(0, 4))
        made[path] = None if gone else "\n".join(lines).encode()
    return made
