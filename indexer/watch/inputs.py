"""Watching single files that the rules hang on, most of them outside the tree: git's index, the user's excludes...

Such a file may be missing, be replaced by renaming, or be a link. So the directory that holds it is watched, and of it
that name alone counts; while the directory is missing, the nearest one above it, and the next name on the way.
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH112, PTH119, PTH120

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indexer.scan.tree import Stamp, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_TRIES = 5  # while directories come and go under us


class Inputs:
    """The directories that are watched for the sake of some names in them."""

    def __init__(self, add: Callable[[bytes], int]) -> None:
        self._add = add
        self._paths: tuple[str, ...] = ()
        # What could not be watched is looked at instead.
        self._blind: dict[bytes, Stamp] = {}
        self._files: dict[tuple[int, bytes], set[str]] = {}
        self.names: dict[int, frozenset[bytes]] = {}

    def place(self, paths: Iterable[str]) -> set[int]:
        """Watch for changes of these files from now on; return the descriptors that are needed no more."""
        self._paths = tuple(paths)
        self._files = {}
        blind = set()
        for path in self._paths:
            encoded = os.fsencode(path)
            for way in {encoded, os.path.realpath(encoded)}:
                if not self._on_the_way(way, path):
                    blind.add(encoded)
        names: dict[int, set[bytes]] = {}
        for wd, name in self._files:
            names.setdefault(wd, set()).add(name)
        before = self.names
        self._blind = {path: self._blind.get(path) or stamp(path) for path in blind}
        self.names = {wd: frozenset(wanted) for wd, wanted in names.items()}
        return before.keys() - self.names.keys()

    def _on_the_way(self, file: bytes, told: str) -> bool:
        """Watch the directory of a file, or the nearest one above that is there; ``told`` is what the file is called."""
        for _ in range(_TRIES):
            path = file
            while (wd := self._add(os.path.dirname(path))) < 0:
                if path == b"/" or os.path.isdir(os.path.dirname(path)):
                    return False
                path = os.path.dirname(path)
            named = self._files.setdefault((wd, os.path.basename(path)), set())
            named.add(told if path == file else "")
            # One that came since it was found missing is reported to nobody: look again.
            if path == file or not os.path.isdir(path):
                return True
        return False

    def concerned(self, wd: int, name: bytes) -> set[str]:
        """Return which of the files a reported name is; the empty path for what lies on the way to one."""
        return self._files.get((wd, name), set())

    def moved(self) -> bool:
        """Tell whether one of the files that cannot be watched is not as it was."""
        changed = False
        for path, before in self._blind.items():
            now = stamp(path)
            changed = changed or now != before
            self._blind[path] = now
        return changed
