"""What the current generation knows of the files, read as it stands on disk, for a run that may find nothing changed.

Most runs do, and loading numpy, which is not needed here, takes longer than looking at ten thousand files.

Only what is plain is read here. Where anything is not (a run that was not finished, a manifest that cannot be read,
something left behind by a crash, a file whose stat proves nothing yet), `look` gives None: then the writer opens the
index, with all that it can do about it.
"""

from __future__ import annotations

import sys
import threading
from array import array
from bisect import bisect_left
from collections import Counter
from itertools import chain, pairwise

from indexer.errors import StoreError
from indexer.files import Reason, Stats
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.store.disk import DISK
from indexer.store.format import MANIFEST, NEXT, NONE, PREVIOUS, File, Flag, Stat, is_ours
from indexer.store.manifest import FormatError, load
from indexer.store.pieces import pieces_of
from indexer.store.publish import ignores_itself

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Literal

    from indexer.store.disk import Disk
    from indexer.store.manifest import Identity, Manifest
    from indexer.store.pieces import Piece

    _Kind = Literal["B", "I", "q", "Q"]

# What is read here stands in the byte order of the format.
_READABLE = sys.byteorder == "little"
_BYTES = {"B": 1, "I": 4, "q": 8, "Q": 8}


class Known(NamedTuple):
    """The live files of a generation, in no order.

    ``skipped`` is how many of them are known by name only, for what is in them. ``chunks`` counts the live rows. It
    raises StoreError when the index is not what its checksums say.
    """

    generation: int
    stats: Stats
    skipped: int
    chunks: Callable[[], int]


class Proof:
    """Verifies every checksum of a generation in a thread of its own, once it is started."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._problem: Exception | None = None
        self._thread = threading.Thread(target=self._verify, args=(list(pieces),), daemon=True)

    def start(self) -> None:
        """Begin. A call lets go of the interpreter for as long as it hashes a large array."""
        self._thread.start()

    def _verify(self, pieces: list[Piece]) -> None:
        try:
            for piece in pieces:
                piece.verify()
        except StoreError as error:
            self._problem = error

    def holds(self) -> bool:
        """Wait for the end, and tell whether all are what they should be."""
        if self._thread.ident is None:
            self.start()
        self._thread.join()
        return self._problem is None


def look(index_dir: Path, identity: Identity, disk: Disk = DISK) -> tuple[Known, Proof] | None:
    """Read what the current generation knows; None when that is not plain.

    Nothing of what was read is worth anything before the `Proof` was started, and `holds`.
    """
    try:
        manifest = _plain(disk, index_dir, identity) if _READABLE else None
        if manifest is None:
            return None
        segments = [pieces_of(disk, index_dir, entry) for entry in manifest.segments]
        proof = Proof(chain.from_iterable(segment.values() for segment in segments))
        reading = _Reading(manifest, segments)
        return (reading.known(), proof) if reading.is_settled() else None
    except (StoreError, LookupError, ValueError):
        return None


def _plain(disk: Disk, index_dir: Path, identity: Identity) -> Manifest | None:
    """Return the manifest, if a writer that opened the index would have nothing to set right."""
    names = set(disk.names(index_dir))
    if NEXT in names or not ignores_itself(disk, index_dir):
        return None
    manifest = load(disk, index_dir / MANIFEST)
    previous = _previous(disk, index_dir) if PREVIOUS in names else None
    if manifest.identity != identity or not manifest.complete:
        return None
    if previous is not None and previous.generation > manifest.generation:
        return None
    named = manifest.names | (previous.names if previous else frozenset())
    return None if {name for name in names if is_ours(name)} - named else manifest


def _previous(disk: Disk, index_dir: Path) -> Manifest | None:
    """Read the previous manifest; None when it is of another format: an upgrade leaves it there until the next commit."""
    try:
        return load(disk, index_dir / PREVIOUS)
    except FormatError:
        return None


class _Reading:
    """Columns of the live files. What is damaged and not found out yet raises LookupError or ValueError."""

    def __init__(self, manifest: Manifest, segments: Sequence[dict[str, Piece]]) -> None:
        self._generation = manifest.generation
        self._entries = manifest.segments
        self._segments = segments
        self._live: list[int] | None = None
        paths, flags = self._ids(File.PATH), self._ids(File.FLAGS)
        if len(set(paths)) < len(paths) or any(flag & Flag.REMOVED for flag in set(flags)):
            newest = dict(
                zip(paths, range(len(paths)), strict=True)
            )  # of several rows of a path the last counts
            self._live = [at for at in newest.values() if not flags[at] & Flag.REMOVED]
            paths = [paths[at] for at in self._live]
        self._paths = paths
        counts = Counter(self._ids(File.REASON))
        self._reasons = Counter(dict(zip(self._strings(list(counts)), counts.values(), strict=True)))

    def is_settled(self) -> bool:
        """Whether every stat proves that a file is as it was, and no other file systems begin below the root."""
        racy = any(flag & Flag.RACY for flag in set(self._ids(File.FLAGS)))
        return not racy and not self._reasons[Reason.MOUNT.encode()]

    def known(self) -> Known:
        """Read the rest."""
        stats = Stats(
            self._strings(self._paths),
            self._column("file_stats", "Q", Stat.SIZE),
            self._column("file_stats", "q", Stat.MTIME),
            self._column("file_stats", "q", Stat.CTIME),
            self._column("file_stats", "Q", Stat.INODE),
        )
        skipped = len(stats.names) - self._reasons[b""]
        return Known(self._generation, stats, skipped, self._chunk_count)

    def _chunk_count(self) -> int:
        try:
            return self._bound_rows()
        except LookupError as error:
            raise StoreError(f"{self._entries[-1].name}: an id of blocks is out of range") from error

    def _bound_rows(self) -> int:
        cuts = [_values(one["block_offsets"], "I").tolist() for one in self._segments]
        lengths = [end - start for cut in cuts for start, end in pairwise(cut)]
        return sum(lengths[block] for block in self._ids(File.BLOCK) if block != NONE)

    def _ids(self, row: int) -> list[int]:
        return self._column("files", "I", row).tolist()

    def _column(self, name: str, kind: _Kind, row: int) -> array[int]:
        """One row of an array (rows, n), of the live files."""
        values = array(kind)
        for one in self._segments:
            n = one[name].shape[1]
            values.frombytes(_values(one[name], kind)[row * n : (row + 1) * n].cast("B"))
        return values if self._live is None else array(kind, map(values.__getitem__, self._live))

    def _strings(self, ids: list[int]) -> list[bytes]:
        """Bytes of many strings, each named once."""
        wanted = sorted(ids)
        found: list[bytes] = []
        start = base = 0
        for one, entry in zip(self._segments, self._entries, strict=True):
            end = bisect_left(wanted, base + entry.strings, start)
            if start < end:
                found += _texts(one, [number - base for number in wanted[start:end]])
            start, base = end, base + entry.strings
        if wanted == ids:  # no path has come to a segment that was known in an older one
            return found
        by_id = dict(zip(wanted, found, strict=True))
        return [by_id[number] for number in ids]


def _texts(segment: dict[str, Piece], rows: list[int]) -> list[bytes]:
    """Bytes of a segment's own strings, ascending."""
    first, last = rows[0], rows[-1]
    cut = _values(segment["string_offsets"], "I")[first : last + 2].tolist()
    data = bytes(_values(segment["string_bytes"], "B")[: cut[-1]])
    if last - first + 1 == len(rows):  # without a gap, as the paths of a large commit are
        return list(map(data.__getitem__, map(slice, cut, cut[1:])))
    return [data[cut[row - first] : cut[row - first + 1]] for row in rows]


def _values(piece: Piece, kind: _Kind) -> memoryview:
    """The values of an array as they stand on disk, in one line."""
    return piece.data[piece.at : piece.at + piece.length * _BYTES[kind]].cast(kind)
