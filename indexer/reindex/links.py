"""Hard links: what is done to a file by one of its names is done to all of them, and an event tells of one alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.store.format import File, Stat

if TYPE_CHECKING:
    from indexer.scan import diff
    from indexer.store import Snapshot


def other_names(snapshot: Snapshot, suspects: diff.Suspects) -> set[str]:
    """Return the known paths of the files that the suspects are or were, their own among them."""
    inodes = {stat.inode for stat in (*suspects.new, *suspects.moved)}
    known = map(snapshot.record, (*suspects.gone, *(stat.path for stat in suspects.moved)))
    inodes.update(record.stat.inode for record in known if record is not None)
    return _named(snapshot, inodes) if inodes and snapshot.stack.total.files else set()


def _named(snapshot: Snapshot, inodes: set[int]) -> set[str]:
    """Live files that had one of these inodes when they were last looked at."""
    column = snapshot.stack.column("file_stats", Stat.INODE)
    rows = np.flatnonzero(np.isin(column, np.fromiter(inodes, np.uint64)))
    paths = {snapshot.string(name) for name in snapshot.stack.column("files", File.PATH)[rows].tolist()}
    records = filter(None, map(snapshot.record, paths))
    return {record.stat.path for record in records if record.stat.inode in inodes}
