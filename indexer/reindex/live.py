"""The one that writes a root's index: brings it up to date by a scan of everything, or by paths said to be dirty.

Both doors lead to the same run (`run.Run`), so that an update by paths ends with what a scan would have ended with.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from indexer.reindex import mounts
from indexer.reindex.identity import identity_of
from indexer.reindex.links import other_names
from indexer.reindex.progress import silent
from indexer.reindex.report import count_chunks, count_moves, count_scan, live_keys
from indexer.reindex.run import Run
from indexer.scan import diff
from indexer.scan.ignore import Rules
from indexer.scan.trees import above, outermost, outside
from indexer.scan.walk import look, walk
from indexer.store import Writer
from indexer.types import FileStat, Reason, Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from indexer.chunk.worker import Pool
    from indexer.reindex.progress import Progress
    from indexer.reindex.standing import Begun
    from indexer.scan.seen import Scan
    from indexer.store import RootLock, Snapshot
    from indexer.workspace import Workspace


def scan_of(space: Workspace) -> Scan:
    """Walk the root by its rules."""
    return walk(space.root, Rules.load(space.root, space.settings.scan), space.settings.scan)


def suspects_of(snapshot: Snapshot, scan: Scan) -> diff.Suspects:
    """Hold a scan against a generation. What lies on a file system that is gone is unknown, and noted in the scan."""
    known, racy = snapshot.known()
    mounted = mounts.known_mounts(snapshot)
    missing = mounts.missing(mounted, scan)
    scan.unknown += missing
    scan.notes += map(mounts.note, missing)
    for path in mounted:
        del known[path]
    return diff.compare(known, racy, scan.files, scan.unknown)


class Outcome(NamedTuple):
    """What a run did, the generation it ended with, and what it could not see; ``whole``: it looked at everything."""

    report: Report
    snapshot: Snapshot
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    whole: bool = False


def reindex(
    space: Workspace, *, full: bool = False, progress: Progress = silent, begun: Begun | None = None
) -> Outcome:
    """Bring the index of a root up to date and return what that took.

    ``full`` makes it anew from nothing, while the old generation goes on answering until the new one is whole. A run
    that has ``begun`` is ended. Raises `BusyError` when another writer is at work, `RootError` and `StoreError` as
    their names say.
    """
    with Indexer(space, full=full, progress=progress, lock=begun and begun.lock) as indexer:
        return indexer.scan(begun)


class Indexer:
    """Holds the root's writer, and its parser processes, until it is closed. Use it as a context manager.

    Raises `BusyError` when another writer holds the root. After any error the next `scan` sets things right.
    """

    def __init__(
        self,
        space: Workspace,
        *,
        full: bool = False,
        progress: Progress = silent,
        lock: RootLock | None = None,
    ) -> None:
        self.space = space
        self.progress = progress
        self._rules: Rules | None = None
        keep = space.settings.store.keep_generations
        identity = identity_of(space)
        self.writer = Writer(
            space.root, space.index_dir, identity, fresh=full, keep_generations=keep, lock=lock
        )
        self._pool: Pool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the lock back and end the parser processes."""
        self.rest()
        self.writer.close()

    def rest(self) -> None:
        """End the parser processes; the next run starts new ones. They are worth keeping between quick edits only."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    @property
    def has_parsers(self) -> bool:
        """Whether there are parser processes, to be ended by `rest`."""
        return self._pool is not None

    @property
    def snapshot(self) -> Snapshot:
        """The last generation."""
        return self.writer.snapshot

    def scan(self, begun: Begun | None = None) -> Outcome:
        """Look at everything, by rules read anew, and commit what has changed. What was ``begun`` is not done again."""
        started = begun.started if begun else time.perf_counter()
        self._rules = begun.rules if begun else Rules.load(self.space.root, self.space.settings.scan)
        scan = begun.scan if begun else walk(self.space.root, self._rules, self.space.settings.scan)
        before = self.writer.snapshot
        suspects = suspects_of(before, scan)
        changes = bool(suspects.opened or suspects.gone)
        live_before = live_keys(before) if changes else None
        run = self._run(suspects)
        mounts.remember(self.writer, mounts.known_mounts(before), scan)
        report = self._committed(run, before, suspects)
        after = self.writer.snapshot
        count_scan(report, scan, suspects, after)
        report.chunks.total = len(after.rows.content)
        if live_before is not None:
            count_chunks(report, run.changed, live_before, after)
        report.seconds = round(time.perf_counter() - started, 3)
        return Outcome(report, after, tuple(scan.unknown), (*self.writer.notes, *scan.notes), whole=True)

    def update(self, paths: Iterable[str], trees: Iterable[str] = ()) -> Outcome:
        """Look at some paths, and at all that is or was below some directories, and commit what has changed.

        Falls back to a scan when the rules have changed or were never read. Chunks are not counted in the report:
        that would cost as much as the whole index is large.
        """
        trees = outermost(set(trees))
        behind = self._rules is None or self._rules.changed() or not self.writer.snapshot.complete
        if behind or "" in trees:
            return self.scan()
        started = time.perf_counter()
        before = self.writer.snapshot
        folders: list[str] = []
        dirty = {*paths, *self._below(trees, folders)}
        suspects, files = self._suspects(dirty)
        if others := other_names(before, suspects) - dirty:
            dirty |= others
            suspects, files = self._suspects(dirty)
        unknown = tuple(sorted((*outermost(set(folders)), *outside(files, set(folders))), key=os.fsencode))
        report = self._committed(self._run(suspects), before, suspects)
        report.files.scanned = len(dirty)
        report.seconds = round(time.perf_counter() - started, 3)
        return Outcome(report, self.writer.snapshot, unknown, self.writer.notes)

    def audit(self, paths: Iterable[str]) -> Outcome:
        """Read files whose stat has not moved, and commit those whose bytes have: some changes leave no other trace."""
        before = self.writer.snapshot
        records = [record for path in paths if (record := before.record(path)) is not None]
        stats = tuple(record.stat for record in records if record.content_hash)
        suspects = diff.Suspects((), (), stats, (), 0)
        report = self._committed(self._run(suspects), before, suspects)
        return Outcome(report, self.writer.snapshot, (), self.writer.notes)

    def _parsers(self) -> Pool:
        if self._pool is None:
            from indexer.chunk import worker  # a run that finds nothing changed needs none of it

            self._pool = worker.Pool(self.space.settings.chunk, self.space.settings.worker)
        return self._pool

    def _run(self, suspects: diff.Suspects) -> Run:
        run = Run(self.space, self.writer, self._parsers, self.progress)
        run.go(suspects)
        return run

    def _committed(self, run: Run, before: Snapshot, suspects: diff.Suspects) -> Report:
        count_moves(run.report, before, suspects, run.arrived)
        run.report.generation = self.writer.commit()
        return run.report

    def _below(self, trees: AbstractSet[str], unreadable: list[str]) -> Iterator[str]:
        """Every path that is known below some directories, or lies there now; those that cannot be read are gathered."""
        rules = self._rules
        assert rules is not None
        if trees:
            yield from (path for path in self.writer.snapshot.paths if not trees.isdisjoint(above(path)))

        def note(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                unreadable.append(self._inside(error.filename))

        rules.forget(*trees)
        for tree in trees:
            if _leads_elsewhere(self.space.root, tree):
                continue
            for folder, folders, names in os.walk(self.space.root / tree, onerror=note):
                here = self._inside(folder)
                inside = f"{here}/" if here else ""
                folders[:] = [name for name in folders if rules.directory(inside + name)]
                yield from (inside + name for name in names)

    def _inside(self, folder: str) -> str:
        here = os.path.relpath(folder, self.space.root)
        return "" if here == "." else here

    def _suspects(self, dirty: Iterable[str]) -> tuple[diff.Suspects, tuple[str, ...]]:
        """Look at each dirty path as the walk would, and hold it against what is known."""
        new: list[FileStat] = []
        moved: list[FileStat] = []
        racy: list[FileStat] = []
        gone: list[str] = []
        unknown: list[str] = []
        unchanged = 0
        assert self._rules is not None
        for path in sorted(dirty, key=os.fsencode):
            seen = look(self._rules, path, self.space.settings.scan)
            before = self.writer.snapshot.record(path)
            if before is not None and before.reason == Reason.MOUNT:
                continue
            if isinstance(seen, FileStat):
                if before is None:
                    new.append(seen)
                elif before.stat != seen:
                    moved.append(seen)
                elif before.racy:
                    racy.append(seen)
                else:
                    unchanged += 1
            elif seen is not None and seen.reason == Reason.UNREADABLE:
                unknown.append(path)
            elif before is not None:
                gone.append(path)
        return diff.Suspects(tuple(new), tuple(moved), tuple(racy), tuple(gone), unchanged), tuple(unknown)


def _leads_elsewhere(root: Path, tree: str) -> bool:
    """Whether a folder, or one on the way to it, has become a link: nothing is below it then, wherever it leads."""
    place = root
    for part in Path(tree).parts:
        place /= part
        if place.is_symlink():
            return True
    return False
