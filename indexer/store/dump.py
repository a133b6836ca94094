"""Everything a generation means, free of its history: no id, segment, order of writing or unbound row is in it.

Two indexes of the same tree give equal dumps; `indexer check` and the tests of invariant 1 stand on that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from indexer.store import postings
from indexer.store.postings import Postings
from indexer.store.tables import join_digests, unsort_keys

if TYPE_CHECKING:
    from indexer.store.snapshot import Snapshot
    from indexer.store.stack import Stack
    from indexer.store.tables import Tables
    from indexer.types import Chunk, FileStat


@dataclass(frozen=True, slots=True)
class FileRow:
    """One live file. Whether its stat was racy is left out: that tells of the run, not of the tree."""

    stat: FileStat
    content_hash: bytes
    language: str
    encoding: str
    reason: str
    detail: str
    fallback: str
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BindingRow:
    """One live row: the chunk, and the key of its content."""

    path: str
    chunk: Chunk
    content: bytes


@dataclass(frozen=True, slots=True)
class Dump:
    """Files by path, rows by path and first byte, live contents by key, strings in use by text.

    A content is its number of terms, a digest of its terms and counts, and one of its dequantised vector; a string is
    its number of terms and their digest.
    """

    files: tuple[FileRow, ...]
    rows: tuple[BindingRow, ...]
    contents: dict[bytes, tuple[int, str, str]]
    names: dict[str, tuple[int, str]]


def dump(snapshot: Snapshot) -> Dump:
    """Give the canonical dump of a generation."""
    keys = _keys(snapshot.stack)
    rows = tuple(
        BindingRow(snapshot.paths[file], snapshot.binding(binding), keys[content])
        for file, binding, content in zip(
            snapshot.rows.file.tolist(),
            snapshot.rows.binding.tolist(),
            snapshot.rows.content.tolist(),
            strict=True,
        )
    )
    live = np.flatnonzero(snapshot.live).tolist()
    contents = _contents(snapshot.stack)
    files = tuple(_file(snapshot, at) for at in range(len(snapshot.paths)))
    return Dump(files, rows, {keys[at]: contents[at] for at in live}, _names(snapshot, files, rows))


def _file(snapshot: Snapshot, at: int) -> FileRow:
    record = snapshot.record(snapshot.paths[at])
    assert record is not None
    return FileRow(
        record.stat,
        record.content_hash,
        record.language,
        record.encoding,
        record.reason,
        record.detail,
        snapshot.fallback(at),
        snapshot.imports(at),
    )


def _keys(stack: Stack) -> list[bytes]:
    keys: list[bytes] = []
    for tables in stack.tables:
        halves = unsort_keys(tables.content_keys, tables.content_rows)
        keys += join_digests(halves[:, 0], halves[:, 1])
    return keys


def _contents(stack: Stack) -> list[tuple[int, str, str]]:
    found: list[tuple[int, str, str]] = []
    for tables in stack.tables:
        vectors = (tables.vectors * tables.scales[:, None]).astype(np.float32)
        digests = [xxhash.xxh3_128_hexdigest(vector.tobytes()) for vector in vectors]
        found += zip(tables.content_lengths.tolist(), _digests(tables, "body"), digests, strict=True)
    return found


def _digests(tables: Tables, prefix: str) -> list[str]:
    """Digest of each row's terms and counts, in the order of the terms."""
    counts = tables.counts.contents if prefix == "body" else tables.counts.strings
    arrays = [getattr(tables, f"{prefix}_{name}") for name in Postings._fields]
    offsets, terms, often = postings.revert(Postings(*arrays), counts)
    bounds = offsets.tolist()
    return [
        xxhash.xxh3_128_hexdigest(terms[a:b].tobytes() + often[a:b].tobytes()) for a, b in pairwise(bounds)
    ]


def _names(
    snapshot: Snapshot, files: tuple[FileRow, ...], rows: tuple[BindingRow, ...]
) -> dict[str, tuple[int, str]]:
    used = set(snapshot.paths)
    for file in files:
        used.update((file.language, file.encoding, file.reason, file.detail, file.fallback, *file.imports))
    for row in rows:
        used.update((row.chunk.kind, row.chunk.symbol, row.chunk.scope, row.chunk.language, *row.chunk.bases))
    digests = [digest for tables in snapshot.stack.tables for digest in _digests(tables, "name")]
    lengths = snapshot.string_length.tolist()
    found = {}
    for text in sorted(used):
        number = snapshot.string_id(text)
        assert number is not None
        found[text] = (lengths[number], digests[number])
    return found
