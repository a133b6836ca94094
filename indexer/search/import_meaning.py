"""What the imports of a tree mean: near the files that they stand in, anywhere, or in a root that has a name.

The root of a tree may be a package itself, whose name is then in the imports and not in the paths (``absl/base/config.h``
where the tree has ``base/config.h``). So each import that is found in no other way casts a ballot for what would have
to be taken away for it to be found, or against, and the name that most of them agree on is the root's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
_MUCH = 2  # so many imports must say that the root has a name for one that says it has not


class Ballot(NamedTuple):
    """What one import says of the name of the tree's root: that it has none (``root`` is empty), this one, or not this one."""

    family: int
    root: tuple[str, ...]
    for_it: bool = True


class Meaning(NamedTuple):
    """What an import means wherever it stands: by files' paths alone, and what it says of the root's name."""

    parts: tuple[str, ...]
    found: list[int]
    ballot: int


class Answer(NamedTuple):
    """What an import means: files near the one that it stands in, or else its meaning anywhere."""

    file: int
    near: Sequence[int]
    meaning: Meaning | None


class Asked(NamedTuple):
    """Answers, the importing file of each import and the number of its answer, and ballots: file and ballot (2, b)."""

    importer: I64
    answer: I64
    answers: list[Answer]
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
        family = self._family[importer[first]].tolist()
        questions = zip(family, importer[first].tolist(), text[first].tolist(), strict=True)
        answers = [self._answer(family, file, texts[name]) for family, file, name in questions]
        ballot = np.array([one.meaning.ballot if one.meaning else -1 for one in answers], np.int64)[answer]
        return Asked(importer, answer, answers, np.stack((importer, ballot))[:, ballot >= 0])

    def _answer(self, family: int, file: int, text: str) -> Answer:
        rule = self._rules.get(family) or self._rule(family)
        near = rule.near(self._folders[file], self._paths[file], text)
        if near:
            return Answer(file, near, None)
        meaning = self._meanings.get((family, text))
        if meaning is None:
            meaning = self._meanings[family, text] = self._meaning(family, text)
        return Answer(file, (), meaning)

    def _rule(self, family: int) -> Rule:
        files = np.flatnonzero(self._family == family).tolist()
        rule = self._rules[family] = FAMILIES[family].rule(self._tree, files)
        return rule

    def _meaning(self, family: int, text: str) -> Meaning:
        rule = self._rules[family]
        parts = rule.parts(text)
        found = list(dict.fromkeys(rule.anywhere(text)))
        if found or not parts:
            return Meaning(tuple(parts), found, self._number(Ballot(family, ())) if found else -1)
        head = rule.head(parts)
        name = rule.root_name(parts)
        if not name and len(parts) <= head + rule.members:
            return Meaning(tuple(parts), found, -1)
        ballot = (
            Ballot(family, tuple(parts[:name])) if name else Ballot(family, tuple(parts[:head]), for_it=False)
        )
        return Meaning(tuple(parts), found, self._number(ballot))

    def _number(self, ballot: Ballot) -> int:
        return self._ballots.setdefault(ballot, len(self._ballots))

    def roots(self, ballots: I64) -> Roots:
        """The name that the root of the tree has in each family, where most imports begin with one."""
        counts = dict(
            zip(self._ballots, np.bincount(ballots, minlength=len(self._ballots)).tolist(), strict=True)
        )
        best: dict[int, tuple[int, bool, tuple[str, ...]]] = {}
        for ballot, count in counts.items():
            if not ballot.for_it or not count:
                continue
            against = counts.get(Ballot(ballot.family, ballot.root[: self._head(ballot)], for_it=False), 0)
            if ballot.root and count < _MUCH * against:
                continue
            vote = (count, not ballot.root, ballot.root)
            best[ballot.family] = max(best.get(ballot.family, vote), vote)
        return {family: root for family, (_, _, root) in best.items() if root}

    def _head(self, ballot: Ballot) -> int:
        return self._rules[ballot.family].head(ballot.root) if ballot.root else 0

    def edges(self, asked: Asked, roots: Roots) -> I64:
        """Edges of all imports, each as importer * f + imported, in no order."""
        answers = [self._final(one, roots) for one in asked.answers]
        sizes = np.array([len(one) for one in answers], np.int64)
        flat = np.array([number for one in answers for number in one], np.int64)
        starts = np.cumsum(sizes) - sizes
        length = sizes[asked.answer]
        before = np.cumsum(length) - length
        imported = flat[np.repeat(starts[asked.answer] - before, length) + np.arange(length.sum())]
        importer = np.repeat(asked.importer, length)
        edges = np.sort((importer * len(self._paths) + imported)[importer != imported])
        return edges[np.append(True, edges[1:] != edges[:-1])] if len(edges) else edges

    def _final(self, answer: Answer, roots: Roots) -> Sequence[int]:
        """Files that an import means, given the names of roots."""
        found: Sequence[int] = answer.near
        if answer.meaning:
            family = int(self._family[answer.file]) if roots else -1
            root = roots.get(family)
            parts = answer.meaning.parts
            if root and parts[: len(root)] == root:
                found = self._rules[family].in_root(parts[len(root) :])
            # Beside a root with a name, what has one part is another project.
            if not found and (not root or len(parts) != 1):
                found = self._nearest(self._folders[answer.file], answer.meaning.found)
        return found if len(found) <= _MOST else ()

    def _nearest(self, here: str, found: Sequence[int]) -> Sequence[int]:
        """Those in the folders that share the most with the importing file's; none when these are many."""
        if len(found) < 2:
            return found
        folders = {self._folders[number] for number in found}
        if len(folders) == 1:
            return found
        around = f"{here}/"
        while True:
            near = {folder for folder in folders if f"{folder}/".startswith(around)}
            if near or not around:
                break
            around = around[: around.rfind("/", 0, -1) + 1]
        return (
            [number for number in found if self._folders[number] in near]
            if len(near) <= _MOST_FOLDERS
            else ()
        )
