"""The index on disk. Every name, dtype and number of the format stands in this file only.

An index directory (mode 0700, files 0600) looks like this:

    .gitignore                      "*": the index ignores itself
    manifest.json                   what the current generation is made of
    manifest.prev.json              the generation before, for when the current one is damaged
    manifest.next.json              only while a fresh run is unfinished: its checkpoints, unseen by readers
    g0000000001-5a1b09c4/           a large segment: a directory of .npy, and segment.json
    g0000000018-0c77d2ee.seg        a small segment: one file
    tmp-*  bad-*                    being written; set aside as damaged

Segments. A generation is a pile of immutable segments, oldest first. Three kinds of row make up an index, and a table
of strings beside them:

    strings     every name in use: paths, symbols, scopes, kinds, languages, imports ...
    contents    a text that was embedded: key, number of terms, vector; its terms are in the body postings
    blocks      the chunks of one file content cut as one language: its bindings, in the order of their first byte
    files       a path, its stat and hash, the block that it is bound to

Each has ids that count through the whole pile: the first segment owns 0 to n - 1, the next one goes on from n. A row
may refer to ids of its own segment and of older ones, never of newer ones. So the newest segments can be merged into
one, and renumbered, without a look at the older ones (`merge`, `tiers`), and what the pile meant after k segments is
what the first k of them mean now.

A path may have a row in several segments: the newest counts. A removal is a row too (`Flag.REMOVED`), until a merge
reaches the oldest segment that may know the path. Nothing is ever unbound in place: a block that no newest row names
is unbound, and so is a content that only such blocks name. Both are kept for a while (`retention`).

Example. Two files are indexed, then one of them is edited:

    generation 1: a.py = "def f(): ..." "def g(): ..."       b.py = "def f(): ..."
        strings     0 a.py  1 b.py  2 ""  3 function  4 f  5 python  6 g  7 utf-8
        contents    0 (f's text)  1 (g's text)
        bindings    0: content 0, symbol 4    1: content 1, symbol 6    2: content 0, symbol 4
        blocks      0: bindings 0-1           1: binding 2
        files       a.py (0) -> block 0       b.py (1) -> block 1
    generation 2: "def h(): ..." is put before the two in a.py
        strings     8 h                       the others are known
        contents    2 (h's text)              f and g are not embedded again: their keys are known
        bindings    3: content 2, symbol 8    4: content 0, symbol 4    5: content 1, symbol 6
        blocks      2: bindings 3-5
        files       a.py (0) -> block 2       the newer row of path 0

Now f's text has two live rows (bindings 4 and 2), and block 0 is unbound. Were a.py restored, its file row would name
block 0 again, found by its key, and nothing would be chunked or embedded. A merge of both segments, a while later,
drops block 0 with its bindings, and keeps contents 0 to 2.

Arrays. Everything is little-endian. ``*_offsets`` are uint32, n + 1 of them, and cut the array of that name into n ragged
rows, so that none has more than 2^32 - 1 values. ``*_keys`` are the two halves of xxh3_128 digests (big-endian halves,
sorted: row 0 the high ones), ``*_rows`` the row that each key belongs to. Of the strings' digests only the upper 32 bits
are there: what is found by them is held against the string's bytes. An array that is `Layout.narrow` is of the narrowest
of uint8, uint16 and uint32 that holds its values.

    string_bytes string_offsets     UTF-8, where bytes of a path that are not stand as they are; the paths that are new
                                    in this segment come first, in byte order
    string_lengths                  number of terms of each string
    string_keys string_rows         key: of the bytes
    name_terms name_offsets         postings of the strings: terms (uint64 hashes, ascending), and for each the rows
    name_rows name_counts           that hold it and how often (see below)
    content_keys content_rows       key: of the text
    content_lengths content_until   number of terms; the last generation that is known to have used it
    vectors scales                  int8 (n, dim) and float32 (n,): x = scale * q
    body_terms body_offsets         postings of the contents, likewise
    body_rows body_counts
    block_keys block_rows           key: of content hash, NUL, language
    blocks block_offsets            see `Block`; bindings of each block
    import_offsets imports          string ids of what the file imports
    bindings                        see `Binding`
    numbers                         see `Number`
    place_offsets places            spans, signature and docstring of each binding (see below)
    base_owners bases               string ids of classes' bases, and the binding that each belongs to, ascending
    files file_stats                see `File` and `Stat`; ascending by path id

Postings. Each is a row (uint16) and a count (uint8) of 1 to 255, which also stands for more. In a segment of more than
65,536 contents (or strings) the rows of each term ascend, and before those of another page of 65,536 than the first
stands a mark, whose count is 0 and whose row is the number of the page: (7, 1) (2, 0) (5, 3) are rows 7 and 131077.

Places. Each is a row of numbers, of 7 bits a byte, the lowest first, the top bit set in all bytes of a number but its
last. Signature and docstring come first, with two numbers each: how far it begins from the first span's first byte (a
docstring: from the signature's end, if there is one), and its length; or 0 and 0 without one, for which the first of the
two is one more otherwise. Then of each span four: from the end of the last span (or 0) to its first byte, its length, from
the last span's last line (or 0) to its first line, and on to its last line. As all of these may go back, 0, -1, 1, -2 ...
stand as 0, 1, 2, 3 ...

A small segment is one file: 8 bytes magic, 16 bytes xxh3_128 of all that follows, 8 bytes length of the table of arrays,
the table (JSON: format, and shape, place and, if it is narrower, dtype of each array, padded with spaces), then each array as a complete ``.npy`` at a
multiple of 64 bytes. A large one is a directory with an ``.npy`` a piece, each mapped by itself, and the same table in
segment.json, with a checksum for each array in the place of its place. No array is of objects; nothing is unpickled.

The manifest holds: ``format``; ``checksum`` (xxh3_128 of the compact JSON of the manifest with this field empty);
``epoch`` (16 hex digits: a new one whenever generations do not simply follow each other: first or fresh build, damage,
a commit that failed half-way); ``generation``; ``complete`` (false: a checkpoint of an unfinished run); ``identity``
(what made it); ``unbound`` (about how many bindings are unbound: a compaction is due when they are many); ``segments``,
each with its name, the size and checksum of its file (or: bytes of its arrays, and checksum of its segment.json), the
generations it covers, and its numbers of rows, from which the ids follow.

When what is verified. At every open, by readers and writers: the manifest's checksum; of small segments the checksum;
of large ones that of segment.json and the size of every array; then of all that every array has its dtype and shape, offsets
ascend, ids are in range (`tables.check`). Rows inside postings are held against the range when they are handed out, and
places when they are read. When a writer opens, and by `verify`: every checksum of every array, the rows inside postings,
and that each place has its numbers. A run that may find nothing changed (`known`) verifies every checksum, and leaves to
the writer what is wrong. `inspect` looks at what the other manifests name too, at what no manifest names, and at who may
read it.

What happens then. A manifest that cannot be read: the previous one counts. A segment that is damaged or missing: the
previous manifest, if all it names is whole; else the segments below the damaged one, which are an earlier generation
(what came after is unknown, and the next scan adds it again). The damaged one is set aside as ``bad-*`` until the next
complete generation, and so is whatever stands in a manifest's place and is no file. A link, a pipe or a device is never
read. A reader, which has no lock, sets nothing aside: it raises StoreError and names the way out.
"""

from __future__ import annotations

import re

from indexer.plainly import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

FORMAT = 2

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
NARROW = ("|u1", "<u2")
PREFIX_SHIFT = 32  # from the upper half of a string's key to what is stored of it

# Postings: rows of a page, where counts stop, and the count that is none (see above).
PAGE_BITS = 16
MOST_OFTEN = 255
MARK = 0


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
    or free when ``per`` is empty. ``into`` names the array (its last axis) that these offsets cut. A ``narrow`` one may be
    of any of `NARROW` instead.
    """

    dtype: str
    per: str = ""
    rows: int = 0
    extra: int = 0
    into: str = ""
    narrow: bool = False


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
    """The rows of ``bindings``."""

    CONTENT = 0
    KIND = 1
    SYMBOL = 2
    SCOPE = 3
    LANGUAGE = 4
    ROWS = 5


class Number:
    """The rows of ``numbers``: the definition's line, the place of the parent in its block + 1 (0: none), the part."""

    LINE = 0
    PARENT = 1
    PART = 2
    ROWS = 3


ARRAYS: dict[str, Layout] = {
    "string_bytes": Layout("<u1"),
    "string_offsets": Layout("<u4", "strings", extra=1, into="string_bytes"),
    "string_lengths": Layout("<u4", "strings", narrow=True),
    "string_keys": Layout("<u4", "strings"),
    "string_rows": Layout("<u4", "strings", narrow=True),
    "name_terms": Layout("<u8"),
    "name_offsets": Layout("<u4", extra=1, into="name_rows"),
    "name_rows": Layout("<u2"),
    "name_counts": Layout("<u1"),
    "content_keys": Layout("<u8", "contents", rows=2),
    "content_rows": Layout("<u4", "contents", narrow=True),
    "content_lengths": Layout("<u4", "contents", narrow=True),
    "content_until": Layout("<u4", "contents", narrow=True),
    "vectors": Layout("<i1", "contents", rows=-1),
    "scales": Layout("<f4", "contents"),
    "body_terms": Layout("<u8"),
    "body_offsets": Layout("<u4", extra=1, into="body_rows"),
    "body_rows": Layout("<u2"),
    "body_counts": Layout("<u1"),
    "block_keys": Layout("<u8", "blocks", rows=2),
    "block_rows": Layout("<u4", "blocks", narrow=True),
    "blocks": Layout("<u4", "blocks", rows=Block.ROWS),
    "block_offsets": Layout("<u4", "blocks", extra=1, into="bindings"),
    "import_offsets": Layout("<u4", "blocks", extra=1, into="imports"),
    "imports": Layout("<u4", narrow=True),
    "bindings": Layout("<u4", "bindings", rows=Binding.ROWS, narrow=True),
    "numbers": Layout("<u4", "bindings", rows=Number.ROWS, narrow=True),
    "place_offsets": Layout("<u4", "bindings", extra=1, into="places"),
    "places": Layout("<u1"),
    "base_owners": Layout("<u4", narrow=True),
    "bases": Layout("<u4", narrow=True),
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
    """Give the dtype of an array of the format; of a narrow one the widest that it may have."""
    import numpy as np  # here, since a run that finds nothing changed has no other use for it

    return np.dtype(ARRAYS[array].dtype)
