"""The whole daemon: real processes on a real tree over the real socket, against an index made from nothing."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.serve.client import Client, connect_root
from tests import beside
from tests.counting import workspace
from tests.serve.homes import family
from tests.trees import git

INDEXER = [sys.executable, "-m", "indexer"]
BOUND = 120.0
pytestmark = pytest.mark.usefixtures("home")


@contextlib.contextmanager
def daemon(root: Path) -> Iterator[Client]:
    """A daemon of a root, for as long as the block runs; it is over when the block ends."""
    done = subprocess.run(
        [*INDEXER, "daemon", "start", str(root)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    client = connect_root(root)
    assert client is not None
    try:
        with client:
            yield client
    finally:
        subprocess.run([*INDEXER, "daemon", "stop", str(root)], capture_output=True, check=True)


def sync(client: Client) -> dict[str, Any]:
    answer: dict[str, Any] = client.request(
        "index/sync", {"timeout_ms": int(BOUND * 1000)}, timeout=BOUND + 10
    )
    return answer


def unlike_a_new_one(root: Path) -> list[str]:
    return beside.unlike_a_new_one(workspace(root))


def two_branches(root: Path, files: int) -> None:
    """A repository whose two branches differ in every file, some of them only on one."""
    git(root, "init", "-q", "-b", "one")
    for branch, gap in (("one", 11), ("two", 7)):
        if branch == "two":
            git(root, "checkout", "-q", "-b", "two")
        for number in range(files):
            path = root / f"d{number % 97}" / f"e{number % 13}" / f"f{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            if number % gap == 0:
                path.unlink(missing_ok=True)
            else:
                path.write_text(f"def on_{branch}_{number}(): return {number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", branch)


@pytest.mark.parametrize("files", [1000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_checkout_while_the_daemon_is_stopped(tmp_path: Path, files: int) -> None:
    two_branches(tmp_path, files)
    with daemon(tmp_path) as client:
        assert sync(client)["fresh"]
        for branch in ("one", "two"):
            members = family(client.pid)
            for pid in members:
                os.kill(pid, signal.SIGSTOP)
            git(tmp_path, "checkout", "-q", branch)
            for pid in reversed(members):
                os.kill(pid, signal.SIGCONT)
            start = time.perf_counter()
            assert sync(client)["fresh"]
            print(f"{files} files: current {time.perf_counter() - start:.2f} s after SIGCONT")
            hits = client.request("index/search", {"query": f"on_{branch}_5", "k": 1})["hits"]
            assert hits[0]["symbol"] == f"on_{branch}_5"
        assert unlike_a_new_one(tmp_path) == []


def rounds(root: Path, seed: int, count: int, failures: list[str], waits: list[float]) -> None:
    """One client: write, create, move or delete at random and ask at once, over a connection of its own."""
    chance = random.Random(seed)
    mine = root / f"client{seed}"
    mine.mkdir()
    content: dict[str, str] = {}
    client = connect_root(root)
    assert client is not None
    with client:
        for number in range(count):
            symbol = change(mine, content, chance, f"symbol_{seed}_{number}")
            start = time.perf_counter()
            answer = client.request("index/search", {"query": symbol, "freshness": "wait"}, timeout=30)
            waits.append(time.perf_counter() - start)
            found = [hit["path"] for hit in answer["hits"] if hit["symbol"] == symbol]
            wanted = [f"client{seed}/{name}" for name, held in content.items() if held == symbol]
            if not answer["fresh"] or found != wanted:
                failures.append(f"round {number}: {answer['fresh']} {found} {wanted} {answer.get('reason')}")
                return


def change(mine: Path, content: dict[str, str], chance: random.Random, symbol: str) -> str:
    """Make one change; return the symbol that it is about."""
    name, other = f"f{chance.randrange(50)}.py", f"f{chance.randrange(50)}.py"
    what = chance.choice(["write", "write", "atomic", "move", "delete"])
    if what in {"write", "atomic"} or name not in content:
        target = mine / (f".{name}.tmp" if what == "atomic" else name)
        target.write_text(f"def {symbol}():\n    return 1\n")
        target.replace(mine / name)
        content[name] = symbol
        return symbol
    held = content.pop(name)
    if what == "move":
        (mine / name).replace(mine / other)
        content[other] = held
    else:
        (mine / name).unlink()
    return held


@pytest.mark.parametrize("count", [40, pytest.param(5000, marks=pytest.mark.slow)])
def test_two_clients_are_never_told_anything_stale(tmp_path: Path, count: int) -> None:
    failures: list[str] = []
    waits: list[float] = []
    with daemon(tmp_path) as client:
        sync(client)
        threads = [
            threading.Thread(target=rounds, args=(tmp_path, seed, count, failures, waits)) for seed in (1, 2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert unlike_a_new_one(tmp_path) == []
    assert failures == []
    assert len(waits) == 2 * count
    ranked = sorted(waits)
    print(
        f"wait p50 {statistics.median(waits) * 1e3:.1f}, p99 {ranked[int(len(ranked) * 0.99)] * 1e3:.1f} ms"
    )


def test_questions_are_answered_while_everything_is_indexed_anew(tmp_path: Path) -> None:
    """S-103: nobody waits for a rebuild."""
    two_branches(tmp_path, 1500)
    with daemon(tmp_path) as client:
        sync(client)
        other = connect_root(tmp_path)
        assert other is not None
        done = threading.Event()

        def rebuild() -> None:
            with other:
                other.request("index/reindex", {"full": True}, timeout=BOUND)
            done.set()

        thread = threading.Thread(target=rebuild)
        thread.start()
        asked = 0
        while not done.is_set():
            answer = client.request("index/search", {"query": "on_two_5", "freshness": "now", "k": 1})
            assert answer["hits"][0]["symbol"] == "on_two_5"
            asked += 1
        thread.join()
        assert asked > 3


def test_an_idle_daemon_sleeps(tmp_path: Path) -> None:
    """No polling loops: hardly a voluntary switch of any of its threads in three seconds without work."""
    (tmp_path / "a.py").write_text("def a(): pass\n")
    with daemon(tmp_path) as client:
        sync(client)
        time.sleep(1.0)
        before = switches(client.pid)
        time.sleep(3.0)
        assert switches(client.pid) - before <= 6


def switches(pid: int) -> int:
    total = 0
    for member in family(pid):
        for status in Path(f"/proc/{member}/task").glob("*/status"):
            lines = status.read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))
    return total
