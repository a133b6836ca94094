"""Reindex: the stages in their order, from the files on disk to a new generation."""

from indexer.lazily import from_rooms
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from indexer.reindex.identity import identity_of
    from indexer.reindex.live import Indexer, Outcome, reindex, scan_of, suspects_of
    from indexer.reindex.progress import Progress, silent

__all__ = [
    "Indexer",
    "Outcome",
    "Progress",
    "identity_of",
    "reindex",
    "scan_of",
    "silent",
    "suspects_of",
]

__getattr__ = from_rooms(
    __name__,
    {
        "Indexer": "live",
        "Outcome": "live",
        "Progress": "progress",
        "identity_of": "identity",
        "reindex": "live",
        "scan_of": "live",
        "silent": "progress",
        "suspects_of": "live",
    },
)
