"""The chunks of file contents that a writer has gathered, as arrays with the store's ids in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.columns import NO_PARENT, Row
from indexer.store.tables import offsets_of, take_ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.columns import Columns
    from indexer.store.tables import I64, U32


class Blocks(NamedTuple):
    """Blocks as in `Columns`, but that ``bindings`` (m, 1 + `Row.WIDTH`) begin with their contents' ids."""

    sizes: U32
    fallbacks: U32
    import_sizes: U32
    imports: U32
    bindings: U32
    span_sizes: U32
    spans: U32
    base_sizes: U32
    bases: U32

    @staticmethod
    def of(files: Columns, contents: I64) -> Blocks:
        """Put the contents' ids to the chunks; the strings are still places in ``files.strings``."""
        bindings = np.column_stack((contents.astype(np.uint32), files.chunks))
        return Blocks(*files[:-1])._replace(bindings=bindings)

    @staticmethod
    def none() -> Blocks:
        """No blocks."""
        empty = np.zeros(0, np.uint32)
        return Blocks(*(empty,) * len(Blocks._fields))._replace(
            bindings=empty.reshape(0, 1 + Row.WIDTH), spans=empty.reshape(0, 4)
        )

    @staticmethod
    def joined(parts: Sequence[Blocks]) -> Blocks:
        """Blocks one after the other."""
        return Blocks(*map(np.concatenate, zip(Blocks.none(), *parts, strict=True)))

    def some(self, chosen: list[int]) -> Blocks:
        """Some of the blocks."""
        if len(chosen) == len(self.sizes):
            return self
        rows = _taken(self.sizes, np.array(chosen))
        return Blocks(
            self.sizes[chosen],
            self.fallbacks[chosen],
            self.import_sizes[chosen],
            self.imports[_taken(self.import_sizes, np.array(chosen))],
            self.bindings[rows],
            self.span_sizes[rows],
            self.spans[_taken(self.span_sizes, rows)],
            self.base_sizes[rows],
            self.bases[_taken(self.base_sizes, rows)],
        )


def _taken(sizes: U32, chosen: I64) -> I64:
    """Where the values of the chosen stand, in an array that ``sizes`` cut."""
    return take_ragged(offsets_of(sizes), chosen)[1]


def check_order(files: Columns) -> None:
    """Raise ValueError unless the chunks of each file are in the order of their first byte, and their parents there."""
    if not files.span_sizes.all():
        raise ValueError("a chunk has no bytes")
    starts = files.spans[offsets_of(files.span_sizes)[:-1], 0]
    file = np.repeat(np.arange(len(files.sizes)), files.sizes)
    if bool(((starts[1:] < starts[:-1]) & (file[1:] == file[:-1])).any()):
        raise ValueError("the chunks are not in the order of their first byte")
    parents = files.chunks[:, Row.PARENT]
    if bool(((parents >= files.sizes[file]) & (parents != NO_PARENT)).any()):
        raise ValueError("a chunk's parent is not among the file's chunks")
