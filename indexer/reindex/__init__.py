"""Reindex: the stages in their order, from the files on disk to a new generation."""

from indexer.reindex.live import Indexer, Outcome, identity_of, reindex, scan_of, suspects_of
from indexer.reindex.run import Progress, silent

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
