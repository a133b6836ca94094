"""A soak: a real daemon lives with a tree that is edited and asked about at a steady rate, and is measured all the while.

`Life` lays the tree, edits and asks; `sample` looks at the daemon and its processes from outside; `unsteady` says what
has grown. The tree itself stays of one size, so that whatever grows is the daemon's own.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from indexer.serve.client import Client
from indexer.store.format import MANIFEST
from tests.serve.homes import BOUND, family
from tests.trees import age, commit, files_of, git, package
from tests.world import World

_PACKAGES = ("numpy", "mypy")  # some 1,700 files of real code, installed with the tests' own dependencies
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.so", "*.a", "*.pyd", "*.npz", "*.npy")
_QUESTIONS = (
    "how is an array broadcast", "class Checker", "parse arguments", "load_config", "type inference of calls",
    "random generator seed", "test of the masked array", "Store.commit", "迁移", "soak_edit",
)  # fmt: skip
_NEW_FILES = 40
_CLIENTS = 4
_BRANCH_FILES = 12


class Sample(NamedTuple):
    """What a daemon holds at one moment; sizes are bytes, ``at`` is seconds since the beginning.

    ``daemon`` is the resident memory of the process that answers, ``own`` of that what no file backs, ``updater`` the
    resident memory of the processes below it; descriptors and threads are those of both that stay.
    """

    at: float
    daemon: int
    own: int
    updater: int
    descriptors: int
    threads: int
    processes: int
    segments: int
    disk: int


# What each may be in the last third, of what it was in the first: a factor, and so much more besides.
ALLOWED = {
    "daemon": (1.10, 8 << 20),
    "own": (1.10, 8 << 20),
    "updater": (1.10, 16 << 20),
    "descriptors": (1.0, 2),
    "threads": (1.0, 2),  # a pool of threads takes its time to fill, and has a bound
    "processes": (1.0, 0),
    "segments": (1.0, 2),
    "disk": (1.15, 4 << 20),
}


def sample(pid: int, index: Path, at: float) -> Sample:
    """Look at a daemon from outside. A parser that has just ended counts for nothing."""
    members = family(pid)
    looks = [look for member in members[1:] if (look := _look(member)) is not None]
    daemon = _look(pid)
    assert daemon is not None, "the daemon is gone"
    manifest = msgspec.json.decode((index / MANIFEST).read_bytes())
    stays = [daemon, *looks[:1]]
    return Sample(
        at,
        daemon.resident,
        daemon.own,
        sum(look.resident for look in looks),
        sum(look.descriptors for look in stays),
        sum(look.threads for look in stays),
        len(members),
        len(manifest["segments"]),
        _bytes_of(index),
    )


class _Look(NamedTuple):
    resident: int
    own: int
    descriptors: int
    threads: int


def _look(pid: int) -> _Look | None:
    place = Path(f"/proc/{pid}")
    try:
        lines = (place / "status").read_text().splitlines()
        values = dict(line.split(":", 1) for line in lines)
        resident, own = (int(values[name].split()[0]) << 10 for name in ("VmRSS", "RssAnon"))
        return _Look(resident, own, len(list((place / "fd").iterdir())), int(values["Threads"]))
    except (OSError, KeyError):
        return None


def _bytes_of(folder: Path) -> int:
    total = 0
    for path in files_of(folder):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # merged away in this very moment
            continue
    return total


def unsteady(samples: Sequence[Sample]) -> list[str]:
    """What is larger in the last third than in the first, by more than it may; medians, so that no moment decides."""
    third = len(samples) // 3
    found = []
    for name, (factor, more) in ALLOWED.items():
        first, last = (
            statistics.median(getattr(one, name) for one in part)
            for part in (samples[:third], samples[-third:])
        )
        if last > first * factor + more:
            found.append(f"{name}: {first:.0f} in the first third, {last:.0f} in the last")
    return found


def processor_seconds(pid: int) -> float:
    """What a daemon and all that is and was below it have taken of the processor."""
    total = 0
    for member in family(pid):
        words = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
        total += sum(int(word) for word in words[11:15])
    return total / os.sysconf("SC_CLK_TCK")


class Life:
    """The edits and the questions, and those who ask. Every edit leaves the tree about as large as it was."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.edits = self.questions = self.stale = 0
        self._chance = random.Random(seed)
        self._clients: list[Client] = []
        self._new: list[Path] = []
        self._moved: list[tuple[Path, Path]] = []
        self._lay()
        kinds: list[tuple[int, Callable[[], None]]] = [
            (60, self._change), (12, self._create), (12, self._delete), (10, self._move), (3, self._branch),
            (3, self._many),
        ]  # fmt: skip
        self._kinds = [kind for weight, kind in kinds for _ in range(weight)]

    def _lay(self) -> None:
        root = self.world.root
        for name in _PACKAGES:
            shutil.copytree(package(name), root / name, ignore=_LEFT_OUT)
        git(root, "init", "-q", "-b", "main")
        (root / ".gitignore").write_text("*.log\n.indexer/\n")
        commit(root)
        self._files = [path for path in files_of(root) if path.suffix in {".py", ".pyi"}]
        self._texts = {path: path.read_text("utf-8") for path in self._files}
        git(root, "checkout", "-q", "-b", "two")
        self._branched = self._chance.sample(self._files, _BRANCH_FILES)
        for path in self._branched:
            path.write_text(f"{self._texts[path]}\ndef of_the_branch(): return {len(path.name)}\n", "utf-8")
        commit(root)
        git(root, "checkout", "-q", "main")
        self._files = [path for path in self._files if path not in self._branched]
        age(root)

    # --- edits

    def edit(self) -> None:
        """Make one edit, of any kind."""
        self.edits += 1
        self._chance.choice(self._kinds)()

    def _change(self) -> None:
        """As while typing: what was there, and a function that is new each time."""
        path = self._chance.choice(self._files)
        if path.exists():
            text = f"{self._texts[path]}\n\ndef soak_edit_{self.edits}(x):\n    return x + {self.edits}\n"
            name = str(path.relative_to(self.world.root))
            self._chance.choice([self.world.write, self.world.save])(name, text)

    def _create(self) -> None:
        text = self._texts[self._chance.choice(self._files)]
        path = self.world.root / "mypy" / f"soak_{self.edits}" / "new.py"
        self.world.write(str(path.relative_to(self.world.root)), f"{text}\n# {self.edits}\n")
        self._new.append(path)
        if len(self._new) > _NEW_FILES:
            self._delete()

    def _delete(self) -> None:
        if self._new:
            path = self._new.pop(self._chance.randrange(len(self._new)))
            self.world.delete(str(path.parent.relative_to(self.world.root)))

    def _move(self) -> None:
        """There, and the next time back."""
        if self._moved:
            there, back = self._moved.pop()
        else:
            back = self._chance.choice(self._files)
            there = back.with_name(f"moved_{back.name}")
            self._moved.append((there, back))
            there, back = back, there
        there.rename(back)

    def _branch(self) -> None:
        """The branches differ in files that nothing else touches, so that git always switches."""
        now = git(self.world.root, "rev-parse", "--abbrev-ref", "HEAD").strip()
        git(self.world.root, "checkout", "-q", "main" if now == "two" else "two")

    def _many(self) -> None:
        for _ in range(10):
            self._change()

    # --- questions

    def ask(self) -> None:
        """Ask one question, of a client that may be new, or that leaves afterwards."""
        self.questions += 1
        if len(self._clients) < _CLIENTS:
            self._clients.append(self.world.home.client(self.world.root))
        client = self._chance.choice(self._clients)
        freshness = self._chance.choice(["now", "wait", "wait"])
        question = {"query": self._chance.choice(_QUESTIONS), "freshness": freshness, "timeout_ms": 10_000}
        found = client.request("index/search", question, timeout=BOUND)
        self.stale += freshness == "wait" and not found["fresh"]
        if self._chance.random() < 0.1:
            self._clients.remove(client)
            client.close()

    def leave(self) -> None:
        """Everybody hangs up."""
        for client in self._clients:
            client.close()
        self._clients.clear()


def revision() -> str:
    """Of what this was a run: the commit of the code under test, or nothing outside of git."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip()
