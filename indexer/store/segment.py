"""Writing and opening one segment: a small one is a single checksummed file, a large one a directory of ``.npy``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xxhash

from indexer.errors import StoreError
from indexer.store import packed, places
from indexer.store.format import (
    ALIGN,
    ARRAY_SUFFIX,
    ARRAYS,
    BODY,
    FORMAT,
    HEADER,
    MAGIC,
    TABLE_OF_ARRAYS,
    TEMPORARY,
    Counts,
    is_folder,
)
from indexer.store.pieces import ArrayEntry, Contents, Piece, encode, npy_header, pieces_of
from indexer.store.tables import Array, Tables, check

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Buffer, Disk
    from indexer.store.manifest import SegmentEntry
    from indexer.store.tables import U32


# Room kept in a table of arrays for `"at":<digits>,` of one array.
AT_DIGITS = 20


@dataclass(frozen=True)
class Segment:
    """An open segment: its tables, and the first id of each kind that is its own."""

    entry: SegmentEntry
    tables: Tables
    base: Counts

    @cached_property
    def key_places(self) -> U32:
        """Where the key of each of the segment's own contents (c,) stands among the sorted ones."""
        places = np.empty(self.tables.counts.contents, np.uint32)
        places[self.tables.content_rows] = np.arange(len(places), dtype=np.uint32)
        return places


class Written(NamedTuple):
    """What the manifest keeps of a segment that was written: bytes and checksum of its file or table of arrays."""

    size: int
    checksum: str


# --- writing


def write(disk: Disk, directory: Path, name: str, tables: Tables) -> Written:
    """Write a segment under its temporary name, make its bytes durable, then give it its name (not yet durable)."""
    temporary = directory / (TEMPORARY + name)
    writer = _write_folder if is_folder(name) else _write_file
    written = writer(disk, temporary, tables)
    disk.rename(temporary, directory / name)
    return written


def _write_file(disk: Disk, path: Path, tables: Tables) -> Written:
    body = _body(tables)
    digest = xxhash.xxh3_128(body)
    disk.write(path, [MAGIC, digest.digest(), body])
    disk.sync(path)
    return Written(BODY + len(body), digest.hexdigest())


def _body(tables: Tables) -> bytes:
    """Everything under the checksum: length of the table of arrays, the table, each array at a multiple of 64."""
    arrays = tables.arrays()
    pieces = {name: _npy(array) for name, array in arrays.items()}
    entries = {name: ArrayEntry(array.shape, dtype=_narrower(name, array)) for name, array in arrays.items()}
    at = first = _aligned(HEADER + len(_table(entries)) + AT_DIGITS * len(entries))
    for name, (head, data) in pieces.items():
        entries[name] = ArrayEntry(arrays[name].shape, at, dtype=entries[name].dtype)
        at = _aligned(at + len(head) + len(data))
    room = first - HEADER
    parts: list[Buffer] = [room.to_bytes(HEADER - BODY, "little"), _table(entries).ljust(room)]
    for head, data in pieces.values():
        parts += [head, data, bytes(-(len(head) + len(data)) % ALIGN)]
    return b"".join(parts)


def _write_folder(disk: Disk, path: Path, tables: Tables) -> Written:
    disk.make_directory(path)
    entries = {}
    for name, array in tables.arrays().items():
        parts: list[Buffer] = list(_npy(array))
        disk.write(path / (name + ARRAY_SUFFIX), parts)
        entries[name] = ArrayEntry(array.shape, checksum=_digest(parts), dtype=_narrower(name, array))
    table = _table(entries)
    disk.write(path / TABLE_OF_ARRAYS, [table])
    for name in entries:
        disk.sync(path / (name + ARRAY_SUFFIX))
    disk.sync(path / TABLE_OF_ARRAYS)
    disk.sync_directory(path)
    size = len(table) + sum(array.nbytes for array in tables.arrays().values())
    return Written(size, xxhash.xxh3_128_hexdigest(table))


def _narrower(name: str, array: Array) -> Any:
    layout, dtype = ARRAYS[name], array.dtype.str
    return dtype if layout.narrow and dtype != layout.dtype else ""


def _table(entries: dict[str, ArrayEntry]) -> bytes:
    return encode(Contents(FORMAT, entries))


def _digest(parts: list[Buffer]) -> str:
    digest = xxhash.xxh3_128()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _npy(array: Array) -> tuple[bytes, memoryview]:
    raw = np.ascontiguousarray(array)
    return npy_header(raw.dtype.str, raw.shape), raw.reshape(-1).view(np.uint8).data


def _aligned(at: int) -> int:
    return -(-at // ALIGN) * ALIGN


# --- reading


def open_segment(
    disk: Disk, directory: Path, entry: SegmentEntry, base: Counts, dim: int, *, verify: bool
) -> Segment:
    """Open a segment and hold it against the format.

    A file's checksum is always verified, a folder's only when asked to (sizes always). VanishedError when a file is
    missing, StoreError when anything is not as the manifest says.
    """
    path = directory / entry.name
    pieces = pieces_of(disk, directory, entry)
    if verify:
        for piece in pieces.values():
            piece.verify()
    tables = Tables(**{name: _array(piece) for name, piece in pieces.items()})
    check(tables, dim, base, str(path))
    if verify:
        packed.check(tables, str(path))
        places.check(tables, str(path))
    if tables.counts != entry.counts:
        raise StoreError(f"{path}: has {tables.counts}, the manifest says {entry.counts}")
    return Segment(entry, tables, base)


def _array(piece: Piece) -> Array:
    dtype = np.dtype(piece.dtype)
    return np.frombuffer(piece.data, dtype, piece.length, piece.at).reshape(piece.shape)
