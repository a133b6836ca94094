"""Paths and the directories above them: which of many lie below which, and the way down to one."""

from __future__ import annotations

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from collections.abc import Set as AbstractSet


def above(path: str) -> Iterator[str]:
    """Yield the directories that a path lies in, the root (the empty path) first."""
    if path:
        yield ""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def outside(paths: Iterable[str], trees: AbstractSet[str]) -> Iterator[str]:
    """Yield the paths that lie below none of some directories; one that is such a directory itself is not below it."""
    return (path for path in paths if trees.isdisjoint(above(path)))


def outermost(trees: AbstractSet[str]) -> frozenset[str]:
    """Return the directories that lie below none of the others."""
    return frozenset(outside(trees, trees))


def way_to(directory: bytes, known: Container[bytes]) -> tuple[bytes, list[bytes]]:
    """Return the nearest known directory at or above one, and those from there down to it, outermost first.

    Directories end with a slash; the top is the empty path, and has to be known.
    """
    unknown: list[bytes] = []
    while directory not in known:
        unknown.append(directory)
        directory = directory[: directory.rfind(b"/", 0, -1) + 1]
    return directory, unknown[::-1]
