"""Churn: whatever is done to a tree, nothing that differs between two scans is missed, and no watch is missing or stale.

Edits run in one thread while batches are taken in another, as in life. The planted faults at the end show that the
comparison can fail.
"""

# Names are bytes here, some of them no text, and pathlib knows only str.
# ruff: noqa: PTH101, PTH103, PTH104, PTH105, PTH108, PTH112, PTH114, PTH118, PTH123, PTH211

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from indexer.watch.inbox import Inbox
from indexer.watch.inotify import Reader
from indexer.watch.tree import Tree
from tests.scan.trees import commit, repository, write
from tests.watch.observing import Eye

IGNORED = "build/\n*.log\nvendor/*/\n"
NAMES: list[str | bytes] = [
    "a",
    "b",
    "c",
    "lib",
    "build",
    "deep",
    "vendor",
    "x.py",
    "y.md",
    "z.log",
    "中文.py",
    b"\xff\xfe.txt",
]


def grown(folder: Path) -> Path:
    """A repository with an ignored folder in which one file is tracked."""
    root = repository(
        folder / "root",
        {".gitignore": IGNORED, "a/x.py": "1", "lib/x.py": "3", "build/kept/t.py": "4", "z.log": ""},
    )
    write(
        root, {f"p{i}/{j}/{k}/x.py": f"{i}{j}{k}" for i in range(4) for j in "abc" for k in ("deep", "build")}
    )
    commit(root, "build/kept/t.py", "a/x.py")
    return root


class Editor:
    """Makes random edits below a root, with a folder outside to move things to and from."""

    def __init__(self, root: Path, outside: Path, seed: int, *, rules: bool = True) -> None:
        self.root, self.outside = os.fsencode(root), os.fsencode(outside)
        self.random = random.Random(seed)
        self.number = 0
        kinds = [self.write] * 8 + [self.move] * 3 + [self.nest, self.out, self.back] * 2
        kinds += [self.nest, self.remove, self.replace, self.turn, self.rights, self.link, self.exchange]
        self.kinds: list[Callable[[], object]] = [*kinds, *([self.ignore] if rules else [])]

    def go(self, edits: int) -> None:
        for _ in range(edits):
            try:
                self.random.choice(self.kinds)()
            except OSError:
                continue  # as in life: the place was not there, or not empty

    def pick(self, *, folders: bool = False) -> bytes:
        """A random place in the tree, most often a deep one."""
        here = self.root
        for _ in range(self.random.choice([1, 2, 3, 3, 4, 4, 5, 6])):
            with os.scandir(here) as entries:
                inner = sorted(e.name for e in entries if e.name != b".git" and (not folders or e.is_dir()))
            if not inner:
                break
            here = os.path.join(here, self.random.choice(inner))
            if not os.path.isdir(here) or os.path.islink(here):
                break
        if here == self.root and not folders:
            raise FileNotFoundError
        return here

    def name(self) -> bytes:
        name = self.random.choice(NAMES)
        return name if isinstance(name, bytes) else name.encode()

    def folder(self) -> bytes:
        place = self.pick(folders=True)
        return place if os.path.isdir(place) else self.root

    def write(self) -> None:
        self.number += 1
        path = os.path.join(self.folder(), self.name())
        with open(path, self.random.choice(["wb", "ab"])) as file:
            file.write(b"%d\n" % self.number)

    def nest(self) -> None:
        place = os.path.join(self.folder(), *(self.name() for _ in range(self.random.randint(1, 5))))
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, self.name()), "wb") as file:
            file.write(b"new\n")

    def move(self) -> None:
        os.rename(self.pick(), os.path.join(self.folder(), self.name()))

    def out(self) -> None:
        self.number += 1
        os.rename(self.pick(), os.path.join(self.outside, b"%d" % self.number))

    def back(self) -> None:
        inner = sorted(os.listdir(self.outside))
        if inner:
            os.rename(
                os.path.join(self.outside, self.random.choice(inner)),
                os.path.join(self.folder(), self.name()),
            )

    def remove(self) -> None:
        place = self.pick()
        shutil.rmtree(place) if os.path.isdir(place) and not os.path.islink(place) else os.unlink(place)

    def replace(self) -> None:
        path = self.pick()
        with open(path + b".tmp", "wb") as file:
            file.write(b"replaced\n")
        os.replace(path + b".tmp", path)

    def turn(self) -> None:
        """A file becomes a folder, or the other way round."""
        place = self.pick()
        was_folder = os.path.isdir(place) and not os.path.islink(place)
        (shutil.rmtree if was_folder else os.unlink)(place)
        if was_folder:
            with open(place, "wb") as file:
                file.write(b"a file now\n")
        else:
            os.makedirs(os.path.join(place, b"deep"))

    def rights(self) -> None:
        place = self.pick()
        os.chmod(place, 0o755 if os.path.isdir(place) else self.random.choice([0o600, 0o644]))

    def link(self) -> None:
        os.symlink(
            self.random.choice([b"a", b"x.py", self.outside]), os.path.join(self.folder(), self.name())
        )

    def exchange(self) -> None:
        one, other, away = (
            self.pick(folders=True),
            self.pick(folders=True),
            os.path.join(self.outside, b"swap"),
        )
        if one != other and self.root not in {one, other}:
            os.rename(one, away)
            os.rename(other, one)
            os.rename(away, other)

    def ignore(self) -> None:
        if self.random.random() < 0.3:
            with open(os.path.join(self.folder(), b".gitignore"), "wb") as file:
                file.write(self.random.choice([b"deep/\n", b"*.md\n", b"!build/\n", b"b/\n!x.py\n", b""]))


def play(folder: Path, rounds: Iterable[int], *, edits: int = 30, rules: bool = True) -> list[str]:
    """Edit, and compare, again and again; return the first differences."""
    root, outside = grown(folder), folder / "outside"
    outside.mkdir()
    eye = Eye(root, settle_ms=2)
    try:
        for number in rounds:
            before = eye.scan()
            editor = threading.Thread(target=Editor(root, outside, number, rules=rules).go, args=[edits])
            editor.start()
            while editor.is_alive():
                if batch := eye.watch.next_batch(0.01):
                    eye.take(batch)
            seen = eye.sync()
            if found := eye.uncovered(before, seen) + eye.wrong_watches():
                return [f"in round {number}", *found]
    finally:
        eye.close()
    return []


def test_churn(tmp_path: Path) -> None:
    assert play(tmp_path, range(40)) == []


def test_churn_under_the_same_rules(tmp_path: Path) -> None:
    """Without any edit of an ignore file, which would have everything scanned and hide what was missed."""
    assert play(tmp_path, range(1000, 1020), edits=60, rules=False) == []


@pytest.mark.slow
def test_long_churn(tmp_path: Path) -> None:
    rounds, edits = int(os.environ.get("INDEXER_ROUNDS", "800")), 100
    assert play(tmp_path / "one", range(2000, 2000 + rounds // 2), edits=edits) == []
    assert play(tmp_path / "two", range(3000, 3000 + rounds // 2), edits=edits, rules=False) == []
    print(f"{rounds} rounds of {edits} edits each")


def an_event_dropped(patch: pytest.MonkeyPatch) -> None:
    real, count = Inbox._sort, [0]

    def sort(self: Inbox, wd: int, mask: int, name: bytes) -> bool:
        count[0] += 1
        return bool(count[0] % 3) and real(self, wd, mask, name)

    patch.setattr(Inbox, "_sort", sort)


def a_watch_not_added(patch: pytest.MonkeyPatch) -> None:
    real = Tree._list
    patch.setattr(Tree, "_list", lambda self, path: [n for n in real(self, path) if n != b"deep"])


def watches_kept(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Reader, "remove", lambda self, wd: None)


def listed_before_watched(patch: pytest.MonkeyPatch) -> None:
    """Of a directory that arrives, what is in it already goes unnoticed."""
    real = Tree._list
    patch.setattr(Tree, "_list", lambda self, path: real(self, path) if not self.book.root.kids else [])


def moves_not_marked(patch: pytest.MonkeyPatch) -> None:
    real = Tree.change

    def change(self: Tree, events: list[tuple[object, bytes, int]], dirt: object) -> None:
        trees = set(dirt.trees)  # type: ignore[attr-defined]
        real(self, events, dirt)  # type: ignore[arg-type]
        dirt.trees = trees  # type: ignore[attr-defined]

    patch.setattr(Tree, "change", change)


@pytest.mark.parametrize(
    "plant", [an_event_dropped, a_watch_not_added, watches_kept, listed_before_watched, moves_not_marked]
)
def test_a_planted_fault_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    firsts = (
        1000,
        2000,
        3000,
        4000,
    )  # what is lost may be told of by something else: chance decides each time
    assert any(
        play(tmp_path / str(first), range(first, first + 20), edits=60, rules=False) for first in firsts
    )
