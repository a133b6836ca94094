"""A home for daemons: settings and a runtime directory of its own, in which nothing is left running."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from indexer.serve import lock
from indexer.serve.client import Client, connect, connect_root, dial

INDEXER = [sys.executable, "-m", "indexer"]
BOUND = 600.0  # generous: no test here is about speed, and long suites run in what time a machine has left
SYNC = {"timeout_ms": int(BOUND * 1000)}


class Home:
    """Runs commands with settings and a runtime directory of its own."""

    def __init__(self, folder: Path) -> None:
        self.program = INDEXER
        self.runtime = folder / "run"
        self.config = folder / "config"
        self.runtime.mkdir(mode=0o700)

    @property
    def environment(self) -> dict[str, str]:
        mine = {"XDG_RUNTIME_DIR": str(self.runtime), "XDG_CONFIG_HOME": str(self.config)}
        return {**os.environ, **mine}

    def settings(self, text: str) -> None:
        (self.config / "indexer").mkdir(parents=True, exist_ok=True)
        (self.config / "indexer" / "config.toml").write_text(text, encoding="utf-8")

    def run(self, *words: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.program, *map(str, words)],
            cwd=cwd, env={**self.environment, **environment},
            capture_output=True, text=True, check=False, timeout=BOUND,
        )  # fmt: skip

    def popen(self, *words: str | Path, cwd: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.program, *map(str, words)],
            cwd=cwd, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def asked(self, *words: str | Path, cwd: Path) -> Any:
        done = self.run(*words, "--json", cwd=cwd)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, root: Path) -> int:
        """Start a daemon by the command line; return its process."""
        found = self.asked("daemon", "start", root, cwd=root.parent)
        assert isinstance(found["pid"], int)
        return found["pid"]

    def client(self, root: Path) -> Client:
        client = connect_root(root, timeout=BOUND)
        assert client is not None
        return client

    def locks(self) -> list[str]:
        return [str(path) for path in self.runtime.glob("indexer/*.lock")]

    def stop_all(self) -> None:
        """Stop whatever runs, by its socket: a test may have done anything to the root."""
        for path in filter(lock.is_held, self.locks()):
            client = dial(path.removesuffix(".lock") + ".sock", "", timeout=BOUND)
            if client is not None:
                with client:
                    client.request("index/stop", timeout=BOUND)
        for path in self.locks():
            wait_until(partial(free, path))


@contextmanager
def home_of_daemons(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home, also for what runs in this process; its daemons are stopped at the end."""
    folder = Path(tempfile.mkdtemp(prefix="ix-", dir="/tmp"))  # short, as no folder of pytest's is
    home = Home(folder)
    for name in ("XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, home.environment[name])
    try:
        yield home
        home.stop_all()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sync(home: Home, root: Path) -> int:
    """Wait until the index is current; return its generation."""
    with home.client(root) as client:
        found = client.request("index/sync", SYNC, timeout=BOUND)
        assert found["fresh"], found
        assert isinstance(found["generation"], int)
        return found["generation"]


def answers(root: Path) -> bool:
    client = connect(root, timeout=BOUND)
    if client is None:
        return False
    client.close()
    return True


def sound(home: Home, root: Path) -> None:
    assert home.asked("check", cwd=root)["problems"] == []


def many_files(tree: Path, count: int) -> None:
    for number in range(count):
        text = f"def function_{number}(x):\n    return x + {number}\n\n\n"
        (tree / f"f{number}.py").write_text(text * 20)


def small_tree(top: Path) -> Path:
    """A few files under git-less root."""
    (top / "pkg").mkdir(parents=True)
    (top / "pkg" / "store.py").write_text(
        'class Store:\n    """Keeps rows."""\n\n    def commit(self):\n        return 1\n'
    )
    (top / "notes.md").write_text("# Notes\n\nHow rows are kept.\n")
    return top


def kill(pid: int) -> None:
    """Kill a daemon that a test has started, and wait until it is gone."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Whether any thread of a process is: the first one's end is not the end of what the others have open."""
    for status in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            state = status.read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in {"Z", "X"}:
            return True
    return False


def family(pid: int) -> list[int]:
    """A process and all below it."""
    children: list[str] = []
    for found in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has just ended
            children += found.read_text().split()
    return [pid, *(member for child in children for member in family(int(child)))]


def free(path: str) -> bool:
    return not lock.is_held(path)


def wait_until(true: Callable[[], object], seconds: float = BOUND) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it has not come true in time"
        time.sleep(0.02)
