"""The index on disk: one writer makes generations, any number of readers hold snapshots of them (`format`)."""

from indexer.lazily import from_rooms
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.store.commit import Writer
    from indexer.store.inspection import inspect, make_private
    from indexer.store.live import Files, Rows
    from indexer.store.lock import RootLock
    from indexer.store.manifest import Identity
    from indexer.store.opening import open_snapshot, verify
    from indexer.store.snapshot import Snapshot
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

__getattr__ = from_rooms(
    __name__,
    {
        "Files": "live",
        "Held": "stack",
        "Identity": "manifest",
        "RootLock": "lock",
        "Rows": "live",
        "Snapshot": "snapshot",
        "Writer": "commit",
        "inspect": "inspection",
        "make_private": "inspection",
        "open_snapshot": "opening",
        "verify": "opening",
    },
)
