"""What is indexed, what was skipped and why, and how far the index is behind the disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexer.reindex import identity_of, scan_of, suspects_of
from indexer.store import open_snapshot
from indexer.types import Reason, Skipped

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store import Snapshot
    from indexer.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one root's index. ``bytes`` is its size on disk; ``pending`` counts files that differ by stat.

    ``fallbacks`` are indexed files whose own parser gave up, ``encodings`` counts the files that are not plain
    UTF-8, ``unknown`` are folders that could not be read.
    """

    root: str
    index: str
    epoch: str
    generation: int
    complete: bool
    embedder: str
    files: int
    chunks: int
    bytes: int
    languages: dict[str, int]
    encodings: dict[str, int]
    pending: dict[str, int]
    skipped: tuple[Skipped, ...]
    fallbacks: tuple[Skipped, ...]
    unknown: tuple[str, ...]
    notes: tuple[str, ...]


def status_of(space: Workspace) -> Status:
    """Look at the index and at the disk. Raises `NotIndexedError` or `StoreError`."""
    snapshot = open_snapshot(space.index_dir, identity_of(space))
    scan = scan_of(space)
    suspects = suspects_of(snapshot, scan)
    records = [record for path in snapshot.paths if (record := snapshot.record(path)) is not None]
    indexed = [record for record in records if not record.reason]
    by_content = [
        Skipped(record.stat.path, record.reason, record.detail)
        for record in records
        if record.reason not in {"", Reason.MOUNT}
    ]
    return Status(
        root=str(space.root),
        index=str(space.index_dir),
        epoch=snapshot.epoch,
        generation=snapshot.generation,
        complete=snapshot.complete,
        embedder=snapshot.identity.embedder,
        files=len(indexed),
        chunks=len(snapshot.rows.content),
        bytes=_size(space.index_dir),
        languages=dict(Counter(record.language for record in indexed).most_common()),
        encodings=dict(Counter(r.encoding for r in indexed if r.encoding != "utf-8").most_common()),
        pending={"new": len(suspects.new), "changed": len(suspects.moved), "gone": len(suspects.gone)},
        skipped=tuple(sorted([*scan.skipped, *by_content])),
        fallbacks=_fallbacks(snapshot),
        unknown=tuple(scan.unknown),
        notes=tuple(scan.notes),
    )


def _fallbacks(snapshot: Snapshot) -> tuple[Skipped, ...]:
    found = ((path, snapshot.fallback(at)) for at, path in enumerate(snapshot.paths))
    return tuple(Skipped(path, "fallback", why) for path, why in found if why)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
