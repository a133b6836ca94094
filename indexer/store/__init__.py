"""The index on disk: one writer makes generations, any number of readers hold snapshots of them (`format`)."""

from indexer.store.commit import Writer
from indexer.store.inspection import inspect, make_private
from indexer.store.lock import RootLock
from indexer.store.manifest import Identity
from indexer.store.opening import open_snapshot, verify
from indexer.store.snapshot import Files, Rows, Snapshot
from indexer.store.stack import Held

__all__ = [
    "Files",
    "Held",
    "Identity",
    "RootLock",
    "Rows",
    "Snapshot",
    "Writer",
    "inspect",
    "make_private",
    "open_snapshot",
    "verify",
]
