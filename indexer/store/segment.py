"""Writing and opening one segment: a small one is a single checksummed file, a large one a directory of ``.npy``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import xxhash

from indexer.errors import StoreError
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
    dtype_of,
    is_folder,
)
from indexer.store.tables import Array, Tables, check, check_postings

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Buffer, Disk
    from indexer.store.manifest import SegmentEntry


# Room kept in a table of arrays for `"at":<digits>,` of one array.
AT_DIGITS = 20


class ArrayEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One array: its shape; where its ``.npy`` starts in the file, or the checksum of its own file."""

    shape: tuple[int, ...]
    at: int = 0
    checksum: str = ""


class Contents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table of arrays of one segment."""

    format: int
    arrays: dict[str, ArrayEntry]


@dataclass(frozen=True, slots=True)
class Segment:
    """An open segment: its tables, and the first id of each kind that is its own."""

    entry: SegmentEntry
    tables: Tables
    base: Counts


class Written(msgspec.Struct, frozen=True):
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
    entries = {name: ArrayEntry(array.shape) for name, array in arrays.items()}
    at = first = _aligned(HEADER + len(_table(entries)) + AT_DIGITS * len(entries))
    for name, (head, data) in pieces.items():
        entries[name] = ArrayEntry(arrays[name].shape, at)
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
        entries[name] = ArrayEntry(array.shape, checksum=_digest(parts))
    table = _table(entries)
    disk.write(path / TABLE_OF_ARRAYS, [table])
    for name in entries:
        disk.sync(path / (name + ARRAY_SUFFIX))
    disk.sync(path / TABLE_OF_ARRAYS)
    disk.sync_directory(path)
    size = len(table) + sum(array.nbytes for array in tables.arrays().values())
    return Written(size, xxhash.xxh3_128_hexdigest(table))


def _table(entries: dict[str, ArrayEntry]) -> bytes:
    return msgspec.json.encode(Contents(FORMAT, entries))


def _digest(parts: list[Buffer]) -> str:
    digest = xxhash.xxh3_128()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _npy(array: Array) -> tuple[bytes, memoryview]:
    raw = np.ascontiguousarray(array)
    return npy_header(raw.dtype.str, raw.shape), raw.reshape(-1).view(np.uint8).data


@lru_cache(maxsize=512)
def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Head of a version 1.0 ``.npy`` file, as numpy writes it; numpy's own way takes twenty times as long."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % ALIGN) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


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
    if is_folder(entry.name):
        arrays = _open_folder(disk, path, entry, verify=verify)
    else:
        arrays = _open_file(disk, path, entry)
    if missing := ARRAYS.keys() - arrays.keys():
        raise StoreError(f"{path}: {min(missing)}: missing")
    tables = Tables(**arrays)
    check(tables, dim, base, str(path))
    if verify:
        check_postings(tables, str(path))
    if tables.counts != entry.counts:
        raise StoreError(f"{path}: has {tables.counts}, the manifest says {entry.counts}")
    return Segment(entry, tables, base)


def _open_file(disk: Disk, path: Path, entry: SegmentEntry) -> dict[str, Array]:
    data = disk.open(path)
    if len(data) != entry.size or len(data) < HEADER:
        raise StoreError(f"{path}: {len(data)} bytes, the manifest says {entry.size}")
    if data[: len(MAGIC)] != MAGIC:
        raise StoreError(f"{path}: not a segment file")
    digest = xxhash.xxh3_128(data[BODY:])
    if digest.digest() != data[len(MAGIC) : BODY] or digest.hexdigest() != entry.checksum:
        raise StoreError(f"{path}: checksum: the file is damaged")
    end = HEADER + int.from_bytes(data[BODY:HEADER], "little")
    contents = _contents(bytes(data[HEADER:end]), path)
    return {name: _array(name, one, data[one.at :], path) for name, one in contents.arrays.items()}


def _open_folder(disk: Disk, path: Path, entry: SegmentEntry, *, verify: bool) -> dict[str, Array]:
    table = disk.read(path / TABLE_OF_ARRAYS)
    if xxhash.xxh3_128_hexdigest(table) != entry.checksum:
        raise StoreError(f"{path / TABLE_OF_ARRAYS}: checksum: the file is damaged")
    arrays = {}
    for name, one in _contents(table, path).arrays.items():
        file = path / (name + ARRAY_SUFFIX)
        data = disk.open(file)
        arrays[name] = _array(name, one, data, file, whole=True)
        if verify and xxhash.xxh3_128_hexdigest(data) != one.checksum:
            raise StoreError(f"{file}: checksum: the file is damaged")
    return arrays


def _contents(table: bytes, path: Path) -> Contents:
    try:
        contents = msgspec.json.decode(table, type=Contents)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StoreError(f"{path}: table of arrays: {error}") from error
    if contents.format != FORMAT or contents.arrays.keys() - ARRAYS.keys():
        raise StoreError(f"{path}: table of arrays: not of format {FORMAT}")
    return contents


def _array(name: str, entry: ArrayEntry, data: memoryview, path: Path, *, whole: bool = False) -> Array:
    """View one ``.npy`` in place; its head must be the one this dtype and shape give, so nothing is parsed."""
    dtype = dtype_of(name)
    head = npy_header(dtype.str, entry.shape)
    if any(length < 0 for length in entry.shape):
        raise StoreError(f"{path}: {name}: shape {entry.shape}")
    count = 1
    for length in entry.shape:
        count *= length
    end = len(head) + count * dtype.itemsize
    if len(data) < end or (whole and len(data) != end) or data[: len(head)] != head:
        raise StoreError(f"{path}: {name}: not the array that the table of arrays describes")
    return np.frombuffer(data, dtype, count, len(head)).reshape(entry.shape)
