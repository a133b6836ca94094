"""One run over a root: scan, diff, read, cut, embed, commit. What changed is paid for, and nothing else.

The run is one thread. Files are read only as fast as the parser processes take them, so that memory stays bounded
whatever the size of the tree. Contents that are new gather into batches for the embedder; when a batch has its
vectors, the files it was gathered from are bound. A long run commits from time to time what it has, marked as
incomplete, and one that was interrupted goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from indexer.chunk.cutting import Cut, Task
from indexer.chunk.languages import language_of
from indexer.chunk.worker import Failed, Pool
from indexer.reindex import mounts
from indexer.reindex.batch import Batch, Waiting
from indexer.scan import diff
from indexer.scan.content import examine
from indexer.scan.ignore import Rules
from indexer.scan.read import Read, read_file
from indexer.scan.walk import Scan, walk
from indexer.store import Identity, Writer
from indexer.types import FileRecord, FileStat, Reason, Report, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from indexer.scan.diff import Suspects
    from indexer.store import Snapshot
    from indexer.workspace import Workspace

_CHECKPOINT_SECONDS = 30.0
_HEAD = 8192  # bytes of a file that may tell its language


class Progress(Protocol):
    """Told how a run goes: ``done`` of ``total`` files that have to be looked at."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take note; called often, so it must be quick."""


def silent(stage: str, done: int, total: int) -> None:
    """A `Progress` that tells nobody."""


def identity_of(space: Workspace) -> Identity:
    """Return what an index of this workspace says of its making (DESIGN, invariant 12)."""
    embedder = space.embedder
    return Identity(embedder.name, embedder.dim, embedder.version, space.tokenizer, space.cutting)


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
    """What a run did, the generation it ended with, and what it could not see (empty: it saw everything)."""

    report: Report
    snapshot: Snapshot
    unknown: tuple[str, ...]
    notes: tuple[str, ...]


def reindex(space: Workspace, *, full: bool = False, progress: Progress = silent) -> Outcome:
    """Bring the index of a root up to date and return what that took.

    ``full`` makes it anew from nothing, while the old generation goes on answering until the new one is whole.
    Raises `BusyError` when another writer is at work, `RootError` and `StoreError` as their names say.
    """
    started = time.perf_counter()
    keep = space.settings.store.keep_generations
    with Writer(space.root, space.index_dir, identity_of(space), fresh=full, keep_generations=keep) as writer:
        run = _Run(space, writer, progress)
        scan = scan_of(space)
        run.go(scan)
        outcome = Outcome(run.report, writer.snapshot, tuple(scan.unknown), (*writer.notes, *scan.notes))
    run.report.seconds = round(time.perf_counter() - started, 3)
    return outcome


class _Run:
    """The state of one run: what waits for a parser, what waits for vectors, and the counts."""

    def __init__(self, space: Workspace, writer: Writer, progress: Progress) -> None:
        self.space = space
        self.writer = writer
        self.progress = progress
        self.report = Report(root=str(space.root))
        self.batch = Batch(space.embedder, writer)
        self.waiting: dict[int, Waiting] = {}
        self.same: dict[tuple[bytes, str], Waiting] = {}
        self.new_hashes: list[bytes] = []
        self.changed: list[str] = []
        self.done = self.total = 0
        self.saved_at = time.monotonic()

    def go(self, scan: Scan) -> None:
        """Bring the store from what it knows to what ``scan`` saw, and commit."""
        before = self.writer.snapshot
        live_before = live_keys(before)
        suspects = suspects_of(before, scan)
        self.total = len(suspects.opened)
        with Pool(self.space.settings.chunk, self.space.settings.worker) as pool:
            for result in pool.run(self._tasks(suspects)):
                self._take(result)
        self._flush()
        for path in suspects.gone:
            self.writer.remove_file(path)
        mounts.remember(self.writer, mounts.known_mounts(before), scan)
        self._count_moves(before, suspects)
        self.report.generation = self.writer.commit()
        self._count_rest(scan, suspects, live_before)

    # --- from files to tasks

    def _tasks(self, suspects: Suspects) -> Iterator[Task]:
        """Read each suspect; yield those whose content has to be cut."""
        reread = {stat.path for stat in suspects.racy}
        limit = self.space.settings.scan.max_file_bytes
        for stat in suspects.opened:
            read = read_file(self.space.root, stat.path, limit)
            if isinstance(read, Skipped):
                self._unread(stat, read)
            else:
                yield from self._judge(read, settled=stat.path in reread)
            self.done += 1
            self.progress("index", self.done, self.total)
            self._checkpoint()

    def _unread(self, stat: FileStat, why: Skipped) -> None:
        """Record a file that could not be read, unless it has gone: then the next scan says what became of it."""
        if why.reason == Reason.VANISHED:
            self.writer.remove_file(stat.path)
        else:
            self._skip(stat, b"", why.reason, why.detail)

    def _skip(self, stat: FileStat, digest: bytes, reason: str, detail: str) -> None:
        # What could not be read is tried again by every run: no stat tells when it can be.
        record = FileRecord(stat, digest, reason=reason, detail=detail, racy=reason == Reason.UNREADABLE)
        self.writer.put_file(record, None)

    def _judge(self, read: Read, *, settled: bool) -> Iterator[Task]:
        """Say what a file that was read comes to: a new stat, a skipped file, a known content, or a task."""
        path = read.stat.path
        before = self.writer.snapshot.record(path)
        racy = diff.is_racy(read.stat, read.read_at_ns)
        if before is not None and before.content_hash == read.digest:
            if not settled or racy != before.racy or before.stat != read.stat:
                block = self.writer.snapshot.block_of(path)
                self.writer.put_file(_moved(before, read.stat, racy=racy), block)
            self.report.files.unchanged += 1
            return
        if before is None:
            self.report.files.added += 1
            self.new_hashes.append(read.digest)
        else:
            self.report.files.modified += 1
        self.changed.append(path)
        text = examine(path, read.data, self.space.settings.scan)
        if isinstance(text, Skipped):
            self._skip(read.stat, read.digest, text.reason, text.detail)
            return
        language = language_of(path, text.utf8[:_HEAD])
        record = FileRecord(read.stat, read.digest, language, text.encoding, racy=racy)
        yield from self._cut(record, text.utf8)

    def _cut(self, record: FileRecord, text: bytes) -> Iterator[Task]:
        """Bind a content whose chunks are known, or have it cut; equal contents of one run are cut once."""
        block = self.writer.find_block(record.content_hash, record.language)
        if block is not None:
            self.writer.put_file(record, block)
            return
        key = (record.content_hash, record.language)
        if key in self.same:
            self.same[key].records.append(record)
            return
        self.same[key] = self.waiting[self.done] = Waiting([record], text)
        yield Task(self.done, record.language, text)

    # --- from results to rows

    def _take(self, result: Cut | Failed) -> None:
        waiting = self.waiting.pop(result.tag)
        if isinstance(result, Failed):
            for record in waiting.records:
                self._skip(record.stat, record.content_hash, result.reason, result.detail)
            return
        self.batch.add(waiting, result)
        if len(self.batch) >= self.space.settings.embed.batch:
            self._flush()

    def _flush(self) -> None:
        """Give the batch its vectors, and bind the files it was gathered from."""
        self.report.embedded += self.batch.flush()

    def _checkpoint(self) -> None:
        if time.monotonic() - self.saved_at < _CHECKPOINT_SECONDS:
            return
        self._flush()
        self.writer.commit(complete=False)
        self.saved_at = time.monotonic()

    # --- counting

    def _count_moves(self, before: Snapshot, suspects: Suspects) -> None:
        """Pair what went with what came by content: such a pair is a rename."""
        files = self.report.files
        arrived = list(self.new_hashes)
        for path in suspects.gone:
            record = before.record(path)
            if record is not None and record.content_hash in arrived:
                arrived.remove(record.content_hash)
                files.renamed += 1
        files.added -= files.renamed
        files.removed = len(suspects.gone) - files.renamed

    def _count_rest(self, scan: Scan, suspects: Suspects, live_before: NDArray[np.void]) -> None:
        after = self.writer.snapshot
        files, chunks = self.report.files, self.report.chunks
        files.scanned = len(scan.files)
        files.unchanged += suspects.unchanged
        files.skipped = len(scan.skipped) + skipped_count(after)
        chunks.total = len(after.rows.content)
        places = [place for path in self.changed if (place := after.file_of(path)) is not None]
        rows = sum(int(after.files.first_row[place + 1] - after.files.first_row[place]) for place in places)
        chunks.reused = rows - self.report.embedded
        live_after = live_keys(after)
        chunks.added = len(np.setdiff1d(live_after, live_before, assume_unique=True))
        chunks.unbound = len(np.setdiff1d(live_before, live_after, assume_unique=True))


def live_keys(snapshot: Snapshot) -> NDArray[np.void]:
    """Return the content keys that are bound, each once, as 16-byte values."""
    pieces = [np.zeros(0, "V16")]
    for segment in snapshot.stack.segments:
        tables, base = segment.tables, segment.base.contents
        live = snapshot.live[base : base + tables.counts.contents][tables.content_rows]
        halves = np.ascontiguousarray(tables.content_keys[:, live].T)
        pieces.append(halves.view("V16").reshape(-1))
    return np.concatenate(pieces)


def skipped_count(snapshot: Snapshot) -> int:
    """Return how many files are known by name only, for a reason found in their content."""
    words = [snapshot.string_id(reason) for reason in ("", Reason.MOUNT)]
    known = np.array([word for word in words if word is not None], np.uint32)
    return int(np.count_nonzero(~np.isin(snapshot.files.reason, known)))


def _moved(record: FileRecord, stat: FileStat, *, racy: bool) -> FileRecord:
    """Give the same content under another stat."""
    return replace(record, stat=stat, racy=racy)
