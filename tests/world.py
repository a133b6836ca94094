"""A small world for a real daemon: a tree, what people and programs do to it, and the comparison with a new index.

`World` has a method for each thing that happens; what has nothing to work on does nothing. `compare` waits until the
daemon says that it is current, and holds its tables, and its answers over the socket, against an index made from
nothing of the same tree.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from indexer.check import differences
from indexer.chunk import worker
from indexer.chunk.cutting import Cuts, Task, cut_all
from indexer.chunk.worker import Pool
from indexer.oneshot import View, answer
from indexer.search import Request
from indexer.serve.client import Client, GoneError, connect_root
from indexer.settings import WorkerSettings
from indexer.store import Snapshot, inspect, open_snapshot
from indexer.workspace import Workspace, open_workspace
from tests.beside import new_index, replaced
from tests.serve.homes import BOUND, SYNC, Home, family, kill
from tests.trees import git

FOLDERS = ["", "pkg", "pkg/deep", "lib", "build", "wt"]
NAMES = ["a.py", "b.py", "c.go", "d.md", "中文.py", "e.txt", "z.log", "two\nlines.py"]
PATHS = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in NAMES]
RULES = ["", "build/\n", "*.log\n", "*.py\n!a.py\n", "pkg/*\n!pkg/deep/\n", "/lib\n", "*\n!*/\n!*.py\n"]
SETTINGS = [
    "",
    "[scan]\nexclude = ['lib']\n",
    "[scan]\nexclude = ['*.md']\nmax_file_bytes = 120\n",
    "[chunk]\nmax_tokens = 40\noverlap = 8\n",
]
BRANCHES = ["main", "one", "two"]
QUESTIONS = ["Store.commit", "load_config", "迁移", "locks", "renderPage", "changed"]


class CutHere(Pool):
    """Cuts in this process: an index made from nothing is needed every few steps, and its files are harmless."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Cuts]:
        for task in tasks:
            yield cut_all([task], self._chunking)


class World:
    """One root with its daemon, until `close`. ``fault``, of `planted`, is in its daemon; none when empty."""

    def __init__(self, home: Home, folder: Path, fault: str = "") -> None:
        self.home = home
        self.root, self.outside = folder / "root", folder / "outside"
        self.root.mkdir(parents=True)
        self.outside.mkdir()
        self.steps = 0
        self._number = 0
        self._program = ["tests.planted", fault] if fault else ["indexer"]
        self._log = folder / "log"
        self._daemon: subprocess.Popen[bytes] | None = None
        self._client: Client | None = None

    # --- the daemon

    def client(self) -> Client:
        """Connect, and start a daemon first where none is."""
        until = time.monotonic() + BOUND
        while self._client is None:
            if self._daemon is None:
                words = [sys.executable, "-m", *self._program, "daemon", "run", str(self.root)]
                with self._log.open("ab") as log:
                    self._daemon = subprocess.Popen(words, env=self.home.environment, stderr=log)
            with contextlib.suppress(
                GoneError
            ):  # what one that was killed had just begun may hold its socket for a moment
                self._client = connect_root(self.root, timeout=BOUND)
            assert self._daemon.poll() is None, "the daemon ended"
            assert time.monotonic() < until, "the daemon is not ready"
            time.sleep(0.01)
        return self._client

    def daemon(self) -> int:
        """The process of the daemon, which is started where none is."""
        self.client()
        assert self._daemon is not None
        return self._daemon.pid

    def sync(self) -> Client:
        """Wait until the daemon says that it is current."""
        client = self.client()
        found = client.request("index/sync", SYNC, timeout=BOUND * 2)
        assert found["fresh"], found
        return client

    def _hang_up(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def kill_daemon(self) -> None:
        self._hang_up()
        if self._daemon is not None:
            kill(self._daemon.pid)
            self._daemon.wait()
        self._daemon = None

    def kill_updater(self) -> None:
        """Kill what the daemon has started: its updater, a parser."""
        if self._daemon is not None:
            for pid in family(self._daemon.pid)[1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        if self._daemon is not None:
            self._hang_up()
            self._daemon.terminate()
            daemon, self._daemon = self._daemon, None
            status = daemon.wait(BOUND)
            log = self._log.read_text(encoding="utf-8", errors="replace")[-4000:]
            # One that is not done within its seconds ends as if it were killed: no fault, on a machine under load.
            assert status == 0 or "Timeout (" in log, f"it ended with {status}: {log}"

    def reindex(self, *, full: bool) -> None:
        """By the command: handed over where a daemon runs."""
        until = time.monotonic() + BOUND
        while True:
            done = self.home.run("reindex", self.root, *(["--full"] if full else []), cwd=self.root)
            # What a killed daemon had at work holds the lock until it has noticed.
            if "another indexer is writing" not in done.stderr or time.monotonic() > until:
                break
        assert done.returncode == 0, done.stderr

    # --- the comparison

    def space(self) -> Workspace:
        space = open_workspace(self.root, named=True)
        return space._replace(settings=space.settings._replace(worker=WorkerSettings(processes=1)))

    def compare(self) -> list[str]:
        """Wait until the index is current, and return how it differs from one made from nothing."""
        client = self.sync()
        if not (self.root / ".indexer" / "manifest.json").exists():
            # Cleaned away: the answers go on from memory, and a run restores it.
            client.request("index/reindex", timeout=BOUND)
        space = self.space()
        with replaced(worker, "Pool", CutHere), new_index(space) as new:
            unlike = differences(open_snapshot(space.index_dir), new)
            return [*unlike, *self._answers(client, space, new)]

    def _answers(self, client: Client, space: Workspace, new: Snapshot) -> list[str]:
        wrong = []
        for question in QUESTIONS:
            told = client.request("index/search", {"query": question, **SYNC}, timeout=BOUND)
            assert told["fresh"], told
            ours = [(hit["path"], hit["start_line"], hit["symbol"], hit["score"]) for hit in told["hits"]]
            hits = answer(space, View(new, ""), Request(question)).hits
            theirs = [(hit.path, hit.start_line, hit.symbol, hit.score) for hit in hits]
            if ours != theirs:
                wrong.append(f"question {question!r}: {ours}, not {theirs}")
        return wrong

    def sound(self) -> list[str]:
        """With the daemon gone in peace, what lies on disk is whole and private, and nothing lies beside it."""
        self.sync()
        self.close()
        return inspect(self.root / ".indexer")

    # --- files

    def write(self, path: str, text: str) -> None:
        self._put(path, lambda place: place.write_text(text, encoding="utf-8"))

    def save(self, path: str, text: str) -> None:
        """As editors do: under another name, then renamed."""

        def put(place: Path) -> None:
            temporary = place.with_name(f".{place.name}.tmp")
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(place)

        self._put(path, put)

    def append(self, path: str, text: str) -> None:
        def put(place: Path) -> None:
            with place.open("a", encoding="utf-8") as file:
                file.write(text)

        self._put(path, put)

    def change_unseen(self, path: str) -> None:
        """Other bytes of the same length, under the old time."""
        self._number += 1

        def put(place: Path) -> None:
            before = place.stat()
            text = f"def changed(): return {self._number}\n".encode()
            place.write_bytes(text.ljust(before.st_size)[: before.st_size])
            os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))

        self._put(path, put)

    def binary(self, path: str) -> None:
        self._put(path, lambda place: place.write_bytes(b"\0\xff" * 20))

    def touch(self, path: str) -> None:
        with contextlib.suppress(OSError):
            os.utime(self.root / path)

    def mode(self, path: str, mode: int) -> None:
        place = self.root / path
        with contextlib.suppress(OSError):
            place.chmod(mode | 0o100 if place.is_dir() else mode)

    def delete(self, path: str) -> None:
        place = self.root / path
        if path:
            with contextlib.suppress(OSError):
                _remove(place)

    def link(self, path: str, target: str, *, hard: bool) -> None:
        self._number += 1
        place, other = self.root / path, self.root / target
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.hardlink_to(other) if hard else place.symlink_to(other)

    def _put(self, path: str, put: Callable[[Path], object]) -> None:
        place = self.root / path
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            put(place)

    # --- trees

    def move(self, one: str, other: str) -> None:
        with contextlib.suppress(OSError):
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            if one and other:
                (self.root / one).rename(self.root / other)

    def move_out(self, path: str) -> None:
        self._number += 1
        if path:
            with contextlib.suppress(OSError):
                (self.root / path).rename(self.outside / str(self._number))

    def move_in(self, path: str) -> None:
        for inner in sorted(self.outside.iterdir())[:1]:
            with contextlib.suppress(OSError):
                inner.rename(self.root / path)

    def copy_tree(self, one: str, other: str) -> None:
        with contextlib.suppress(OSError, shutil.Error):
            if one and other and not (self.root / other).is_relative_to(self.root / one):
                shutil.copytree(self.root / one, self.root / other, symlinks=True)

    # --- rules and settings

    def ignore(self, file: str, rules: str) -> None:
        if not file.startswith(".git/") or (self.root / ".git").is_dir():
            self._put(file, lambda place: place.write_text(rules, encoding="utf-8"))

    def configure(self, text: str) -> None:
        (self.root / ".indexer.toml").write_text(text, encoding="utf-8")

    # --- git

    def git(self, *words: str) -> None:
        """Run git; what it refuses is refused."""
        if words[0] == "init" or (self.root / ".git").exists():
            with contextlib.suppress(subprocess.CalledProcessError):
                git(self.root, *words)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "state")

    def checkout(self, branch: str) -> None:
        self.git("branch", branch)
        self.git("checkout", "-q", "-f", branch)

    def stash(self, *, pop: bool) -> None:
        self.git("stash", *(["pop"] if pop else ["-u"]))

    def rebase(self, branch: str) -> None:
        self.git("rebase", "-q", branch)
        self.git("rebase", "--abort")

    def worktree(self, *, remove: bool) -> None:
        self.git("worktree", *(["remove", "--force", "wt"] if remove else ["add", "-f", "--detach", "wt"]))

    def clean(self) -> None:
        """Takes the index too, where it is not kept from git."""
        self.git("clean", "-fdxq")

    def forget_git(self) -> None:
        shutil.rmtree(self.root / ".git", ignore_errors=True)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()
