"""Where other file systems begin below the root, remembered so that one that is gone is not taken for deletions.

An unmounted file system leaves an empty directory behind: that is no evidence that its files were deleted (DESIGN,
invariant 5). The directories are kept among the files, with a reason of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.scan.diff import lost_mounts
from indexer.types import FileRecord, FileStat, Reason

if TYPE_CHECKING:
    from indexer.scan.seen import Scan
    from indexer.store import Snapshot, Writer


def known_mounts(snapshot: Snapshot) -> set[str]:
    """Return the directories that are remembered."""
    reason = snapshot.string_id(Reason.MOUNT)
    if reason is None:
        return set()
    return {snapshot.paths[at] for at in np.flatnonzero(snapshot.files.reason == reason).tolist()}


def remember(writer: Writer, known: set[str], scan: Scan) -> None:
    """Keep the directories of this scan. What is gone stays remembered, until the index is made anew."""
    for path in scan.mounts:
        if path not in known:
            writer.put_file(FileRecord(FileStat(path, 0, 0, 0, 0), reason=Reason.MOUNT), None)


def missing(known: set[str], scan: Scan) -> list[str]:
    """Return the directories that had a file system of their own and have none now."""
    return lost_mounts(known, scan.mounts)


def note(path: str) -> str:
    """Say what a missing file system means, in a line."""
    return (
        f"{path}: the file system that was mounted here is gone; what was indexed below is kept until it is back, "
        "or until `indexer reindex --full`"
    )
