"""Crashes: killed at any moment a daemon leaves a good index and nothing in the way, and one that always crashes is told."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.serve import logs, place, start
from indexer.serve.client import GoneError, connect_root
from indexer.serve.protocol import RpcError
from tests.serve.homes import BOUND, SYNC, Home, kill, many_files, sound


def test_killed_again_and_again_it_starts_with_a_good_index_s089(home: Home, tree: Path) -> None:
    kill_rounds(home, tree, 5)


@pytest.mark.slow
def test_killed_a_hundred_times(home: Home, tree: Path) -> None:
    kill_rounds(home, tree, 100)


def test_an_acknowledged_generation_that_is_lost_would_be_seen(home: Home, tree: Path) -> None:
    with pytest.raises((AssertionError, RpcError)):
        kill_rounds(home, tree, 5, harm=lambda: shutil.rmtree(tree / ".indexer"))


def kill_rounds(home: Home, tree: Path, rounds: int, harm: Callable[[], None] = lambda: None) -> None:
    """Kill it at random moments under load; what was acknowledged is there after each start, unless there is ``harm``."""
    dice = random.Random(7)
    many_files(tree, 40)
    for number in range(rounds):
        with start.start(str(tree), timeout=BOUND) as client:
            client.request("index/sync", SYNC, timeout=BOUND)
            pid = client.pid
        load = Load(tree, number)
        time.sleep(dice.random())
        kill(pid)
        acknowledged = load.stop()
        harm()
        with start.start(str(tree), timeout=BOUND) as client:
            assert client.pid != pid
            # As it stands: no scan has had to make up for what was lost.
            now = client.request("index/search", {"query": "x", "freshness": "now"}, timeout=BOUND)
            assert now["generation"] >= acknowledged[1]
            assert acknowledged[0] in {"", now["epoch"]}
            found = client.request("index/sync", SYNC, timeout=BOUND)
            assert found["fresh"]
        if number % 5 == 4:
            assert start.stop(str(tree), timeout=BOUND)
            sound(home, tree)


class Load:
    """Writes and asks until the daemon is gone; knows the newest generation that was acknowledged."""

    def __init__(self, tree: Path, number: int) -> None:
        self._tree = tree
        self._dice = random.Random(number)
        self._newest = ("", 0)
        self._ended = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        client = connect_root(self._tree, timeout=BOUND)
        assert client is not None
        with client:
            while not self._ended:
                name = f"f{self._dice.randrange(40)}.py"
                (self._tree / name).write_text(
                    f"def changed_{self._dice.random()}(): pass\n".replace("0.", "")
                )
                try:
                    found = client.request("index/search", {"query": "changed"}, timeout=BOUND)
                except (GoneError, RpcError):
                    return
                self._newest = (found["epoch"], found["generation"])

    def stop(self) -> tuple[str, int]:
        self._ended = True
        self._thread.join()
        return self._newest


def test_three_quick_crashes_and_it_is_not_started_by_itself(home: Home, tree: Path) -> None:
    for _ in range(3):
        with start.start(str(tree), by_itself=True, timeout=BOUND) as client:
            pid = client.pid
        kill(pid)
    with pytest.raises(start.StartError, match="crashed 3 times") as caught:
        start.start(str(tree), by_itself=True, timeout=BOUND)
    assert caught.value.tail == tuple(logs.tail(place.place_of(tree).log))
    assert "serves" in caught.value.tail[-1]
    done = home.run("daemon", "status", cwd=tree)
    assert done.returncode == 1
    assert "crashed 3 times" in done.stderr
    home.start(tree)  # asked for, it is tried
    assert start.stop(str(tree), timeout=BOUND)
    start.start(
        str(tree), by_itself=True, timeout=BOUND
    ).close()  # and having ended well, it is trusted again
