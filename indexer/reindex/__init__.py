"""Reindex: the stages in their order, from the files on disk to a new generation."""

from indexer.reindex.run import Outcome, Progress, identity_of, reindex, scan_of, silent, suspects_of

__all__ = ["Outcome", "Progress", "identity_of", "reindex", "scan_of", "silent", "suspects_of"]
