"""The one predicate of what is in the tree, for the walk and for a single path alike.

A path is in when

- no part of it is a home of version control or our own (``.git .hg .svn .indexer``),
- the git work tree it lies in (the innermost one: nested repositories count, each by its own rules) tracks it, or
  does not ignore it; outside git the ``.gitignore`` files and the user's global one are applied all the same,
- no ``.indexerignore`` on its way leaves it out (gitignore syntax, nested, with negation),
- no pattern of ``scan.exclude`` matches it, and one of ``scan.include`` does, if there are any.

A nested repository in an ignored directory is out as a whole. Nothing here looks at the file itself: size, kind and
content are the walk's and the reader's business.
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH112

from __future__ import annotations

import os
import stat as modes
from pathlib import Path

from indexer.errors import RootError
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.scan.names import NEVER_ENTERED
from indexer.scan.nested import IgnoreFiles, without
from indexer.scan.patterns import Patterns, compile_patterns
from indexer.scan.tree import Tree, is_repository, open_tree
from indexer.scan.trees import way_to

if TYPE_CHECKING:
    from typing import Self

    from indexer.settings import ScanSettings

IGNORE_FILE = b".indexerignore"
# A change of one of these, anywhere in the tree, changes verdicts: load the rules anew.
_GOVERNING = frozenset({".gitignore", ".indexerignore", ".git"})


class Place(NamedTuple):
    """The tree that a directory belongs to, and the length of the path of that tree's top below the root."""

    tree: Tree
    depth: int


class Rules:
    """What is in the tree below a root, as it stood when it was first asked for.

    Ask for single paths as often as you like: after the first question of a repository no process is started. Load
    a new one for each walk, when `governs` says so of a changed path, and when `changed` says so.
    """

    def __init__(self, root: bytes, settings: ScanSettings) -> None:
        self.root = root
        self.tree, refusal = open_tree(root)
        self.notes: list[str] = []
        self._note(b"", refusal)
        self.own = IgnoreFiles(root, IGNORE_FILE)
        exclude = _patterns(settings.exclude)
        self.exclude = None if exclude is None else IgnoreFiles(root, b"", [exclude])
        self._include = _patterns(settings.include)
        self.narrows_by_settings = bool(settings.exclude or settings.include)
        self._included: dict[bytes, bool] = {b"": False}
        self._places: dict[bytes, Place | None] = {b"": Place(self.tree, 0)}

    @classmethod
    def load(cls, root: str | os.PathLike[str], settings: ScanSettings) -> Self:
        """Read the rules of a root. Raises `RootError` when it is not a directory."""
        top = os.path.realpath(os.fsencode(root))
        if not os.path.isdir(top):
            raise RootError(f"{Path(root)} is not a folder; name one that is there")
        return cls(top.rstrip(b"/") + b"/", settings)

    def file(self, path: str) -> bool:
        """Tell whether the walk would come to a file (or symbolic link) of this path."""
        name = os.fsencode(path)
        directory = name[: name.rfind(b"/") + 1]
        if name[len(directory) :] in NEVER_ENTERED or not self.narrowed_in(name, is_directory=False):
            return False
        place = self.place(directory)
        if place is None:
            return False
        inner = name[place.depth :]
        return place.tree.tracks(inner) or not place.tree.ignored(inner, is_directory=False)

    def directory(self, path: str) -> bool:
        """Tell whether the walk would enter a directory: something in it may be in. The root is the empty path."""
        if not path:
            return True
        name = os.fsencode(path)
        if not self.narrowed_in(name, is_directory=True):
            return False
        place = self.place(name + b"/")
        if place is None:
            return False
        inner = name[place.depth :]
        return not inner or place.tree.tracks_below(inner) or not place.tree.ignored(inner, is_directory=True)

    def governs(self, path: str) -> bool:
        """Tell whether a change of this path changes the rules."""
        return path[path.rfind("/") + 1 :] in _GOVERNING

    def inputs(self) -> tuple[str, ...]:
        """Return the files outside the tree's own ignore files that the rules hang on, as absolute paths."""
        return tuple(sorted({os.fsdecode(path) for tree in self._trees() for path in tree.inputs()}))

    def changed(self) -> bool:
        """Tell whether one of `inputs` is not as it was when the rules read it."""
        return any(tree.changed() for tree in self._trees())

    def changed_by(self, path: str) -> bool:
        """Tell whether the rules are behind, now that one of `inputs` was written: git's index may be as it was."""
        name = os.fsencode(path)
        indexes = [tree for tree in self._trees() if tree.index_file == name]
        return not indexes or any(tree.tracks_others() for tree in indexes)

    def _trees(self) -> list[Tree]:
        return list(
            {id(place.tree): place.tree for place in self._places.values() if place is not None}.values()
        )

    def forget(self, *paths: str) -> None:
        """Drop what is kept of directories and all below them, when they were made, moved or removed."""
        directories = [os.fsencode(path) + b"/" for path in paths]
        self.own.forget(*directories)
        if any(directory in self._places for directory in directories):
            for place in {p for p in self._places.values() if p is not None}:
                place.tree.forget(*(directory[place.depth :] for directory in directories))
            self._places = without(self._places, directories)

    def narrowed_in(self, path: bytes, *, is_directory: bool) -> bool:
        """Tell whether our own rules (names never entered, ``.indexerignore``, settings) let a path in."""
        if not NEVER_ENTERED.isdisjoint(path.split(b"/")):
            return False
        if self.own.ignored(path, is_directory=is_directory):
            return False
        if self.exclude is not None and self.exclude.ignored(path, is_directory=is_directory):
            return False
        return is_directory or self.included(path)

    def included(self, path: bytes) -> bool:
        """Tell whether ``scan.include`` asks for a file, by its own name or by a directory above it."""
        if self._include is None:
            return True
        verdict = self._include.verdict(path, is_directory=False)
        return self._inherited(path[: path.rfind(b"/") + 1]) if verdict is None else verdict

    def _inherited(self, directory: bytes) -> bool:
        assert self._include is not None
        known, unknown = way_to(directory, self._included)
        wanted = self._included[known]
        for inner in unknown:
            verdict = self._include.verdict(inner[:-1], is_directory=True)
            wanted = wanted if verdict is None else verdict
            self._included[inner] = wanted
        return wanted

    def place(self, directory: bytes) -> Place | None:
        """Return the tree a directory (with its slash) belongs to; None when it cannot be in at all."""
        places = self._places
        if directory in places:
            return places[directory]
        known, unknown = way_to(directory, places)
        place = places[known]
        for inner in unknown:
            place = None if place is None else self._step(inner, place)
            places[inner] = place
        return place

    def _step(self, directory: bytes, outer: Place) -> Place | None:
        """Go one directory down: the same tree, a nested one, or out."""
        absolute = self.root + directory
        try:
            if modes.S_ISLNK(os.lstat(absolute[:-1]).st_mode):
                return None
        except OSError:
            return outer
        inner = directory[outer.depth : -1]
        if not is_repository(absolute):
            # The folder of a submodule that is not checked out is nobody's.
            return None if outer.tree.is_submodule(inner) else outer
        if outer.tree.tracks_below(inner):
            return outer
        if not outer.tree.is_submodule(inner) and outer.tree.ignored(inner, is_directory=True):
            return None
        return self.nested(directory)

    def nested(self, directory: bytes) -> Place:
        """Return a nested repository's tree; one that git refuses goes by its ``.gitignore`` files, and is told."""
        known = self._places.get(directory)
        if known is not None and known.depth == len(directory):
            return known
        tree, refusal = open_tree(self.root + directory, nested=True)
        self._note(directory, refusal)
        place = Place(tree, len(directory))
        self._places[directory] = place
        return place

    def _note(self, directory: bytes, refusal: str) -> None:
        if refusal:
            name = os.fsdecode(directory) or "the root"
            self.notes.append(
                f"git does not answer for {name}, so tracked files in ignored folders are left out: {refusal}"
            )


def _patterns(lines: tuple[str, ...]) -> Patterns | None:
    return compile_patterns("\n".join(lines).encode("utf-8", "surrogateescape"))
