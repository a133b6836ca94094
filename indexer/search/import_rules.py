"""What an import means: from its text, and the file that it stands in, to files of the tree.

Nothing of the languages' tools is read (no module lists, no build files): a package root is wherever the path of a file
ends as the import says. So each rule looks near the importing file first, where the language does, then for files
whose paths end with what is asked. What is found nowhere is somebody else's.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from indexer.search.modules import Modules, Naming, folded, resolved

if TYPE_CHECKING:
    from collections.abc import Sequence


class Tree:
    """All paths of the tree."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    @cached_property
    def number(self) -> dict[str, int]:
        """Files by path."""
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def whole(self) -> Modules:
        """All files, with their suffixes."""
        return Modules(enumerate(self.paths), Naming(whole=True))

    def file(self, folder: str, path: str) -> list[int]:
        """The file that a path from a folder leads to, if there is one."""
        place = resolved(folder, path)
        number = None if place is None else self.number.get(place)
        return [] if number is None else [number]

    def ending(self, path: str) -> list[int]:
        """Files whose paths end with a path; ``..`` at its beginning is not known to lead anywhere."""
        name = path.rpartition("/")[2]
        if name not in self.whole.names and name not in {"", ".", ".."}:
            return []
        parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
        return self.whole.files(self.whole.ending(parts))


class Rule:
    """One family of languages: what an import means near the file it stands in, in a named root, anywhere.

    ``members``: so many parts at an import's end may be members of what is imported. ``by_file``: `near` depends on the
    importing file itself, not on its folder alone.
    """

    naming = Naming()
    separator = "."
    members = 1
    by_file = False

    def __init__(self, tree: Tree, files: Sequence[int]) -> None:
        self.tree = tree
        self.modules = Modules([(number, tree.paths[number]) for number in files], self.naming)

    def parts(self, text: str) -> list[str]:
        """The parts of an import that says where from the root of some package to look; none of any other."""
        parts = [part.strip("` ") for part in text.split(self.separator)]
        return [folded(part) if self.naming.fold else part for part in parts if part]

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        """Files that an import means because of the file (and its folder) that it stands in."""
        del folder, path, text
        return ()

    def near_of(self, asked: Sequence[tuple[str, str, str]]) -> list[Sequence[int]]:
        """`near` of many, each a folder, a path and a text."""
        return [self.near(*one) for one in asked]

    def anywhere(self, text: str) -> Sequence[int]:
        """Files that an import means wherever it stands; of several the nearest will be taken."""
        return self.like(self.parts(text))

    def head(self, parts: Sequence[str]) -> int:
        """How many parts name a project."""
        return 1 if parts else 0

    def in_root(self, parts: Sequence[str]) -> list[int]:
        """Files that parts mean when they begin in the root of the tree."""
        return self.modules.longest("", parts, max(len(parts) - self.members, 0))

    def root_name(self, parts: Sequence[str]) -> int:
        """How many parts at the beginning name the root of the tree, if the others are a module in it; else 0."""
        for count in range(len(parts), max(len(parts) - self.members, 1) - 1, -1):
            for start in range(self.head(parts), count):
                if "/".join(parts[start:count]) in self.modules.at:
                    return start
        return 0

    def is_whole(self, parts: Sequence[str]) -> bool:
        """Whether a path in the tree ends with all parts, members aside, so that none of them names the root."""
        least = max(len(parts) - self.members, 1)
        return any(self.modules.ending(parts[:count]) for count in range(len(parts), least - 1, -1))

    def exactly(self, parts: Sequence[str]) -> list[int]:
        """Files of the modules that end with all parts, members aside, and begin in a folder that is no module."""
        for count in range(len(parts), max(len(parts) - self.members, 1) - 1, -1):
            found = [one for one in self.modules.ending(parts[:count]) if self._is_top(one, count)]
            if found:
                return self.modules.files(found)
        return []

    def like(self, parts: Sequence[str]) -> list[int]:
        """Files of the modules that end as the parts do, members aside; with two parts in common at least."""
        for count in range(len(parts), max(len(parts) - self.members, 1) - 1, -1):
            common, found = self.modules.like(parts[:count])
            if common < 2:
                found = [one for one in found if common == count and self._is_top(one, count)]
            if found:
                return self.modules.files(found)
        return []

    def _is_top(self, module: str, parts: int) -> bool:
        """Whether a module's last parts begin in a folder that is no module."""
        return "/".join(module.split("/")[:-parts]) not in self.modules.at


class Family(NamedTuple):
    """The languages whose files import each other, and their rule."""

    languages: frozenset[str]
    rule: type[Rule]


def family(rule: type[Rule], *languages: str) -> Family:
    """The family of some languages."""
    return Family(frozenset(languages), rule)
