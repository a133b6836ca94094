"""What a run comes to, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer.types import Reason, Report

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.scan.diff import Suspects
    from indexer.scan.seen import Scan
    from indexer.store import Snapshot


def live_keys(snapshot: Snapshot) -> NDArray[np.void]:
    """Return the content keys that are bound, each once, as 16-byte values."""
    keys = np.ascontiguousarray(snapshot.content_keys[snapshot.live])
    return keys.view("V16").reshape(-1)


def skipped_count(snapshot: Snapshot) -> int:
    """Return how many files are known by name only, for a reason found in their content."""
    words = [snapshot.string_id(reason) for reason in ("", Reason.MOUNT)]
    known = np.array([word for word in words if word is not None], np.uint32)
    return int(np.count_nonzero(~np.isin(snapshot.files.reason, known)))


def count_moves(report: Report, before: Snapshot, suspects: Suspects, arrived: list[bytes]) -> None:
    """Pair what went with what came by content hash (``arrived``, of new paths): such a pair is a rename."""
    files, left = report.files, list(arrived)
    for path in suspects.gone:
        record = before.record(path)
        if record is not None and record.content_hash in left:
            left.remove(record.content_hash)
            files.renamed += 1
    files.added -= files.renamed
    files.removed = len(suspects.gone) - files.renamed


def count_scan(report: Report, scan: Scan, suspects: Suspects, after: Snapshot) -> None:
    """Count the files of a whole scan."""
    report.files.scanned = len(scan.files)
    report.files.unchanged += suspects.unchanged
    report.files.skipped = len(scan.skipped) + skipped_count(after)


def count_chunks(report: Report, changed: list[str], live_before: NDArray[np.void], after: Snapshot) -> None:
    """Count contents that are bound now and were not, and the other way round; ``changed`` are the paths cut anew."""
    chunks = report.chunks
    places = [place for path in changed if (place := after.file_of(path)) is not None]
    rows = sum(int(after.files.first_row[place + 1] - after.files.first_row[place]) for place in places)
    chunks.reused = rows - report.embedded
    live_after = live_keys(after)
    chunks.added = len(np.setdiff1d(live_after, live_before, assume_unique=True))
    chunks.unbound = len(np.setdiff1d(live_before, live_after, assume_unique=True))
