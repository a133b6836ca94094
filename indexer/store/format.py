"""The index on disk (prose to come)."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

FORMAT = 1

MANIFEST = "manifest.json"
PREVIOUS = "manifest.prev.json"
NEXT = "manifest.next.json"
IGNORE = ".gitignore"
TABLE_OF_ARRAYS = "segment.json"
TEMPORARY = "tmp-"
SET_ASIDE = "bad-"
FILE_SUFFIX = ".seg"
ARRAY_SUFFIX = ".npy"

MAGIC = b"INDEXSEG"
BODY = 24
HEADER = 32
ALIGN = 64

NONE = 0xFFFFFFFF


class Counts(NamedTuple):
    """How many rows of each kind, or the first id of each kind."""

    strings: int = 0
    contents: int = 0
    blocks: int = 0
    bindings: int = 0
    files: int = 0

    def plus(self, other: Counts) -> Counts:
        """Add kind by kind."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


class Layout(NamedTuple):
    """What one array must look like.

    Its shape is ``(n + extra,)``, or ``(rows, n)`` when ``rows`` is given; n is the number of rows of the kind ``per``,
    or free when ``per`` is empty. ``into`` names the array (its last axis) that these offsets cut.
    """

    dtype: str
    per: str = ""
    rows: int = 0
    extra: int = 0
    into: str = ""


class File:
    """The rows of ``files`` (uint32)."""

    PATH = 0
    BLOCK = 1
    LANGUAGE = 2
    ENCODING = 3
    REASON = 4
    DETAIL = 5
    FLAGS = 6
    GENERATION = 7
    ROWS = 8


class Flag:
    """The bits of ``files[FLAGS]``."""

    RACY = 1
    REMOVED = 2
    HASHED = 4


class Stat:
    """The rows of ``file_stats`` (uint64; the times are two's complement)."""

    SIZE = 0
    MTIME = 1
    CTIME = 2
    INODE = 3
    HASH_HIGH = 4
    HASH_LOW = 5
    ROWS = 6


class Block:
    """The rows of ``blocks`` (uint32)."""

    FALLBACK = 0
    UNTIL = 1
    ROWS = 2


class Binding:
    """The rows of ``bindings`` (uint32)."""

    CONTENT = 0
    KIND = 1
    SYMBOL = 2
    SCOPE = 3
    LANGUAGE = 4
    LINE = 5
    SIGNATURE_START = 6
    SIGNATURE_END = 7
    DOCSTRING_START = 8
    DOCSTRING_END = 9
    PARENT = 10
    PART = 11
    ROWS = 12


ARRAYS: dict[str, Layout] = {
    "string_bytes": Layout("<u1"),
    "string_offsets": Layout("<i8", "strings", extra=1, into="string_bytes"),
    "string_lengths": Layout("<u4", "strings"),
    "string_keys": Layout("<u8", "strings", rows=2),
    "string_rows": Layout("<u4", "strings"),
    "name_terms": Layout("<u8"),
    "name_offsets": Layout("<i8", extra=1, into="name_rows"),
    "name_rows": Layout("<u4"),
    "name_counts": Layout("<u2"),
    "content_keys": Layout("<u8", "contents", rows=2),
    "content_rows": Layout("<u4", "contents"),
    "content_lengths": Layout("<u4", "contents"),
    "content_until": Layout("<u4", "contents"),
    "vectors": Layout("<i1", "contents", rows=-1),
    "scales": Layout("<f4", "contents"),
    "body_terms": Layout("<u8"),
    "body_offsets": Layout("<i8", extra=1, into="body_rows"),
    "body_rows": Layout("<u4"),
    "body_counts": Layout("<u2"),
    "block_keys": Layout("<u8", "blocks", rows=2),
    "block_rows": Layout("<u4", "blocks"),
    "blocks": Layout("<u4", "blocks", rows=Block.ROWS),
    "block_offsets": Layout("<i8", "blocks", extra=1, into="bindings"),
    "import_offsets": Layout("<i8", "blocks", extra=1, into="imports"),
    "imports": Layout("<u4"),
    "bindings": Layout("<u4", "bindings", rows=Binding.ROWS),
    "span_offsets": Layout("<i8", "bindings", extra=1, into="spans"),
    "spans": Layout("<u4", rows=4),
    "base_offsets": Layout("<i8", "bindings", extra=1, into="bases"),
    "bases": Layout("<u4"),
    "files": Layout("<u4", "files", rows=File.ROWS),
    "file_stats": Layout("<u8", "files", rows=Stat.ROWS),
}

# Which ids stand where: array -> {row: kind}; row -1 is the whole array. NONE is allowed where `OPTIONAL` says so.
REFERENCES: dict[str, dict[int, str]] = {
    "files": {
        File.PATH: "strings",
        File.BLOCK: "blocks",
        File.LANGUAGE: "strings",
        File.ENCODING: "strings",
        File.REASON: "strings",
        File.DETAIL: "strings",
    },
    "blocks": {Block.FALLBACK: "strings"},
    "imports": {-1: "strings"},
    "bindings": {
        Binding.CONTENT: "contents",
        Binding.KIND: "strings",
        Binding.SYMBOL: "strings",
        Binding.SCOPE: "strings",
        Binding.LANGUAGE: "strings",
    },
    "bases": {-1: "strings"},
}
OPTIONAL = {("files", File.BLOCK)}

SEGMENT_NAME = r"g[0-9]{10}-[0-9a-f]{8}(?:[.]seg)?"
_SEGMENT = re.compile(rf"(?:{TEMPORARY})?{SEGMENT_NAME}")
_MANIFEST_TEMPORARY = re.compile(rf"{TEMPORARY}manifest[a-z.]*\.json")


def segment_name(generation: int, token: str, *, folder: bool) -> str:
    """Name a segment; the token keeps a name from ever being used twice."""
    return f"g{generation:010d}-{token}" + ("" if folder else FILE_SUFFIX)


def is_folder(name: str) -> bool:
    """Tell a folded segment (a directory) from a small one (a file)."""
    return not name.endswith(FILE_SUFFIX)


def is_ours(name: str) -> bool:
    """Tell whether a name in the index directory is one that a sweep may remove when no manifest names it."""
    return bool(_SEGMENT.fullmatch(name) or _MANIFEST_TEMPORARY.fullmatch(name))


def dtype_of(array: str) -> np.dtype[np.generic]:
    """Give the dtype of an array of the format."""
    return np.dtype(ARRAYS[array].dtype)
