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
from indexer.store.format import Binding, Flag, Number
from indexer.store.packed import Packed, unpack
from indexer.store.places import decode
from indexer.store.tables import join_digests
from indexer.types import Chunk

if TYPE_CHECKING:
    from indexer.store.snapshot import Snapshot
    from indexer.store.stack import Stack
    from indexer.store.tables import Tables
    from indexer.types import FileStat


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
    keys = join_digests(*snapshot.content_keys.T)
    names = _strings(snapshot.stack)
    chunks = _chunks(snapshot.stack, names)
    rows = tuple(
        BindingRow(snapshot.paths[file], chunks[binding], keys[content])
        for file, binding, content in zip(
            snapshot.rows.file.tolist(),
            snapshot.rows.binding.tolist(),
            snapshot.rows.content.tolist(),
            strict=True,
        )
    )
    live = np.flatnonzero(snapshot.live).tolist()
    contents = _contents(snapshot.stack)
    files = _files(snapshot, names)
    used = _used(snapshot, files, rows)
    return Dump(files, rows, {keys[at]: contents[at] for at in live}, _names(snapshot, names, used))


def _strings(stack: Stack) -> list[str]:
    ends, data = stack.offsets("string_offsets").tolist(), stack.column("string_bytes").tobytes()
    return [data[a:b].decode("utf-8", "surrogateescape") for a, b in pairwise(ends)]


def _chunks(stack: Stack, names: list[str]) -> list[Chunk]:
    """Every binding as its chunk: `Snapshot.binding` for all, in a tenth of the time."""
    bases: list[list[str]] = [[] for _ in range(stack.total.bindings)]
    for owner, base in zip(stack.base_owners.tolist(), stack.column("bases").tolist(), strict=True):
        bases[owner].append(names[base])
    rows = zip(
        stack.column("bindings").reshape(Binding.ROWS, -1).T.tolist(),
        stack.column("numbers").reshape(Number.ROWS, -1).T.tolist(),
        pairwise(stack.offsets("place_offsets").tolist()),
        bases,
        strict=True,
    )
    data = stack.column("places").tobytes()
    return [
        Chunk(
            kind=names[ids[Binding.KIND]],
            symbol=names[ids[Binding.SYMBOL]],
            scope=names[ids[Binding.SCOPE]],
            language=names[ids[Binding.LANGUAGE]],
            line=numbers[Number.LINE],
            parent=numbers[Number.PARENT] - 1,
            part=numbers[Number.PART],
            bases=tuple(of_row),
            **decode(data[place[0] : place[1]])._asdict(),
        )
        for ids, numbers, place, of_row in rows
    ]


def _files(snapshot: Snapshot, names: list[str]) -> tuple[FileRow, ...]:
    stats, _ = snapshot.known()
    files = snapshot.files
    hashed = (files.flags & Flag.HASHED).tolist()
    words = (files.language, files.encoding, files.reason, files.detail)
    language, encoding, reason, detail = ([names[at] for at in column.tolist()] for column in words)
    return tuple(
        FileRow(
            stats[path],
            digest if hashed[at] else b"",
            language[at],
            encoding[at],
            reason[at],
            detail[at],
            snapshot.fallback(at),
            snapshot.imports(at),
        )
        for at, (path, digest) in enumerate(
            zip(snapshot.paths, join_digests(*files.content_hash.T), strict=True)
        )
    )


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
    offsets, terms, often = postings.revert(unpack(Packed.of(tables, prefix)), counts)
    bounds = offsets.tolist()
    return [
        xxhash.xxh3_128_hexdigest(terms[a:b].tobytes() + often[a:b].tobytes()) for a, b in pairwise(bounds)
    ]


def _used(snapshot: Snapshot, files: tuple[FileRow, ...], rows: tuple[BindingRow, ...]) -> set[str]:
    """Strings that a live file or row holds."""
    used = set(snapshot.paths)
    for file in files:
        used.update((file.language, file.encoding, file.reason, file.detail, file.fallback, *file.imports))
    for row in rows:
        used.update((row.chunk.kind, row.chunk.symbol, row.chunk.scope, row.chunk.language, *row.chunk.bases))
    return used


def _names(snapshot: Snapshot, names: list[str], used: set[str]) -> dict[str, tuple[int, str]]:
    digests = [digest for tables in snapshot.stack.tables for digest in _digests(tables, "name")]
    lengths = snapshot.string_length.tolist()
    numbers = {name: number for number, name in enumerate(names)}
    return {name: (lengths[numbers[name]], digests[numbers[name]]) for name in sorted(used)}
