"""Near-duplicates: pieces of code that stand, all but literally, in a file of a project that is left out.

Shingles (Broder 1997): every five neighbouring words of a text, in lower case, as one 64-bit hash. A piece is a copy
when 60 % of its shingles occur in one and the same file. Names of packages and folders do not come into it, so that
this also finds what was vendored, forked or copied by hand. The shingles are made from folders on disk, and kept, where
that is asked for, in a file of the user's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_intdigest

from indexer.train.places import MOST_BYTES, language_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    U64 = NDArray[np.uint64]

SHARE = 0.6  # of a piece's shingles, in one file
FEWEST = 10  # shingles: what is shorter is everybody's
_WORDS = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_LENGTH = 5
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_REMEMBERED = 2_000_000  # words, before they are all forgotten


class _Words(dict[bytes, int]):
    """Word -> hash of its lower case; remembering saves most of the time."""

    def __missing__(self, word: bytes) -> int:
        if len(self) > _REMEMBERED:
            self.clear()
        number = self[word] = xxh3_64_intdigest(word.lower())
        return number


_words = _Words()


def shingles(text: bytes) -> U64:
    """Return the different shingles of a text, ascending, shape (n,)."""
    words = _WORDS.findall(text)
    if len(words) < _LENGTH:
        return np.empty(0, np.uint64)
    hashes = np.fromiter(map(_words.__getitem__, words), np.uint64, len(words))
    n = len(words) - _LENGTH + 1
    joined = np.zeros(n, np.uint64)
    for offset in range(_LENGTH):  # arithmetic modulo 2 ** 64
        joined = joined * _FACTOR + hashes[offset : offset + n]
    return np.unique(joined)


class Twins:
    """The shingles of some files, to look others up in."""

    def __init__(self, files: Iterable[tuple[str, bytes]]) -> None:
        """Take in files as (name, content)."""
        self.names: list[str] = []
        found = []
        for name, text in files:
            self.names.append(name)
            found.append(shingles(text))
        hashes = np.concatenate([*found, np.empty(0, np.uint64)])
        owner = np.repeat(np.arange(len(found), dtype=np.uint32), [len(some) for some in found])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._owner = hashes[order], owner[order]

    def save(self, path: Path) -> None:
        """Keep the shingles, so that a next run need not read the files again."""
        np.savez(path, hashes=self._hashes, owner=self._owner, names=np.array(self.names))

    @classmethod
    def load(cls, path: Path) -> Twins:
        """Return what `save` kept."""
        with np.load(path) as kept:
            twins = cls([])
            twins.names = kept["names"].tolist()
            twins._hashes, twins._owner = kept["hashes"], kept["owner"]
        return twins

    def copied_from(self, code: str) -> str:
        """Return the name of the file that a piece of code was copied from, "" for none."""
        wanted = shingles(code.encode("utf-8", "replace"))
        needed = max(1, int(np.ceil(SHARE * len(wanted))))
        if len(wanted) < FEWEST or not len(self._hashes):
            return ""
        first = np.searchsorted(self._hashes, wanted)
        there = self._hashes[np.minimum(first, len(self._hashes) - 1)] == wanted
        if int(there.sum()) < needed:
            return ""
        last = np.searchsorted(self._hashes, wanted[there], side="right")
        pairs = zip(first[there].tolist(), last.tolist(), strict=True)
        owners = np.concatenate([self._owner[start:end] for start, end in pairs])
        often = np.bincount(owners)
        best = int(often.argmax())
        return self.names[best] if often[best] >= needed else ""


def files_of(folders: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    """Name and content of every source file below some folders, tests and all."""
    for folder in folders:
        for place, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                path = Path(place, name)
                if language_of(name, "") and path.is_file() and path.stat().st_size <= MOST_BYTES:
                    yield str(path), path.read_bytes()
