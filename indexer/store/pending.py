"""What a writer has gathered since its last commit, under the ids that it will have before the merge."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from indexer import tokens
from indexer.columns import Row
from indexer.keys import as_bytes, keys_of, split_digests
from indexer.store import places, postings
from indexer.store.blocks import Blocks, check_order
from indexer.store.format import NONE, PREFIX_SHIFT, Binding, Block, File, Flag, Stat
from indexer.store.packed import pack
from indexer.store.tables import Tables, offsets_of, sort_keys, sort_prefixes
from indexer.tokens import TermCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from indexer.columns import Columns
    from indexer.store.stack import Stack
    from indexer.store.tables import F32, I8, I64, U64, Array
    from indexer.types import FileRecord


def block_digest(content_hash: bytes, language: str) -> bytes:
    """Key of a block: one file content cut as one language."""
    return xxhash.xxh3_128_digest(content_hash + b"\0" + language.encode())


def encode(text: str) -> bytes:
    """Bytes of a string: UTF-8, where a path's undecodable bytes are themselves again."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def quantise(vectors: F32) -> tuple[I8, F32]:
    """Symmetric int8 with one float32 scale a row: scale = max |x| / 127, halves to even; zero rows stay zero."""
    if not np.isfinite(vectors).all():
        raise ValueError("a vector is not finite")
    if not vectors.shape[1]:
        return np.zeros(vectors.shape, np.int8), np.zeros(len(vectors), np.float32)
    scales = np.abs(vectors).max(axis=1) / np.float32(127)
    divisors = np.where(scales > 0, scales, np.float32(1))
    return np.rint(vectors / divisors[:, None]).astype(np.int8), scales.astype(np.float32)


class Pending:
    """New rows on top of a stack. Ids start where the stack's end."""

    def __init__(self, stack: Stack, dim: int) -> None:
        self._stack = stack
        self._dim = dim
        self._ids: dict[str, int] = {}
        self._strings: list[bytes] = []
        self._content_ids: dict[bytes, int] = {}
        self._keys: list[U64] = []
        self._terms: list[TermCounts] = []
        self._vectors: list[tuple[I8, F32]] = []
        self._block_ids: dict[bytes, int] = {}
        self._blocks: list[Blocks] = []
        self._files: dict[str, tuple[FileRecord, int | None] | None] = {}

    def __bool__(self) -> bool:
        return bool(self._content_ids or self._block_ids or self._files)

    # --- contents

    def find_contents(self, keys: U64) -> I64:
        """Ids (n,) of contents by (n, 2) keys, in the stack or pending; -1 for the others."""
        found = self._stack.find("contents", keys)
        if self._content_ids:
            absent = np.flatnonzero(found < 0)
            found[absent] = [self._content_ids.get(key, -1) for key in as_bytes(keys[absent])]
        return found

    def add_contents(self, keys: U64, terms: TermCounts, vectors: F32) -> None:
        """Add contents; those known already, or named twice, are left out."""
        if not len(keys) == len(terms.offsets) - 1 == len(vectors):
            raise ValueError(
                f"{len(keys)} keys, {len(terms.offsets) - 1} rows of terms, {len(vectors)} vectors"
            )
        if vectors.ndim != 2 or vectors.shape[1] != self._dim:
            raise ValueError(f"vectors of shape {vectors.shape}, expected (n, {self._dim})")
        new = []
        absent = np.flatnonzero(self.find_contents(keys) < 0)
        for at, key in zip(absent.tolist(), as_bytes(keys[absent]), strict=True):
            if key not in self._content_ids:
                self._content_ids[key] = self._stack.total.contents + len(self._content_ids)
                new.append(at)
        rows = np.array(new, np.int64)
        self._keys.append(keys[rows])
        self._terms.append(terms.take(rows))
        self._vectors.append(quantise(np.asarray(vectors[rows], np.float32)))

    # --- blocks

    def find_block(self, content_hash: bytes, language: str) -> int | None:
        """Id of a block, in the stack or pending."""
        digest = block_digest(content_hash, language)
        if (pending := self._block_ids.get(digest)) is not None:
            return pending
        found = int(self._stack.find("blocks", split_digests([digest]))[0])
        return None if found < 0 else found

    def add_blocks(self, names: Sequence[tuple[bytes, str]], files: Columns, keys: U64) -> list[int]:
        """Add the chunks of file contents, named by hash and language; gives the blocks' ids, those known already too.

        ``keys`` (m, 2) are those of the chunks' contents, which must be known.
        """
        contents = self.find_contents(keys)
        if len(names) != len(files.sizes) or len(keys) != len(files.chunks) or (contents < 0).any():
            raise ValueError(f"{len(files.chunks)} chunks, {int((contents >= 0).sum())} known contents")
        check_order(files)
        digests = [block_digest(*name) for name in names]
        found: list[int] = self._stack.find("blocks", split_digests(digests)).tolist()
        new = []
        for at, digest in enumerate(digests):
            if found[at] < 0:
                number = self._stack.total.blocks + len(self._block_ids)
                found[at] = self._block_ids.setdefault(digest, number)
                if found[at] == number:
                    new.append(at)
        if new:
            self._blocks.append(self._numbered(Blocks.of(files, contents).some(new), files.strings))
        return found

    def _numbered(self, blocks: Blocks, strings: list[str]) -> Blocks:
        """Give the strings their ids, in place of their places in a list."""
        self._intern(strings)
        ids = np.fromiter(map(self._ids.__getitem__, strings), np.uint32, len(strings))
        words = slice(Binding.KIND, Binding.LANGUAGE + 1)
        blocks.bindings[:, words] = ids[blocks.bindings[:, words]]
        return blocks._replace(
            fallbacks=ids[blocks.fallbacks], imports=ids[blocks.imports], bases=ids[blocks.bases]
        )

    # --- files

    def put_file(self, record: FileRecord, block: int | None) -> None:
        """Bind a path; the last word on a path counts."""
        if block is not None and not 0 <= block < self._stack.total.blocks + len(self._block_ids):
            raise ValueError(f"{record.stat.path}: no block {block}")
        if len(record.content_hash) not in {0, 16}:
            raise ValueError(f"{record.stat.path}: a content hash of {len(record.content_hash)} bytes")
        self._files[record.stat.path] = (record, block)

    def remove_file(self, path: str) -> None:
        """Unbind a path."""
        self._files[path] = None

    def unbinding(self) -> int:
        """How many bindings the pending files stop using: an estimate, since another file may use them too."""
        if not self._stack.total.files:
            return 0
        total = 0
        paths = self._stack.find("strings", keys_of(map(encode, self._files))).tolist()
        for path, place in zip(paths, self._files.values(), strict=True):
            old = self._stack.newest_file(path) if path >= 0 else None
            block = NONE if old is None else int(old[0].files[File.BLOCK, old[1]])
            if block != NONE and block != (place[1] if place else None):
                tables, row = self._stack.locate("blocks", block)
                total += int(tables.block_offsets[row + 1] - tables.block_offsets[row])
        return total

    # --- strings

    def _intern(self, texts: Iterable[str]) -> None:
        ids = self._ids
        new = [text for text in dict.fromkeys(texts) if text not in ids]
        if not new:
            return
        encoded = [encode(text) for text in new]
        first = self._stack.total.strings
        found = self._stack.find("strings", keys_of(encoded)).tolist() if first else [-1] * len(new)
        for text, data, known in zip(new, encoded, found, strict=True):
            if known < 0:
                ids[text] = first + len(self._strings)
                self._strings.append(data)
            else:
                ids[text] = known

    # --- all of it

    def tables(self, generation: int) -> Tables:
        """Everything gathered, as the tables of a segment on top of the stack; wide, since it is merged before it is written."""
        files, file_stats = self._file_columns(generation)
        arrays = self._content_columns(generation) | self._block_columns(generation) | self._string_columns()
        return Tables(files=files, file_stats=file_stats, **arrays)

    def _file_columns(self, generation: int) -> tuple[Array, Array]:
        places = self._files.items()
        self._intern(chain.from_iterable(_file_strings(path, place) for path, place in places))
        columns, stats = array("I"), array("q")
        hashes = []
        for path, place in places:
            columns.extend(self._file_row(path, place, generation))
            stats.extend(place[0].stat[1:4] if place else (0, 0, 0))
            hashes.append((place[0].content_hash if place else b"") or bytes(16))
        inodes = np.array([place[0].stat.inode if place else 0 for _, place in places], np.uint64)
        rows = _columns(columns, File.ROWS)
        times = np.ascontiguousarray(np.array(stats, np.int64).reshape(-1, 3).T).view(np.uint64)
        file_stats = np.concatenate((times, inodes[None], split_digests(hashes).T))
        assert file_stats.shape[0] == Stat.ROWS
        return rows, file_stats

    def _file_row(
        self, path: str, place: tuple[FileRecord, int | None] | None, generation: int
    ) -> tuple[int, int, int, int, int, int, int, int]:
        ids = self._ids
        empty = ids[""]
        if place is None:
            return ids[path], NONE, empty, empty, empty, empty, Flag.REMOVED, generation
        record, block = place
        flags = Flag.RACY * record.racy + Flag.HASHED * bool(record.content_hash)
        return (
            ids[path],
            NONE if block is None else block,
            ids[record.language],
            ids[record.encoding],
            ids[record.reason],
            ids[record.detail],
            flags,
            generation,
        )

    def _content_columns(self, generation: int) -> dict[str, Array]:
        count = len(self._content_ids)
        keys, rows = sort_keys(np.concatenate([np.zeros((0, 2), np.uint64), *self._keys]))
        terms = TermCounts.joined(self._terms)
        total = offsets_of(terms.counts)[terms.offsets]
        columns: dict[str, Array] = {
            "content_keys": keys,
            "content_rows": rows,
            "content_lengths": np.diff(total),
            "content_until": np.full(count, generation, np.uint32),
            "vectors": np.concatenate([np.zeros((0, self._dim), np.int8), *(v for v, _ in self._vectors)]),
            "scales": np.concatenate([np.zeros(0, np.float32), *(s for _, s in self._vectors)]),
        }
        return columns | pack(postings.invert(terms)).arrays("body")

    def _block_columns(self, generation: int) -> dict[str, Array]:
        keys, rows = sort_keys(split_digests(list(self._block_ids)))
        every = Blocks.joined(self._blocks)
        chunks = np.ascontiguousarray(every.bindings.T)
        row = chunks[1:].__getitem__
        extents = row(slice(Row.SIGNATURE_START, Row.DOCSTRING_END + 1))
        place_offsets, data = places.encode(extents, np.ascontiguousarray(every.spans.T), every.span_sizes)
        blocks = np.full((Block.ROWS, len(rows)), generation, np.uint32)
        blocks[Block.FALLBACK] = every.fallbacks
        return {
            "block_keys": keys,
            "block_rows": rows,
            "blocks": blocks,
            "block_offsets": offsets_of(every.sizes),
            "import_offsets": offsets_of(every.import_sizes),
            "imports": every.imports,
            "bindings": chunks[: Binding.ROWS],
            "numbers": np.stack((row(Row.LINE), row(Row.PARENT) + np.uint32(1), row(Row.PART))),
            "place_offsets": place_offsets,
            "places": data,
            "base_owners": np.repeat(np.arange(len(every.bindings), dtype=np.uint32), every.base_sizes),
            "bases": every.bases,
        }

    def _string_columns(self) -> dict[str, Array]:
        keys, rows = sort_prefixes((keys_of(self._strings)[:, 0] >> PREFIX_SHIFT).astype(np.uint32))
        counts = tokens.count_terms(self._strings)
        columns: dict[str, Array] = {
            "string_bytes": np.frombuffer(b"".join(self._strings), np.uint8),
            "string_offsets": offsets_of(np.array([len(data) for data in self._strings], np.int64)),
            "string_lengths": np.diff(offsets_of(counts.counts)[counts.offsets]).astype(np.uint32),
            "string_keys": keys,
            "string_rows": rows,
        }
        return columns | pack(postings.invert(counts)).arrays("name")


def _columns(values: array[int], rows: int) -> Array:
    return np.ascontiguousarray(np.array(values, np.uint32).reshape(-1, rows).T)


def _file_strings(path: str, place: tuple[FileRecord, int | None] | None) -> tuple[str, ...]:
    if place is None:
        return (path, "")
    record = place[0]
    return (path, record.language, record.encoding, record.reason, record.detail)
