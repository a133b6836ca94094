"""Whether an index stands as the files do: the whole of a run that finds nothing changed, and the beginning of another.

Nothing is loaded here that only a change needs (numpy, the embedder's model, parsers), nothing is written, and all that
a run promises holds: the writer's lock is taken, the rules are read anew, every file is looked at, and every checksum of
the index is verified, while the files are looked at.
"""

from __future__ import annotations

import gc
import os
import time
from functools import cached_property, partial

from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.reindex.identity import identity_of
from indexer.scan.ignore import Rules
from indexer.scan.root import INDEX_NAME, check_index_dir
from indexer.scan.walk import walk
from indexer.store.known import look
from indexer.store.lock import RootLock

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.scan.seen import Scan
    from indexer.store.known import Known, Proof
    from indexer.types import Report, Stats
    from indexer.workspace import Workspace


class Unchanged(NamedTuple):
    """What a run that found nothing has to say, as `indexer.reindex.live.Outcome` has it; the report once asked for."""

    say: Callable[[], Report]
    notes: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    @property
    def report(self) -> Report:
        """What the run did."""
        return self.say()


class Begun(NamedTuple):
    """A run that has more to do: the root's lock, the rules, and what was seen by them. ``started``: perf_counter."""

    lock: RootLock
    rules: Rules
    scan: Scan
    started: float


def begin(space: Workspace) -> Unchanged | Begun | None:
    """Look at everything; None when that was in vain, since the index is damaged.

    Nothing of an index is believed that came with the repository: git need not have been asked whether this one did.
    Raises `BusyError` when another writer is at work, `RootError` and `StoreError` as their names say.
    """
    started = time.perf_counter()
    lock = RootLock(space.root)
    found: Unchanged | Begun | None = None
    gc.disable()  # a hundred thousand small values and not one cycle: looking for some takes a tenth of the time
    try:
        found = _found(space, lock, started)
    finally:
        gc.enable()
        if not isinstance(found, Begun):
            lock.close()
    return found


def _found(space: Workspace, lock: RootLock, started: float) -> Unchanged | Begun | None:
    settings = space.settings.scan
    rules = Rules.load(space.root, settings)
    index = _Index(space)
    scan = walk(space.root, rules, settings, index)
    # What is the same has no file of an index among those that git tracks, if it lies where it usually does.
    if not (scan.same and space.index_dir == space.root / INDEX_NAME):
        check_index_dir(space.root, space.index_dir)
    known = index.known
    if known is None:
        return Begun(lock, rules, scan, started)
    if not index.holds():
        return None
    if scan.same or _is_same(scan, known.stats):
        seconds = time.perf_counter() - started
        return Unchanged(partial(_report, space, known, scan, seconds), tuple(scan.notes))
    return Begun(lock, rules, scan, started)


class _Index:
    """What the index knows, once it has been asked, and whether it is worth anything."""

    def __init__(self, space: Workspace) -> None:
        self._space = space
        self._proof: Proof | None = None

    @cached_property
    def known(self) -> Known | None:
        """Ask it; None where it cannot be told."""
        looked = look(self._space.index_dir, identity_of(self._space))
        if looked is None:
            return None
        known, self._proof = looked
        return known

    def stats(self) -> Stats | None:
        """What it knows of the files."""
        return None if self.known is None else self.known.stats

    def halfway(self) -> None:
        """Verify its checksums meanwhile."""
        if self._proof is not None:
            self._proof.start()

    def holds(self) -> bool:
        """Whether the checksums are what they should be."""
        return self._proof is not None and self._proof.holds()


def _is_same(scan: Scan, known: Stats) -> bool:
    """The same as `Scan.same`, for trees that git does not list as one."""
    if scan.unknown or scan.mounts or len(scan.files) != len(known.names):
        return False
    seen = {(os.fsencode(stat.path), *stat[1:]) for stat in scan.files}
    return seen.issuperset(zip(*known, strict=True))


def _report(space: Workspace, known: Known, scan: Scan, seconds: float) -> Report:
    from indexer.types import Report  # here, since `--quiet` tells nobody

    report = Report(str(space.root), known.generation)
    report.files.scanned = report.files.unchanged = len(known.stats.names)
    report.files.skipped = len(scan.skipped) + known.skipped
    report.chunks.total = known.chunks()
    report.seconds = round(seconds, 3)
    return report
