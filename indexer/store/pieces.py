"""The arrays of a segment as they stand on disk: found, held against the table of arrays, and not loaded yet.

No numpy here: a run that finds nothing changed reads what it needs as it is (`known`), and numpy takes longer to load.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

import xxhash

from indexer.errors import StoreError
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.store.format import (
    ALIGN,
    ARRAY_SUFFIX,
    ARRAYS,
    BODY,
    FORMAT,
    HEADER,
    MAGIC,
    NARROW,
    TABLE_OF_ARRAYS,
    is_folder,
)
from indexer.store.typed import (
    WrongError,
    matching,
    named,
    natural,
    parse,
    record,
    several,
    text,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Disk
    from indexer.store.manifest import SegmentEntry


class ArrayEntry(NamedTuple):
    """One array: its shape; where its ``.npy`` starts in the file, or the checksum of its own file; a narrower dtype."""

    shape: tuple[int, ...]
    at: int = 0
    checksum: str = ""
    dtype: str = ""


class Contents(NamedTuple):
    """The table of arrays of one segment."""

    format: int
    arrays: dict[str, ArrayEntry]


_array = record(
    ArrayEntry,
    shape=several(natural),
    at=natural,
    checksum=text,
    dtype=matching("|".join(map(re.escape, ("", *NARROW)))),
)
_contents = record(Contents, format=whole, arrays=named(_array))


def encode(contents: Contents) -> bytes:
    """Give the table's bytes; what is as it is when nothing is said is left out.

    By hand: each save writes thirty entries, twice, and there is nothing in them that JSON would have to escape.
    """
    arrays = ",".join([f'"{name}":{{{_said(*entry)}}}' for name, entry in contents.arrays.items()])
    return f'{{"format":{contents.format},"arrays":{{{arrays}}}}}'.encode()


def _said(shape: tuple[int, ...], at: int, checksum: str, dtype: str) -> str:
    said = f'"shape":[{",".join(map(str, shape))}]'
    if at:
        said += f',"at":{at}'
    if checksum:
        said += f',"checksum":"{checksum}"'
    return f'{said},"dtype":"{dtype}"' if dtype else said


def decode(table: bytes, where: str) -> Contents:
    """Read the table's bytes. StoreError when they are not one of this format."""
    try:
        contents = _contents(parse(table))
    except WrongError as error:
        raise StoreError(f"{where}: table of arrays: {error}") from error
    if contents.format != FORMAT or contents.arrays.keys() - ARRAYS.keys():
        raise StoreError(f"{where}: table of arrays: not of format {FORMAT}")
    return contents


class Piece(NamedTuple):
    """One ``.npy``: its bytes, where its values begin, their shape, number and dtype; ``checksum`` of its own file."""

    path: str
    data: memoryview
    at: int
    shape: tuple[int, ...]
    length: int
    dtype: str
    checksum: str

    def verify(self) -> None:
        """Hold the bytes against the checksum, if they have one of their own. StoreError when they are not it."""
        if self.checksum and xxhash.xxh3_128_hexdigest(self.data) != self.checksum:
            raise StoreError(f"{self.path}: checksum: the file is damaged")


def pieces_of(disk: Disk, directory: Path, entry: SegmentEntry) -> dict[str, Piece]:
    """Find the arrays of a segment. The checksum of a small one is verified, and that of a table of arrays.

    VanishedError when a file is missing, StoreError when anything is not as the manifest says.
    """
    path = directory / entry.name
    pieces = _in_folder(disk, path, entry) if is_folder(entry.name) else _in_file(disk, path, entry)
    if missing := ARRAYS.keys() - pieces.keys():
        raise StoreError(f"{path}: {min(missing)}: missing")
    return pieces


def _in_file(disk: Disk, path: Path, entry: SegmentEntry) -> dict[str, Piece]:
    data = disk.open(path)
    if len(data) != entry.size or len(data) < HEADER:
        raise StoreError(f"{path}: {len(data)} bytes, the manifest says {entry.size}")
    if data[: len(MAGIC)] != MAGIC:
        raise StoreError(f"{path}: not a segment file")
    digest = xxhash.xxh3_128(data[BODY:])
    if digest.digest() != data[len(MAGIC) : BODY] or digest.hexdigest() != entry.checksum:
        raise StoreError(f"{path}: checksum: the file is damaged")
    end = HEADER + int.from_bytes(data[BODY:HEADER], "little")
    contents = decode(bytes(data[HEADER:end]), str(path))
    return {name: _piece(name, one, data[one.at :], str(path)) for name, one in contents.arrays.items()}


def _in_folder(disk: Disk, path: Path, entry: SegmentEntry) -> dict[str, Piece]:
    table = disk.read(path / TABLE_OF_ARRAYS)
    if xxhash.xxh3_128_hexdigest(table) != entry.checksum:
        raise StoreError(f"{path / TABLE_OF_ARRAYS}: checksum: the file is damaged")
    pieces = {}
    for name, one in decode(table, str(path)).arrays.items():
        file = path / (name + ARRAY_SUFFIX)
        pieces[name] = _piece(name, one, disk.open(file), str(file), whole=True)
    return pieces


def _piece(name: str, entry: ArrayEntry, data: memoryview, path: str, *, whole: bool = False) -> Piece:
    """Find one ``.npy`` in place; its head must be the one this dtype and shape give, so nothing is parsed."""
    if entry.dtype and not ARRAYS[name].narrow:
        raise StoreError(f"{path}: {name}: {entry.dtype} is not its dtype")
    dtype = entry.dtype or ARRAYS[name].dtype
    size = int(dtype[2:])
    head = npy_header(dtype if size > 1 else f"|{dtype[1:]}", entry.shape)  # a byte has no byte order
    count = prod(entry.shape)
    end = len(head) + count * size
    if len(data) < end or (whole and len(data) != end) or data[: len(head)] != head:
        raise StoreError(f"{path}: {name}: not the array that the table of arrays describes")
    checksum = entry.checksum if whole else ""
    return Piece(path, data, len(head), entry.shape, count, dtype, checksum)


@lru_cache(maxsize=512)
def npy_header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Head of a version 1.0 ``.npy`` file, as numpy writes it; numpy's own way takes twenty times as long."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % ALIGN) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
