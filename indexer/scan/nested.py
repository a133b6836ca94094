"""Ignore files of one name in every directory of a tree, and the verdict of all that speak of a path.

The last line that matches decides, the deepest file first; but below an ignored directory nothing can be brought
back, so each directory is judged before what is in it. Verdicts of directories are kept: a walk and a single path
ask the same question and pay for it once.
"""

from __future__ import annotations

import os
import stat as modes

from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.scan.patterns import Patterns, compile_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T")


# Git sets no bound; a megabyte of patterns is no ignore file any more, and would cost seconds to compile.
_LARGEST = 1_000_000


class Scope(NamedTuple):
    """One ignore file: its rules hold for paths below it, and see them without their first ``base`` bytes."""

    base: int
    patterns: Patterns


# The scopes that speak of a directory's entries, outermost first; None when the directory itself is ignored.
Level = tuple[Scope, ...] | None


def load_patterns(path: bytes, *, follow: bool) -> Patterns | None:
    """Compile the ignore file at an absolute path; None when there is none, or nothing in it.

    ``follow`` is for the user's own files. One that lies in the tree is not followed when it is a symbolic link.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        if not modes.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return compile_patterns(os.read(descriptor, _LARGEST))
    except OSError:
        return None
    finally:
        os.close(descriptor)


class IgnoreFiles:
    """All ignore files called ``name`` below ``top`` (absolute, with its slash), over the rules in ``base``.

    Paths are bytes relative to ``top``; directories end with a slash, the top is the empty path. An empty ``name``
    means that only the base rules speak.
    """

    def __init__(self, top: bytes, name: bytes, base: Sequence[Patterns | None] = ()) -> None:
        self._top = top
        self._name = name
        self._base = tuple(Scope(0, patterns) for patterns in base if patterns is not None)
        self._levels: dict[bytes, Level] = {}

    def level(self, directory: bytes, *, bare: bool = False) -> Level:
        """Return what speaks of the entries of a directory, None when it is ignored itself.

        ``bare``: the directory is known to hold no ignore file, so that none is looked for.
        """
        levels = self._levels
        if directory in levels:
            return levels[directory]
        pending = []
        here = directory
        while here and here not in levels:
            pending.append(here)
            here = here[: here.rfind(b"/", 0, -1) + 1]
        if here not in levels:
            levels[b""] = self._with_file(b"", self._base)
        level = levels[here]
        for inner in reversed(pending):
            if level is not None and matches(level, inner[:-1], is_directory=True):
                level = None
            if level is not None and not (bare and inner == directory):
                level = self._with_file(inner, level)
            levels[inner] = level
        return level

    def ignored(self, path: bytes, *, is_directory: bool) -> bool:
        """Tell whether a path is ignored, by a rule of its own or together with a directory above it."""
        level = self.level(path[: path.rfind(b"/") + 1])
        return level is None or matches(level, path, is_directory=is_directory)

    def forget(self, *directories: bytes) -> None:
        """Drop what is kept of directories and all below them; it is read again when asked for."""
        self._levels = without(self._levels, directories)

    def _with_file(self, directory: bytes, level: tuple[Scope, ...]) -> tuple[Scope, ...]:
        if not self._name:
            return level
        patterns = load_patterns(self._top + directory + self._name, follow=False)
        return level if patterns is None else (*level, Scope(len(directory), patterns))


def without(kept: dict[bytes, T], directories: Sequence[bytes]) -> dict[bytes, T]:
    """Return what is kept of other directories than these and those below them, in one pass however many they are.

    Whatever is kept of a directory is kept of all above it too, so nothing need be done for one that is unknown.
    """
    gone = {directory for directory in directories if directory in kept}
    if not gone:
        return kept
    return {directory: value for directory, value in kept.items() if gone.isdisjoint(_with_above(directory))}


def _with_above(directory: bytes) -> Iterator[bytes]:
    while directory:
        yield directory
        directory = directory[: directory.rfind(b"/", 0, -1) + 1]


def matches(level: tuple[Scope, ...], path: bytes, *, is_directory: bool) -> bool:
    """Hold a path, relative to the top, against the rules of its directory."""
    for base, patterns in reversed(level):
        verdict = patterns.verdict(path[base:], is_directory=is_directory)
        if verdict is not None:
            return verdict
    return False
