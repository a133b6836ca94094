"""Reindex: the stages in their order, from the files on disk to a new generation."""

from indexer.reindex.run import Progress, identity_of, reindex, scan_of, silent

__all__ = ["Progress", "identity_of", "reindex", "scan_of", "silent"]
