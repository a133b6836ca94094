"""From suspects to pending rows: read, cut, embed, bind. What changed is paid for, and nothing else.

A run is one thread. Files are read only as fast as the parser processes take them, so that memory stays bounded
whatever the size of the tree. Contents that are new gather into batches for the embedder; when a batch has its
vectors, the files it was gathered from are bound. A long run commits from time to time what it has, marked as
incomplete, and one that was interrupted goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk.cutting import Cuts, Failed, Task
from indexer.chunk.languages import language_of
from indexer.reindex.batch import Batch, Waiting
from indexer.scan import diff
from indexer.scan.content import examine
from indexer.scan.read import Read, read_file
from indexer.types import FileRecord, FileStat, Reason, Report, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indexer.chunk.worker import Pool
    from indexer.reindex.progress import Progress
    from indexer.scan.diff import Suspects
    from indexer.store import Writer
    from indexer.workspace import Workspace

_CHECKPOINT_SECONDS = 30.0
_EMPTIED_NS = (
    50_000_000  # between the emptying and the writing of a save in place; real ones take a millisecond
)
_EMPTIED_TRIES = 5
_HEAD = 8192  # bytes of a file that may tell its language


class Failure(NamedTuple):
    """Why a content cannot be cut; every file that holds it is skipped for that reason."""

    reason: str
    detail: str


class Run:
    """One run's state: what waits for a parser, what waits for vectors, and the counts."""

    def __init__(
        self, space: Workspace, writer: Writer, parsers: Callable[[], Pool], progress: Progress
    ) -> None:
        self.space = space
        self.writer = writer
        self.parsers = parsers
        self.progress = progress
        self.report = Report(root=str(space.root))
        self.arrived: list[bytes] = []
        self.changed: list[str] = []
        self._batch = Batch(space.embedder, writer)
        self._waiting: dict[int, Waiting] = {}
        self._same: dict[tuple[bytes, str], Waiting | Failure] = {}
        self._done = self._total = 0
        self._saved_at = time.monotonic()

    def go(self, suspects: Suspects) -> None:
        """Make pending in the writer whatever the suspects come to."""
        self._total = len(suspects.opened)
        if suspects.opened:
            for result in self.parsers().run(self._tasks(suspects)):
                self._take(result)
        self._flush()
        for path in suspects.gone:
            self.writer.remove_file(path)

    # --- from files to tasks

    def _tasks(self, suspects: Suspects) -> Iterator[Task]:
        """Read each suspect; yield those whose content has to be cut."""
        reread = {stat.path for stat in suspects.racy}
        limit = self.space.settings.scan.max_file_bytes
        for stat in suspects.opened:
            read = self._read(stat.path, limit)
            if isinstance(read, Skipped):
                self._unread(stat, read)
            else:
                yield from self._judge(read, settled=stat.path in reread)
            self._done += 1
            self.progress("index", self._done, self._total)
            self._checkpoint()

    def _read(self, path: str, limit: int) -> Read | Skipped:
        """Read a file; one that was emptied a moment ago is about to be written (editors that save in place do so)."""
        for _ in range(_EMPTIED_TRIES):
            read = read_file(self.space.root, path, limit)
            if (
                isinstance(read, Skipped)
                or read.data
                or not 0 <= read.read_at_ns - read.stat.mtime_ns < _EMPTIED_NS
            ):
                break
            time.sleep(_EMPTIED_NS / _EMPTIED_TRIES / 1e9)
        return read

    def _unread(self, stat: FileStat, why: Skipped) -> None:
        """Record a file that could not be read, unless it has gone: then the next scan says what became of it."""
        if why.reason == Reason.VANISHED:
            self.writer.remove_file(stat.path)
        else:
            # Tried again by every run: no stat tells when it can be read.
            self.writer.put_file(FileRecord(stat, reason=why.reason, detail=why.detail, racy=True), None)

    def _skip(self, record: FileRecord, reason: str, detail: str) -> None:
        """Record a file that was read and is not indexed."""
        self.writer.put_file(replace(record, language="", reason=reason, detail=detail), None)

    def _judge(self, read: Read, *, settled: bool) -> Iterator[Task]:
        """Say what a file that was read comes to: a new stat, a skipped file, a known content, or a task."""
        path = read.stat.path
        before = self.writer.snapshot.record(path)
        racy = diff.is_racy(read.stat, read.read_at_ns)
        if before is not None and before.content_hash == read.digest:
            if not settled or racy != before.racy or before.stat != read.stat:
                block = self.writer.snapshot.block_of(path)
                self.writer.put_file(replace(before, stat=read.stat, racy=racy), block)
            self.report.files.unchanged += 1
            return
        if before is None:
            self.report.files.added += 1
            self.arrived.append(read.digest)
        else:
            self.report.files.modified += 1
        self.changed.append(path)
        text = examine(path, read.data, self.space.settings.scan)
        record = FileRecord(read.stat, read.digest, racy=racy)
        if isinstance(text, Skipped):
            self._skip(record, text.reason, text.detail)
            return
        language = language_of(path, text.utf8[:_HEAD])
        yield from self._cut(replace(record, language=language, encoding=text.encoding), text.utf8)

    def _cut(self, record: FileRecord, text: bytes) -> Iterator[Task]:
        """Bind a content whose chunks are known, or have it cut; equal contents of one run are cut once."""
        block = self.writer.find_block(record.content_hash, record.language)
        if block is not None:
            self.writer.put_file(record, block)
            return
        key = (record.content_hash, record.language)
        same = self._same.get(key)
        if isinstance(same, Failure):
            self._skip(record, same.reason, same.detail)
        elif same is not None:
            same.records.append(record)
        else:
            self._same[key] = self._waiting[self._done] = Waiting([record], text)
            # Most chunks of a changed file are as they were: the parser is to spend nothing more on them.
            known = self.writer.snapshot.content_keys_of(record.stat.path).tobytes()
            yield Task(self._done, record.language, text, known)

    # --- from results to rows

    def _take(self, result: Cuts | Failed) -> None:
        if isinstance(result, Failed):
            self._fail(self._waiting.pop(result.tag), result)
            return
        waiting = [self._waiting.pop(tag) for tag in result.tags]
        self._batch.add(waiting, result)
        for one in waiting:
            one.text = b""  # all texts of a tree are more than memory should hold
        if len(self._batch) >= self.space.settings.embed.batch:
            self._flush()

    def _fail(self, waiting: Waiting, why: Failed) -> None:
        first = waiting.records[0]
        self._same[first.content_hash, first.language] = Failure(why.reason, why.detail)
        for record in waiting.records:
            self._skip(record, why.reason, why.detail)

    def _flush(self) -> None:
        """Give the batch its vectors, and bind the files it was gathered from."""
        self.report.embedded += self._batch.flush()

    def _checkpoint(self) -> None:
        if time.monotonic() - self._saved_at < _CHECKPOINT_SECONDS:
            return
        self._flush()
        self.writer.commit(complete=False)
        self._saved_at = time.monotonic()
