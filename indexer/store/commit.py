"""The writer: gathers rows, and makes a generation of them in one atomic step (`publish` tells its order)."""

from __future__ import annotations

import contextlib
import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

from indexer.errors import StoreError
from indexer.store import publish, retention, tiers
from indexer.store.disk import DISK, VanishedError
from indexer.store.format import FORMAT, MANIFEST, NEXT, PREVIOUS, is_folder, segment_name
from indexer.store.lock import RootLock
from indexer.store.manifest import Identity, Manifest, SegmentEntry, encode
from indexer.store.merge import merge
from indexer.store.opening import new_epoch, open_state, read_manifests
from indexer.store.pending import Pending
from indexer.store.segment import Segment, open_segment, write
from indexer.store.snapshot import Snapshot
from indexer.store.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from indexer.columns import Columns
    from indexer.store.disk import Disk
    from indexer.store.tables import F32, U64, Bool, Tables
    from indexer.tokens import TermCounts
    from indexer.types import FileRecord

# From this size on a segment is a directory of .npy, each array mapped by itself; below it, one file is one fsync.
FOLD_BYTES = 4 * 1024 * 1024


class _Draft(NamedTuple):
    """A generation that is about to be written: the segments that stay, and the one that is new (unless empty)."""

    stay: tuple[Segment, ...]
    tables: Tables
    unbound: int


class Writer:
    """The one writer of a root; holds the root's lock until it is closed.

    ``fresh`` starts from empty tables (as does another ``identity``, by itself): the old generation answers until the
    first complete commit, and the checkpoints in between (``commit(complete=False)``) are kept aside from it; an
    unfinished fresh run of the same identity is continued. After a commit that failed, everything pending is still
    there and `commit` may be tried again. ``lock`` is the root's, if it is held already. BusyError when there is another writer, StoreError when the disk refuses.
    """

    def __init__(
        self,
        root: Path,
        index_dir: Path,
        identity: Identity,
        *,
        fresh: bool = False,
        keep_generations: int = retention.KEEP_GENERATIONS,
        disk: Disk = DISK,
        lock: RootLock | None = None,
    ) -> None:
        self._disk = disk
        self._directory = index_dir
        self._identity = identity
        self._keep = keep_generations
        self._lock = lock or RootLock(root)
        try:
            publish.prepare(disk, index_dir)
            self._state = open_state(disk, index_dir, identity, fresh=fresh)
            publish.sweep(disk, index_dir, self._named())
        except BaseException:
            self._lock.close()
            raise
        self._pending = Pending(self._state.stack, identity.dim)
        self._failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the lock back. What is pending is lost."""
        self._lock.close()

    # --- reading

    @property
    def fresh(self) -> str:
        """Why nothing of an older generation is used; empty when it is."""
        return self._state.fresh

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found damaged and is not used: one line each. What it held must be added again."""
        return self._state.notes

    @cached_property
    def snapshot(self) -> Snapshot:
        """What has been committed and this writer builds on (empty at a fresh start); without what is pending."""
        state = self._state
        return Snapshot(
            state.stack,
            epoch=state.epoch,
            generation=state.generation,
            complete=state.complete,
            identity=self._identity,
        )

    def find_block(self, content_hash: bytes, language: str) -> int | None:
        """Id of the block of a file content, valid until the next commit; None when it must be chunked."""
        return self._pending.find_block(content_hash, language)

    def missing(self, keys: U64) -> Bool:
        """Mask (n,) of the (n, 2) content keys that are neither in the store nor pending."""
        absent: Bool = self._pending.find_contents(keys) < 0
        return absent

    # --- writing

    def add_contents(self, keys: U64, terms: TermCounts, vectors: F32) -> None:
        """Add contents: keys (n, 2), terms of n texts, vectors float32 (n, dim). Known ones are left out."""
        self._pending.add_contents(keys, terms, vectors)

    def add_blocks(self, names: Sequence[tuple[bytes, str]], files: Columns, keys: U64) -> list[int]:
        """Add the chunks of file contents, named by hash and language, and give their blocks' ids.

        ``keys`` (m, 2) are those of the chunks' contents, which must have been added.
        """
        return self._pending.add_blocks(names, files, keys)

    def put_file(self, record: FileRecord, block: int | None) -> None:
        """Bind a path to a block (None: it is known, but has no chunks). The last word on a path counts."""
        self._pending.put_file(record, block)

    def remove_file(self, path: str) -> None:
        """Unbind a path; one that is not known is left alone."""
        self._pending.remove_file(path)

    def commit(self, *, complete: bool = True) -> int:
        """Make everything pending durable, as a new generation, and give its number.

        Nothing is written when there is nothing new and the last one is still there. ``complete=False`` marks a checkpoint of an unfinished run.
        """
        state = self._state
        new = self._pending or state.repair or not state.home or state.complete != complete
        if new or not self._is_intact():
            self._commit(complete=complete, whole=False)
        return self._state.generation

    def compact(self) -> int:
        """Merge everything into one segment; what is unbound for long is dropped."""
        self._commit(complete=self._state.complete, whole=True)
        return self._state.generation

    # --- the step itself

    def _commit(self, *, complete: bool, whole: bool) -> None:
        self._lock.check()
        if self._failed:
            publish.sweep(self._disk, self._directory, self._named() | self._standing())
        if not self._is_intact():
            self._start_over()
            whole = True
        target = NEXT if not complete and self._old_answers() else MANIFEST
        keep = target == MANIFEST and MANIFEST in self._state.manifests and not self._state.repair
        self._failed = True
        try:
            draft = self._draft(whole=whole)
            stack = self._written(draft)
            manifest = self._manifest(stack, draft.unbound, complete=complete)
            data = encode(manifest)
            publish.publish(self._disk, self._directory, target, data, keep=keep)
        except BaseException:
            self._undo(target)
            raise
        self._failed = False
        self._adopt(target, manifest, data, stack, keep=keep)

    def _draft(self, *, whole: bool) -> _Draft:
        """Choose what is merged, and merge it with what is pending."""
        segments = self._state.stack.segments
        generation = self._state.generation + 1
        new = self._pending.tables(generation)
        unbound = self._state.unbound + self._pending.unbinding()
        start = 0 if whole else self._first_to_merge(new, unbound)
        base = Stack(segments[:start]).total
        parts = (*self._state.stack.tables[start:], new)
        kept = retention.decide(parts, base, generation, self._keep)
        tables = merge(parts, base, kept)
        dropped = sum(part.counts.bindings for part in parts) - tables.counts.bindings
        return _Draft(segments[:start], tables, kept.idle if not start else max(0, unbound - dropped))

    def _first_to_merge(self, new: Tables, unbound: int) -> int:
        segments = self._state.stack.segments
        if not self._pending:
            return len(segments)
        bound = self._state.stack.total.bindings + new.counts.bindings - unbound
        # Twice what a full merge keeps of them at most, so that the next full merge is as far away as this one.
        if unbound > 2 * max(bound, retention.FLOOR):
            return 0
        return tiers.plan([segment.entry.size for segment in segments], new.size)

    def _written(self, draft: _Draft) -> Stack:
        """Write the new segment, durable but for its name."""
        if not any(draft.tables.counts):
            return Stack(draft.stay)
        generation = self._state.generation + 1
        merged = self._state.stack.segments[len(draft.stay) :]
        name = segment_name(generation, os.urandom(4).hex(), folder=draft.tables.size >= FOLD_BYTES)
        written = write(self._disk, self._directory, name, draft.tables)
        first = merged[0].entry.first if merged else generation
        entry = SegmentEntry(
            name, written.size, written.checksum, first, generation, **draft.tables.counts._asdict()
        )
        base = Stack(draft.stay).total
        if is_folder(name):  # mapped rather than held in memory
            segment = open_segment(self._disk, self._directory, entry, base, self._identity.dim, verify=False)
        else:
            segment = Segment(entry, draft.tables, base)
        return Stack((*draft.stay, segment))

    def _manifest(self, stack: Stack, unbound: int, *, complete: bool) -> Manifest:
        entries = tuple(segment.entry for segment in stack.segments)
        state = self._state
        return Manifest(
            FORMAT, "", state.epoch, state.generation + 1, complete, self._identity, unbound, entries
        )

    def _adopt(self, target: str, manifest: Manifest, data: bytes, stack: Stack, *, keep: bool) -> None:
        """Go on from what was just published, and remove what no manifest names any more."""
        state = self._state
        if keep:
            state.manifests[PREVIOUS] = state.manifests[MANIFEST]
        state.manifests[target], state.seen[target] = manifest, data
        state.stack, state.home, state.repair = stack, target, False
        state.generation, state.complete, state.unbound = (
            manifest.generation,
            manifest.complete,
            manifest.unbound,
        )
        self._pending = Pending(stack, self._identity.dim)
        self.__dict__.pop("snapshot", None)
        done = frozenset[str]()
        if target == MANIFEST:
            state.manifests.pop(NEXT, None)
            done = frozenset({NEXT})
        # The generation stands. What cannot be removed now is removed by a later sweep.
        with contextlib.suppress(StoreError):
            publish.sweep(self._disk, self._directory, self._named(), done, set_aside=manifest.complete)

    # --- when something is not as it was left

    def _undo(self, target: str) -> None:
        """Leave the old generation standing and free what the failed step took, as far as the disk lets us."""
        # A reader may have seen the generation whose rename is undone here: its number must not come again.
        self._state.epoch = new_epoch()
        with contextlib.suppress(StoreError):
            publish.roll_back(self._disk, self._directory, target, self._state.seen.get(target, b""))
            publish.sweep(self._disk, self._directory, self._named())

    def _is_intact(self) -> bool:
        """Whether the index is as this writer left it: ``git clean`` may have taken it."""
        state = self._state
        try:
            names = set(self._disk.names(self._directory))
            if not state.home:
                return True
            same = self._disk.read(self._directory / state.home) == state.seen[state.home]
        except VanishedError:
            return False
        return same and names.issuperset(segment.entry.name for segment in state.stack.segments)

    def _start_over(self) -> None:
        """Make the directory again; the tables are still in memory or mapped, and are all written anew."""
        publish.prepare(self._disk, self._directory)
        state = self._state
        # What stands there now, if anything, is not ours to remove before we have put a generation in its place.
        state.manifests, state.seen = read_manifests(self._disk, self._directory, [])
        state.epoch, state.home = new_epoch(), ""

    def _old_answers(self) -> bool:
        """Whether readers are served by a generation that this writer does not build on."""
        state = self._state
        return state.home in {"", NEXT} and bool(state.manifests.keys() & {MANIFEST, PREVIOUS})

    def _named(self) -> frozenset[str]:
        """Names of segments that must not be removed."""
        names = frozenset(segment.entry.name for segment in self._state.stack.segments)
        return names.union(*(manifest.names for manifest in self._state.manifests.values()))

    def _standing(self) -> frozenset[str]:
        """Names of segments that the manifests on disk name: one that failed after its rename may stand there still."""
        manifests, _ = read_manifests(self._disk, self._directory, [])
        return frozenset[str]().union(*(manifest.names for manifest in manifests.values()))
