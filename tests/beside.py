"""An index made from nothing, beside the one that is tested and whoever is at work on that."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from indexer.check import differences
from indexer.reindex import reindex
from indexer.store import Snapshot, commit, open_snapshot
from indexer.workspace import Workspace

_MEMORY = Path("/dev/shm")


@contextmanager
def replaced(owner: object, name: str, value: object) -> Iterator[None]:
    """Give an attribute another value for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class _HeldAlready:
    """The lock of a root whose writer is somebody else; what is written here is written elsewhere."""

    def check(self) -> None: ...
    def close(self) -> None: ...


@contextmanager
def new_index(space: Workspace) -> Iterator[Snapshot]:
    """Make an index of the same tree from nothing, also while another writer has the root, and keep it for a while."""
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        with replaced(commit, "RootLock", lambda _: _HeldAlready()):
            new = reindex(space._replace(index_dir=Path(folder) / "index")).snapshot
        yield new


def unlike_a_new_one(space: Workspace, mine: Snapshot | None = None) -> list[str]:
    """How ``mine``, or else the index as it lies there, brought up to date by nobody, differs from one made from nothing."""
    with new_index(space) as new:
        return differences(mine or open_snapshot(space.index_dir), new)
