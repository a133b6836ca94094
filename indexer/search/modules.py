"""Files by what an import may call them: a place in the tree, or the end of one.

The *module path* of a file is its path without suffix, where ``a/__init__.py``, ``a/index.ts`` or ``a/mod.rs`` is the
module ``a``. Ends of paths are found in a sorted list of the paths written backwards (``c/b/a/``): the longest common
end is the longest common beginning there, and whatever has it stands beside the place where a search would put it.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST = 200  # files of one name: beyond that a name says nothing


class Naming(NamedTuple):
    """How the files of a language are called.

    ``folder_stems``: stems that stand for their folder. ``fold``: letters' case, ``_`` and ``-`` do not count. ``whole``: the
    name is used with its suffix. ``first_dot``: the stem ends at the first dot (``Client.jvm.kt``), not at the last.
    ``folders``: a module is a folder, with all files in it.
    """

    folder_stems: frozenset[str] = frozenset()
    fold: bool = False
    whole: bool = False
    first_dot: bool = False
    folders: bool = False


def folded(name: str) -> str:
    """A name without what spellings differ in: ``JoinHandle`` and ``join_handle`` are the same."""
    return name.lower().replace("_", "").replace("-", "")


def joined(folder: str, name: str) -> str:
    """``folder/name``; just the name at the root."""
    return f"{folder}/{name}" if folder and name else folder or name


def above(path: str) -> str:
    """The folder of a path, empty for the root (and for the root's own)."""
    return path.rpartition("/")[0]


def is_plain(path: str) -> bool:
    """Whether there is nothing to take away from a relative path, as in most."""
    return bool(path) and not ("./" in path or "//" in path or path[0] == "/" or path[-1] in "/.")


def resolved(folder: str, path: str) -> str | None:
    """A relative path from a folder, ``.`` and ``..`` taken away; None when it leads out of the root."""
    if is_plain(path):
        return joined(folder, path)
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/".join(parts)


def _backwards(path: str) -> str:
    return "/".join(reversed(path.split("/"))) + "/"


def _common(first: str, second: str) -> int:
    """How many whole parts two backward paths begin with alike."""
    count = 0
    for one, other in zip(first.split("/")[:-1], second.split("/")[:-1], strict=False):
        if one != other:
            break
        count += 1
    return count


class Modules:
    """The modules of some files, each given as (number, path)."""

    def __init__(self, files: Iterable[tuple[int, str]], naming: Naming) -> None:
        self.naming = naming
        self._files = list(files)
        self.at: dict[str, list[int]] = {}
        for number, path in self._files:
            self.at.setdefault(self.module(path), []).append(number)

    def module(self, path: str) -> str:
        """The module path of a file."""
        folder, _, name = path.rpartition("/")
        naming = self.naming
        if naming.folders:
            name = ""
        elif not naming.whole:
            dot = name.find(".", 1) if naming.first_dot else name.rfind(".", 1)
            name = (name[:dot] if dot > 0 else name).removesuffix(".d")
            if name in naming.folder_stems:
                name = ""
        path = joined(folder, name)
        return folded(path) if naming.fold else path

    @cached_property
    def _ends(self) -> tuple[list[str], list[str]]:
        """All module paths backwards, in order, and the modules in the same order."""
        ends = sorted(zip(map(_backwards, self.at), self.at, strict=True))
        return [key for key, _ in ends], [module for _, module in ends]

    @cached_property
    def names(self) -> frozenset[str]:
        """The last parts of all modules: most of what is looked for is known by it not to be there."""
        return frozenset(module.rpartition("/")[2] for module in self.at)

    @cached_property
    def places(self) -> frozenset[str]:
        """All modules and all folders around them."""
        places = set(self.at)
        for module in self.at:
            folder = above(module)
            while folder and folder not in places:
                places.add(folder)
                folder = above(folder)
        return frozenset(places)

    @cached_property
    def folders(self) -> Modules:
        """The same files, as folders that hold them."""
        return Modules(self._files, Naming(fold=self.naming.fold, folders=True))

    def ending(self, parts: Sequence[str]) -> list[str]:
        """Modules whose path ends with the parts; none when there are very many."""
        if not parts or parts[-1] not in self.names:
            return []
        key = "/".join(reversed(parts)) + "/"
        keys, modules = self._ends
        first = bisect_left(keys, key)
        last = bisect_left(keys, key[:-1] + "0", first)  # "0" comes right after "/"
        return modules[first:last] if last - first <= _MOST else []

    def like(self, parts: Sequence[str]) -> tuple[int, list[str]]:
        """The longest end of the parts that modules' paths end with, as a number of parts, and these modules."""
        if not parts or parts[-1] not in self.names:
            return 0, []
        key = "/".join(reversed(parts)) + "/"
        keys, _ = self._ends
        at = bisect_left(keys, key)
        best = max((_common(key, keys[near]) for near in (at - 1, at) if 0 <= near < len(keys)), default=0)
        return best, self.ending(parts[-best:]) if best else []

    def longest(self, base: str, parts: Sequence[str], least: int) -> list[int]:
        """Files of the deepest module below ``base`` that the parts lead to, by at least so many of them."""
        for count in range(len(parts), least - 1, -1):
            found = self.at.get(joined(base, "/".join(parts[:count])))
            if found:
                return found
        return []

    def files(self, modules: Iterable[str]) -> list[int]:
        """The files of modules."""
        return [number for module in modules for number in self.at[module]]
