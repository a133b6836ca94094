"""Repositories in the making: a ``.git`` that the rules may have met before it was one.

``git init`` and ``git clone`` make the folder first and what makes it a repository after that, in files that nobody
watches. Rules that were loaded in between take the place for a plain folder, and would go on doing so.
"""

# Paths are bytes here, and pathlib knows only str.

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from indexer.scan.tree import Repository, is_repository

if TYPE_CHECKING:
    from indexer.scan.ignore import Rules

_MAKING = ("HEAD", "objects", "refs")  # what `is_repository` asks for


class Homes:
    """The directories of a tree that have a ``.git``. Paths are bytes relative to the root."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._homes: dict[bytes, bool] = {}  # whether it was a repository when it was last looked at

    def note(self, directory: bytes) -> None:
        """Take note that something called ``.git`` has come into a directory, or was found there."""
        self._homes[directory] = False

    def __contains__(self, directory: bytes) -> bool:
        return directory in self._homes

    def inputs(self) -> list[str]:
        """Return the files, as absolute paths, that will make a repository of what is none yet."""
        unmade = [os.fsdecode(self._place(home)) for home, made in self._homes.items() if not made]
        return [f"{place}.git/{name}" for place in unmade for name in _MAKING]

    def ripened(self, rules: Rules) -> bool:
        """Look again; tell whether one has become a repository that these rules do not know as one.

        Told once for each: there are those that rules will never take for one.
        """
        ripe = False
        for home in [home for home, made in self._homes.items() if not made]:
            place = self._place(home)
            if not os.path.lexists(place + b".git"):
                del self._homes[home]
            elif is_repository(place):
                self._homes[home] = True
                ripe = ripe or not _knows(rules, home)
        return ripe

    def _place(self, home: bytes) -> bytes:
        return self._root + home + b"/" if home else self._root


def _knows(rules: Rules, home: bytes) -> bool:
    """Tell whether the rules have a directory as the top of a repository, or as out in any case."""
    directory = home + b"/" if home else b""
    place = rules.place(directory)
    if place is None:
        return True
    tree = place.tree
    return place.depth == len(directory) and isinstance(tree, Repository) and not tree.where.prefix
