"""Opening an index: for a reader as it stands, for the writer verified, with what is damaged set aside."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import xxhash

from indexer.errors import NotIndexedError, StoreError
from indexer.store import publish
from indexer.store.disk import DISK, VanishedError
from indexer.store.format import MANIFEST, NEXT, PREVIOUS, Counts
from indexer.store.manifest import FormatError, Identity, Manifest, decode
from indexer.store.segment import Segment, open_segment
from indexer.store.snapshot import Snapshot
from indexer.store.stack import Stack

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Disk

# A reader looks again when a merge removed a segment between its look at the manifest and its open.
ATTEMPTS = 5
REBUILD = "`indexer reindex` rebuilds it"


def open_snapshot(
    index_dir: Path, expected: Identity | None = None, previous: Snapshot | None = None, disk: Disk = DISK
) -> Snapshot:
    """Open the current generation for reading, without a lock.

    ``previous`` lends what it shares with the new generation. NotIndexedError when there is no index;
    StoreError when it is damaged or, with ``expected``, made by something else.
    """
    for attempt in range(ATTEMPTS):
        manifest, epoch = _readable(disk, index_dir)
        if expected is not None and (difference := manifest.identity.difference(expected)):
            raise StoreError(f"{index_dir}: made by something else: {difference}; {REBUILD}")
        try:
            stack = _stack(
                disk, index_dir, manifest, {} if previous is None else _open_already(previous.stack)
            )
        except VanishedError as error:
            if attempt == ATTEMPTS - 1:
                raise StoreError(f"{error}; {REBUILD}") from error
            time.sleep(0.002 * attempt)
        except StoreError as error:
            raise StoreError(f"{error}; {REBUILD}") from error
        else:
            return Snapshot(
                stack,
                epoch=epoch,
                generation=manifest.generation,
                complete=manifest.complete,
                identity=manifest.identity,
                before=previous,
            )
    raise AssertionError


def _readable(disk: Disk, index_dir: Path) -> tuple[Manifest, str]:
    """Give the manifest to read, and its epoch: another one when only the previous manifest can be read."""
    try:
        manifest = decode(disk.read(index_dir / MANIFEST), str(index_dir / MANIFEST))
    except FormatError:
        raise
    except StoreError as error:
        previous = _load(disk, index_dir / PREVIOUS)
        if isinstance(previous, Manifest):
            return previous, xxhash.xxh3_64_hexdigest(f"{previous.epoch}/{previous.generation}".encode())
        if isinstance(error, VanishedError):
            raise NotIndexedError(
                f"{index_dir}: there is no index yet; `indexer reindex` makes one"
            ) from error
        raise StoreError(f"{error}; {REBUILD}") from error
    return manifest, manifest.epoch


def _load(disk: Disk, path: Path) -> Manifest | str | None:
    """Read a manifest; a string says what is wrong with it, None that it is not there."""
    try:
        return decode(disk.read(path), path.name)
    except VanishedError:
        return None
    except StoreError as error:
        return str(error)


def _open_already(stack: Stack) -> dict[str, Segment]:
    return {segment.entry.name: segment for segment in stack.segments}


def _stack(disk: Disk, index_dir: Path, manifest: Manifest, known: dict[str, Segment]) -> Stack:
    segments: list[Segment] = []
    base = Counts()
    for entry in manifest.segments:
        old = known.get(entry.name)
        if old is not None and old.entry == entry and old.base == base:
            segments.append(old)
        else:
            segments.append(open_segment(disk, index_dir, entry, base, manifest.identity.dim, verify=False))
        base = base.plus(entry.counts)
    return Stack(tuple(segments))


def verify(index_dir: Path, disk: Disk = DISK) -> list[str]:
    """Verify every checksum and every row of the current generation; gives one line for each thing that is wrong."""
    manifest = _load(disk, index_dir / MANIFEST)
    if not isinstance(manifest, Manifest):
        return [manifest or f"{MANIFEST}: missing"]
    problems = []
    base = Counts()
    for entry in manifest.segments:
        try:
            open_segment(disk, index_dir, entry, base, manifest.identity.dim, verify=True)
        except StoreError as error:
            problems.append(str(error))
        base = base.plus(entry.counts)
    return problems


# --- for the writer


def new_epoch() -> str:
    """Name a new line of generations."""
    return os.urandom(8).hex()


@dataclass(slots=True)
class State:
    """Where a writer starts from, and later where it stands.

    ``home`` is the name of the manifest that describes ``stack`` (empty: none does). ``manifests`` are those that
    stand on disk and can be read, ``seen`` their bytes. ``fresh`` says why nothing of an older generation is used;
    ``notes`` what was found damaged; ``repair`` that the disk must be brought in line even if nothing is added.
    """

    stack: Stack
    epoch: str
    generation: int
    manifests: dict[str, Manifest]
    seen: dict[str, bytes]
    complete: bool = False
    unbound: int = 0
    home: str = ""
    fresh: str = ""
    notes: tuple[str, ...] = ()
    repair: bool = False


def open_state(disk: Disk, index_dir: Path, identity: Identity, *, fresh: bool) -> State:
    """Read and verify what is there, set aside what is damaged, and choose what the writer starts from."""
    notes: list[str] = []
    state = _manifests(disk, index_dir, notes)
    state.fresh = _why_fresh(state, identity, notes, fresh=fresh)
    answers = bool(state.manifests.keys() & {MANIFEST, PREVIOUS})
    damaged: list[str] = []
    opened: dict[str, tuple[Segment, ...]] = {}
    for name in [NEXT] if state.fresh or not answers else [MANIFEST, PREVIOUS]:
        manifest = state.manifests.get(name)
        if manifest is not None and manifest.identity == identity:
            opened[name] = _verified(disk, index_dir, manifest, damaged, notes)
            if _is_whole(manifest, opened[name]):
                break
    if opened:
        # The first that is whole; else the one of which most can be kept, which is an earlier generation.
        home = max(
            opened, key=lambda name: (_is_whole(state.manifests[name], opened[name]), _reach(opened[name]))
        )
        _start_from(state, home, opened[home])
    for name in damaged:
        publish.put_aside(disk, index_dir, name)
    for name in (MANIFEST, PREVIOUS, NEXT):
        if disk.is_directory(index_dir / name):  # no manifest could take its place
            publish.put_aside(disk, index_dir, name)
    state.notes = tuple(notes)
    return state


def _manifests(disk: Disk, index_dir: Path, notes: list[str]) -> State:
    manifests, seen = read_manifests(disk, index_dir, notes)
    generation = max((one.generation for one in manifests.values()), default=0)
    return State(Stack(), new_epoch(), generation, manifests, seen)


def read_manifests(
    disk: Disk, index_dir: Path, notes: list[str]
) -> tuple[dict[str, Manifest], dict[str, bytes]]:
    """Give the manifests that stand on disk and can be read, and their bytes; ``notes`` gets what is wrong."""
    manifests: dict[str, Manifest] = {}
    seen: dict[str, bytes] = {}
    for name in (MANIFEST, PREVIOUS, NEXT):
        try:
            data = disk.read(index_dir / name)
            manifests[name], seen[name] = decode(data, str(index_dir / name)), data
        except VanishedError:
            continue
        except StoreError as error:
            notes.append(str(error))
    return manifests, seen


def _why_fresh(state: State, identity: Identity, notes: list[str], *, fresh: bool) -> str:
    answering = state.manifests.get(MANIFEST) or state.manifests.get(PREVIOUS)
    if answering is None:
        return notes[0] if notes else ""
    return "asked for" if fresh else answering.identity.difference(identity)


def _verified(
    disk: Disk, index_dir: Path, manifest: Manifest, damaged: list[str], notes: list[str]
) -> tuple[Segment, ...]:
    """Segments up to the first damaged one: newer ones may refer to it, so that they cannot be used without it."""
    segments: list[Segment] = []
    base = Counts()
    for entry in manifest.segments:
        try:
            segment = open_segment(disk, index_dir, entry, base, manifest.identity.dim, verify=True)
        except StoreError as error:
            if entry.name not in damaged:
                damaged.append(entry.name)
                notes.append(str(error))
            break
        segments.append(segment)
        base = base.plus(entry.counts)
    return tuple(segments)


def _is_whole(manifest: Manifest, segments: tuple[Segment, ...]) -> bool:
    return len(segments) == len(manifest.segments)


def _reach(segments: tuple[Segment, ...]) -> int:
    return segments[-1].entry.last if segments else 0


def _start_from(state: State, home: str, segments: tuple[Segment, ...]) -> None:
    manifest = state.manifests[home]
    whole = _is_whole(manifest, segments)
    state.stack, state.home = Stack(segments), home
    state.complete = whole and manifest.complete
    state.unbound = min(manifest.unbound, state.stack.total.bindings)
    state.repair = not whole or home == PREVIOUS
    if not state.repair:
        state.epoch = manifest.epoch
