"""What a walk has seen."""

from __future__ import annotations

import os

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.files import FileStat, Skipped


class Scan:
    """What one walk saw, each list in the order of the paths' bytes.

    ``unknown`` holds directories (rarely files) that could not be read: what was known at or below them is not gone.
    ``mounts`` holds the directories in which another file system begins. ``notes`` are lines for the user. ``same``:
    every known file is as it was known and there is no other; then ``files`` is empty, since nobody needs it.
    """

    def __init__(self) -> None:
        self.files: list[FileStat] = []
        self.skipped: list[Skipped] = []
        self.unknown: list[str] = []
        self.mounts: list[str] = []
        self.notes: list[str] = []
        self.same = False

    def put_in_order(self, unknown: set[bytes], *, files: bool) -> None:
        """Sort what was noted, ``files`` too if they are not yet; take in what could not be read, the outermost of it."""
        if files:
            self.files.sort(key=_by_bytes)
        self.skipped.sort(key=_by_bytes)
        self.unknown = [os.fsdecode(path) for path in _outermost(unknown)]
        self.mounts.sort(key=os.fsencode)


def _outermost(paths: set[bytes]) -> list[bytes]:
    """Return the paths that lie below none of the others, without trailing slashes, sorted."""
    names = {path.rstrip(b"/") for path in paths}
    kept: list[bytes] = []
    for name in sorted(names, key=lambda name: name + b"/"):
        if not kept or (kept[-1] and not name.startswith(kept[-1] + b"/")):
            kept.append(name)
    return sorted(kept)


def _by_bytes(item: FileStat | Skipped) -> bytes:
    return os.fsencode(item.path)
