"""What the imports of a tree mean: near the files that they stand in, anywhere, or in a root that has a name.

The root of a tree may be a package itself, whose name is then in the imports and not in the paths (``absl/base/config.h``
where the tree has ``base/config.h``). So each import that is found in no other way casts a ballot for what would have
to be taken away for it to be found, or against, and the name that most of them agree on is the root's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer.search.file_graph import unique
from indexer.search.import_languages import FAMILIES, families
from indexer.search.import_rules import Tree
from indexer.search.modules import above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.search.import_rules import Rule
    from indexer.store import Snapshot

I64 = NDArray[np.int64]
Roots = dict[int, tuple[str, ...]]

_MOST = 20  # files that one import may mean
_MOST_FOLDERS = 5  # equally near folders that they may lie in
_DEEPER = (
    2  # parts beyond a project's name that a ballot against it tells: the root may be a folder in the project
)
_MUCH = 2  # so many imports must say that the root has a name for one that says it has not


class Ballot(NamedTuple):
    """What one import says of the root's name: none (``root`` is empty), this one; or nothing that begins like this."""

    family: int
    root: tuple[str, ...]
    for_it: bool = True


class Meaning(NamedTuple):
    """What an import means wherever it stands: by files' paths alone (ascending), and what it says of the root's name."""

    parts: tuple[str, ...]
    found: list[int]
    ballot: int


class Asked(NamedTuple):
    """Imports (i,) and their answers (a,), and ballots: file and ballot (2, b).

    ``importer`` and ``answer`` (i,): the file of each import and the number of its answer. An answer is ``near``, files
    near the one that the import stands in; or where these are none, ``meaning`` seen from ``file``.
    """

    importer: I64
    answer: I64
    file: list[int]
    near: list[Sequence[int]]
    meaning: list[Meaning | None]
    ballots: I64


class Resolver:
    """The meaning of imports in one tree; remembered for the next graph."""

    def __init__(self, paths: Sequence[str], language: I64) -> None:
        self._paths = paths
        self._family = families(language)
        self._tree = Tree(paths)
        self._rules: dict[int, Rule] = {}
        self._meanings: dict[tuple[int, str], Meaning] = {}
        self._ballots: dict[Ballot, int] = {}
        self._folders = [above(path) for path in paths]
        self._around: dict[str, tuple[str, ...]] = {}
        folders: dict[str, int] = {}
        numbers = [folders.setdefault(folder, len(folders)) for folder in self._folders]
        by_file = np.array([family.rule.by_file for family in FAMILIES], np.bool_)[self._family]
        self._place = np.where(by_file, len(folders) + np.arange(len(paths)), np.array(numbers, np.int64))

    def ask(self, snapshot: Snapshot, files: I64) -> Asked:
        """Look up all imports of the given files, the same ones of the same place once."""
        offsets, ids = snapshot.imported
        asked = np.zeros(len(self._paths), np.bool_)
        asked[files] = self._family[files] >= 0
        importer = np.repeat(np.arange(len(self._paths)), np.diff(offsets))
        chosen = asked[importer]
        importer, ids = importer[chosen], ids[chosen]
        names, text = np.unique(ids, return_inverse=True)
        question = (self._family[importer] * 2 * len(self._paths) + self._place[importer]) * len(names) + text
        _, first, answer = np.unique(question, return_index=True, return_inverse=True)
        texts = snapshot.strings(names)
        asking = importer[first].tolist()
        near, meaning = self._answers(asking, [texts[at] for at in text[first].tolist()])
        ballot = np.array([one.ballot if one else -1 for one in meaning], np.int64)[answer]
        ballots = np.stack((importer, ballot))[:, ballot >= 0]
        return Asked(importer, answer, asking, near, meaning, ballots)

    def _answers(
        self, files: Sequence[int], texts: Sequence[str]
    ) -> tuple[list[Sequence[int]], list[Meaning | None]]:
        """What texts mean near the files that they stand in, and where they mean nothing there, anywhere."""
        near: list[Sequence[int]] = [()] * len(files)
        families = self._family[np.array(files, np.int64)]
        for family in np.flatnonzero(np.bincount(families)).tolist():
            rule = self._rules.get(family) or self._rule(family)
            of_it = np.flatnonzero(families == family).tolist()
            asked = [(self._folders[files[at]], self._paths[files[at]], texts[at]) for at in of_it]
            for at, found in zip(of_it, rule.near_of(asked), strict=True):
                near[at] = found
        meanings = [
            None if found else self._meanings.get((family, text)) or self._meaning(family, text)
            for found, family, text in zip(near, families.tolist(), texts, strict=True)
        ]
        return near, meanings

    def _rule(self, family: int) -> Rule:
        files = np.flatnonzero(self._family == family).tolist()
        rule = self._rules[family] = FAMILIES[family].rule(self._tree, files)
        return rule

    def _meaning(self, family: int, text: str) -> Meaning:
        rule = self._rules[family]
        parts = rule.parts(text)
        found = sorted(set(rule.anywhere(text)))
        ballot = self._ballot(rule, family, parts, found)
        meaning = Meaning(tuple(parts), found, -1 if ballot is None else self._number(ballot))
        self._meanings[family, text] = meaning
        return meaning

    def _ballot(self, rule: Rule, family: int, parts: list[str], found: list[int]) -> Ballot | None:
        if not parts:
            return None
        if found and rule.is_whole(parts):
            return Ballot(family, ())
        head = rule.head(parts)
        name = rule.root_name(parts)
        if name:
            return Ballot(family, tuple(parts[:name]))
        if found or len(parts) <= head + rule.members:
            return None
        return Ballot(family, tuple(parts[: head + _DEEPER]), for_it=False)

    def _number(self, ballot: Ballot) -> int:
        return self._ballots.setdefault(ballot, len(self._ballots))

    def roots(self, ballots: I64) -> Roots:
        """The name that the root of the tree has in each family, where most imports begin with one."""
        known = list(self._ballots)
        counts = list(zip(known, np.bincount(ballots, minlength=len(known)).tolist(), strict=True))
        against: Counter[tuple[int, tuple[str, ...]]] = Counter()
        for ballot, count in counts:
            for length in range(1, 0 if ballot.for_it else len(ballot.root) + 1):
                against[ballot.family, ballot.root[:length]] += count
        best: dict[int, tuple[int, bool, tuple[str, ...]]] = {}
        for ballot, count in counts:
            family, root = ballot.family, ballot.root
            if ballot.for_it and count and count >= _MUCH * against[family, root[: self._deepest(ballot)]]:
                vote = (count, not root, root)
                best[family] = max(best.get(family, vote), vote)
        return {family: root for family, (_, _, root) in best.items() if root}

    def _deepest(self, ballot: Ballot) -> int:
        """How many parts of a name ballots against it tell."""
        return self._rules[ballot.family].head(ballot.root) + _DEEPER if ballot.root else 0

    def edges(self, asked: Asked, roots: Roots) -> I64:
        """Edges of all imports, each as importer * f + imported, ascending."""
        answers = [
            near if meaning is None else self._from(file, meaning, roots)
            for file, near, meaning in zip(asked.file, asked.near, asked.meaning, strict=True)
        ]
        sizes = np.array([len(one) for one in answers], np.int64)
        flat = np.array([number for one in answers for number in one], np.int64)
        starts = np.cumsum(sizes) - sizes
        length = sizes[asked.answer]
        before = np.cumsum(length) - length
        imported = flat[np.repeat(starts[asked.answer] - before, length) + np.arange(length.sum())]
        importer = np.repeat(asked.importer, length)
        return unique((importer * len(self._paths) + imported)[importer != imported])

    def _from(self, file: int, meaning: Meaning, roots: Roots) -> Sequence[int]:
        """Files that an import means, seen from a file, given the names of roots."""
        found = meaning.found
        if roots:
            family = int(self._family[file])
            root = roots.get(family)
            if root and meaning.parts[: len(root)] == root:
                found = self._rules[family].in_root(meaning.parts[len(root) :]) or found
            elif root and len(meaning.parts) == 1:  # beside a root with a name, this is another project
                return ()
        if len(found) > 1:
            found = self._nearest(file, found)
        return found if len(found) <= _MOST else ()

    def _nearest(self, file: int, found: list[int]) -> list[int]:
        """Those that share the most of their folders with the importing file; none when they lie in many.

        Files stand in the order of their paths, and so do those found: what begins alike is neighbours.
        """
        paths, folder = self._paths, self._folders[file]
        around = self._around.get(folder)
        if around is None:
            around = self._around[folder] = _around(folder)
        at = bisect_left(found, file)
        before, after = paths[found[max(at - 1, 0)]], paths[found[min(at, len(found) - 1)]]
        shared = next(one for one in around if before.startswith(one) or after.startswith(one))
        first, last = at, at
        while first and paths[found[first - 1]].startswith(shared):
            first -= 1
        while last < len(found) and paths[found[last]].startswith(shared):
            last += 1
        near = found[first:last]
        if len(near) > 1 and len({self._folders[number] for number in near}) > _MOST_FOLDERS:
            return []
        return near


def _around(folder: str) -> tuple[str, ...]:
    """How paths in a folder and in those around it begin; the root's do in any way."""
    parts = folder.split("/") if folder else []
    return (*("/".join(parts[:count]) + "/" for count in range(len(parts), 0, -1)), "")
