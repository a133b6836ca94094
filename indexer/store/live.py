"""What is live in a pile of segments, in the canonical order: path bytes, then first byte of the chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.keys import keys_of
from indexer.store.format import NONE, Binding, File, Flag, Stat
from indexer.store.pending import encode
from indexer.store.tables import offsets_of, take_ragged
from indexer.types import FileRecord, FileStat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indexer.store.since import Since
    from indexer.store.stack import Stack
    from indexer.store.tables import I64, U32, U64, Tables

NO_IDS: U32 = np.zeros(0, np.uint32)


class Files(NamedTuple):
    """Live files (f,), by path bytes. All but these are string ids; ``block`` may be NONE.

    The rows of file i are ``first_row[i]`` to ``first_row[i + 1]``; ``flags`` holds the bits of `format.Flag`;
    ``content_hash`` (f, 2) the halves of the hash, which counts where the flag HASHED is set.
    """

    path: U32
    language: U32
    reason: U32
    block: U32
    flags: U32
    first_row: I64
    encoding: U32
    detail: U32
    content_hash: U64


class Rows(NamedTuple):
    """Live (file, binding) pairs (r,), by path bytes, then first byte.

    ``file`` counts in `Files`, ``binding`` and ``content`` are ids.
    """

    file: U32
    binding: U32
    content: U32


def live_files(stack: Stack, since: Since | None) -> tuple[I64, list[bytes]]:
    """Newest rows (f,), in the joined table, of the paths that are not removed, and these paths, by path bytes."""
    if not stack.total.files:
        return np.zeros(0, np.int64), []
    if since:
        rows, names = since.trunk.live_files
        kept = names if since.files.in_place else since.files.splice_list(names, since.names)
        return since.files.splice(rows, since.file_rows), kept
    path, flags = stack.column("files", File.PATH), stack.column("files", File.FLAGS)
    newest = np.full(stack.total.strings, -1, np.int64)
    newest[path] = np.arange(len(path))  # of several rows the last is the newest
    rows = newest[newest >= 0]
    rows = rows[(flags[rows] & Flag.REMOVED) == 0]
    # By path id: in each segment the paths stand in byte order, so that this sorts a few sorted runs.
    names = bytes_of(stack, path[rows])
    order = sorted(range(len(names)), key=names.__getitem__)
    return rows[np.array(order, np.int64)], [names[at] for at in order]


def string_id(stack: Stack, text: str) -> int | None:
    """Id of a string; equal strings have equal ids."""
    number = int(stack.find("strings", keys_of([encode(text)]))[0])
    return None if number < 0 else number


def newest(stack: Stack, path: str) -> tuple[Tables, int] | None:
    """The newest row of a path, unless it is a removal."""
    number = string_id(stack, path)
    place = None if number is None else stack.newest_file(number)
    if place is None or int(place[0].files[File.FLAGS, place[1]]) & Flag.REMOVED:
        return None
    return place


def record(path: str, tables: Tables, row: int, string: Callable[[int], str]) -> FileRecord:
    """What a row of files says."""
    ids, numbers = tables.files[:, row].tolist(), tables.file_stats[:, row].astype(">u8")
    size, mtime, ctime, inode = numbers.view(">i8")[: Stat.INODE + 1].tolist()
    digest = numbers[Stat.HASH_HIGH :].tobytes() if ids[File.FLAGS] & Flag.HASHED else b""
    return FileRecord(
        FileStat(path, size, mtime, ctime, inode & 0xFFFFFFFFFFFFFFFF),
        digest,
        string(ids[File.LANGUAGE]),
        string(ids[File.ENCODING]),
        string(ids[File.REASON]),
        string(ids[File.DETAIL]),
        bool(ids[File.FLAGS] & Flag.RACY),
    )


def files(stack: Stack, rows: I64, since: Since | None) -> Files:
    """Columns of the live files, whose rows (f,) in the joined table are given."""
    if since:
        return _files_since(stack, since)

    def column(row: int) -> U32:
        values: U32 = stack.column("files", row)[rows] if len(rows) else NO_IDS
        return values

    block = column(File.BLOCK)
    lengths = np.zeros(len(block), np.int64)
    if stack.total.blocks:
        bound = block != NONE
        lengths[bound] = np.diff(stack.offsets("block_offsets"))[block[bound]]
    return Files(
        column(File.PATH),
        column(File.LANGUAGE),
        column(File.REASON),
        block,
        column(File.FLAGS),
        offsets_of(lengths),
        column(File.ENCODING),
        column(File.DETAIL),
        stack.column("file_stats").reshape(Stat.ROWS, -1)[Stat.HASH_HIGH :, rows].T,
    )


def _files_since(stack: Stack, since: Since) -> Files:
    """Columns of the live files: the trunk's, and those of the fresh ones between them."""
    before, edits = since.trunk.files, since.files

    def column(values: U32, row: int) -> U32:
        spliced: U32 = edits.splice(values, stack.gather("files", "files", since.file_rows, row))
        return spliced

    halves = (Stat.HASH_HIGH, Stat.HASH_LOW)
    hashes = [stack.gather("files", "file_stats", since.file_rows, row) for row in halves]
    return Files(
        column(before.path, File.PATH),
        column(before.language, File.LANGUAGE),
        column(before.reason, File.REASON),
        column(before.block, File.BLOCK),
        column(before.flags, File.FLAGS),
        offsets_of(edits.splice(np.diff(before.first_row), since.sizes)),
        column(before.encoding, File.ENCODING),
        column(before.detail, File.DETAIL),
        edits.splice(before.content_hash, np.stack(hashes, axis=1)),
    )


def rows(stack: Stack, files: Files) -> Rows:
    """Columns of the live rows."""
    bound = np.flatnonzero(files.block != NONE)
    if not len(bound):
        return Rows(NO_IDS, NO_IDS, NO_IDS)
    offsets, binding = take_ragged(stack.offsets("block_offsets"), files.block[bound])
    file = np.repeat(bound, np.diff(offsets)).astype(np.uint32)
    content = stack.column("bindings", Binding.CONTENT)[binding]
    return Rows(file, binding.astype(np.uint32), content)


def fresh_rows(stack: Stack, files: Files, since: Since) -> Rows:
    """Columns of the live rows that the trunk does not have."""
    blocks = files.block[since.files.fresh]
    binding = stack.bindings_of(blocks[blocks != NONE].astype(np.int64))
    file = np.repeat(since.files.fresh, since.sizes).astype(np.uint32)
    content = stack.gather("bindings", "bindings", binding, Binding.CONTENT)
    return Rows(file, binding.astype(np.uint32), content)


def rows_since(files: Files, since: Since, fresh: Rows) -> Rows:
    """Columns of the live rows: the trunk's, and those of the fresh ones between them."""
    trunk, splice = since.trunk.rows, since.rows.splice
    if since.files.in_place:
        file: U32 = splice(trunk.file, fresh.file)
    else:  # files behind those that came or went have other numbers
        file = np.repeat(np.arange(len(files.path), dtype=np.uint32), np.diff(files.first_row))
    return Rows(file, splice(trunk.binding, fresh.binding), splice(trunk.content, fresh.content))


def bytes_of(stack: Stack, strings: U32) -> list[bytes]:
    """Bytes of many strings, whose ids ascend."""
    found: list[bytes] = []
    for segment in stack.segments:
        tables, base = segment.tables, segment.base.strings
        start, end = np.searchsorted(strings, (base, base + tables.counts.strings))
        own = strings[start:end].astype(np.int64) - base
        if len(own):
            data = tables.string_bytes[: tables.string_offsets[own[-1] + 1]].tobytes()
            bounds = zip(
                tables.string_offsets[own].tolist(), tables.string_offsets[own + 1].tolist(), strict=True
            )
            found += [data[a:b] for a, b in bounds]
    return found


def texts(names: Sequence[bytes]) -> list[str]:
    """Paths or other names as text, byte for byte."""
    return [name.decode("utf-8", "surrogateescape") for name in names]
