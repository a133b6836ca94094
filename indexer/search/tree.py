"""What ranking knows of a tree by its paths alone; kept from one generation to the next while no file comes or goes."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from indexer.search.columns import F64, I64, Words
from indexer.search.dense import dots
from indexer.search.places import places_of
from indexer.store.pending import quantise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.embed import Embedder


# Files that stand for the folder they are in.
_OF_THE_FOLDER = frozenset({"index", "mod", "init", "__init__"})
_places_of = lru_cache(1 << 17)(places_of)


class TreeColumns:
    """Columns over the files (f,) of a tree, in the order of their paths. Threads may share one."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self._places = np.full(len(paths), -1, np.int16)  # what nobody has asked for is unknown
        self._stem_vectors: dict[tuple[str, str], tuple[NDArray[np.int8], NDArray[np.float32]]] = {}

    @classmethod
    def of(cls, paths: Sequence[str], before: TreeColumns | None) -> TreeColumns:
        """Take over the columns of the generation before where the paths are the same."""
        return before if before is not None and before.paths == paths else cls(paths)

    def places(self, files: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Kind of place (bits of `places.Place`) of each of the given files."""
        bits = self._places[files]
        unknown = np.flatnonzero(bits < 0)
        if len(unknown):
            bits[unknown] = [_places_of(self.paths[file]) for file in files[unknown].tolist()]
            self._places[files] = bits
        return bits.astype(np.uint8)

    @cached_property
    def depth(self) -> I64:
        """How many folders each file lies in."""
        return np.fromiter((path.count("/") for path in self.paths), np.int64, len(self.paths))

    def files_called(self, wanted: str) -> list[int]:
        """Files whose path is ``wanted`` or ends with it after a ``/``, letters' case aside."""
        end = "/" + wanted
        same = self._files_by_name.get(wanted.rpartition("/")[2], [])
        return [file for file in same if ("/" + self.paths[file].lower()).endswith(end)]

    @cached_property
    def _files_by_name(self) -> dict[str, list[int]]:
        files: dict[str, list[int]] = {}
        for file, path in enumerate(self.paths):
            files.setdefault(path.rpartition("/")[2].lower(), []).append(file)
        return files

    @cached_property
    def files_by_stem(self) -> dict[str, list[int]]:
        """Files by their name without suffixes, in lower case; files like ``index.js`` by their folder's."""
        files: dict[str, list[int]] = {}
        for file, path in enumerate(self.paths):
            folder, _, name = path.rpartition("/")
            stem = name.lstrip(".").split(".")[0].lower()
            if stem in _OF_THE_FOLDER and folder:
                stem = folder.rpartition("/")[2].lower()
            files.setdefault(stem, []).append(file)
        return files

    @cached_property
    def stem_words(self) -> Words:
        """Terms of the files' names, without their suffixes."""
        names = [_bytes(path).rpartition(b"/")[2] for path in self.paths]
        return Words([name.lstrip(b".").split(b".")[0] for name in names])

    @cached_property
    def folder_words(self) -> Words:
        """Terms of the folders' paths; ``folder`` tells each file's."""
        return Words(list(self._folders))

    @cached_property
    def folder(self) -> I64:
        """Each file's folder, as a place in `folder_words`."""
        folders = self._folders
        return np.array([folders[_bytes(path).rpartition(b"/")[0]] for path in self.paths], np.int64)

    @cached_property
    def _folders(self) -> dict[bytes, int]:
        unique = dict.fromkeys(_bytes(path).rpartition(b"/")[0] for path in self.paths)
        return {folder: at for at, folder in enumerate(unique)}

    def stems_like(self, embedder: Embedder, vector: NDArray[np.float32]) -> F64:
        """Cosine of a vector and that of each file's name together with its folder's (f,)."""
        who = (embedder.name, embedder.version)
        if who not in self._stem_vectors:
            self._stem_vectors[who] = quantise(embedder.embed([_last_two(path) for path in self.paths]))
        vectors, scales = self._stem_vectors[who]
        return dots([(0, vectors, scales)], len(self.paths), vector)


def _last_two(path: str) -> str:
    """Words of a path's last folder and of its name without the suffix."""
    *folders, name = path.split("/")
    return " ".join([*folders[-1:], name.lstrip(".").rpartition(".")[0] or name])


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
