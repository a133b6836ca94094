"""Edges between files, and what flows along them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from indexer.ragged import firsts

if TYPE_CHECKING:
    from indexer.search.columns import F64, I64


class FileGraph:
    """Edges from files to those that they depend on, by their places in `Snapshot.files`.

    ``importer`` and ``imported`` (e,) ascend by importer, then imported; no edge stands twice, none leads to itself.
    """

    def __init__(self, edges: I64, files: int) -> None:
        """Take edges (e,) as importer * files + imported: ascending, each once."""
        self.files = files
        self.edges = edges
        self.importer: I64
        self.imported: I64
        self.importer, self.imported = np.divmod(edges, max(files, 1))

    @cached_property
    def in_degree(self) -> I64:
        """How many files depend on each file (f,)."""
        return np.bincount(self.imported, minlength=self.files)

    @cached_property
    def out_degree(self) -> I64:
        """How many files each file (f,) depends on."""
        return np.bincount(self.importer, minlength=self.files)

    def from_importers(self, values: F64) -> F64:
        """Sum up, for each file, the values (f,) of the files that depend on it."""
        return np.bincount(self.imported, values[self.importer], self.files).astype(np.float64)

    def from_imported(self, values: F64) -> F64:
        """Sum up, for each file, the values (f,) of the files that it depends on."""
        return np.bincount(self.importer, values[self.imported], self.files).astype(np.float64)

    def joined(self, other: FileGraph) -> FileGraph:
        """The edges of both; they are of the same files."""
        return FileGraph(unique(np.append(self.edges, other.edges)), self.files)


def unique(numbers: I64) -> I64:
    """Sort, and keep each once; `np.unique` hashes first, and then sorts all the same."""
    numbers = np.sort(numbers)
    return numbers[firsts(numbers)]
