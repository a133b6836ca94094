"""Crashes: killed at any moment a daemon leaves a good index and nothing in the way, and one that always crashes is told."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Protocol

import pytest

from indexer.errors import IndexerError
from indexer.serve import logs, place, start
from indexer.serve.protocol import RpcError
from tests.serve import kills
from tests.serve.homes import BOUND, Home, kill


class Suite(Protocol):
    """Kills, so many times, and holds what must hold."""

    __name__: str

    def __call__(self, home: Home, tree: Path, rounds: int) -> None: ...


ROUNDS = 5  # of each kind, where 500 of all kinds take long


def test_killed_again_and_again_it_starts_with_a_good_index_s089(home: Home, tree: Path) -> None:
    kills.daemons(home, tree, ROUNDS)


@pytest.mark.parametrize("suite", [kills.commands, kills.parsers_of_commands, kills.parsers_of_daemons])
def test_killed_at_random_moments(home: Home, tree: Path, suite: Suite) -> None:
    suite(home, tree, ROUNDS)


SUITES = [kills.daemons, kills.commands, kills.parsers_of_commands, kills.parsers_of_daemons]


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_killed_five_hundred_times(home: Home, tree: Path, suite: Suite) -> None:
    """In all four; `INDEXER_KILLS` is another number."""
    rounds = -(-int(os.environ.get("INDEXER_KILLS", "500")) // len(SUITES))
    began = time.monotonic()
    suite(home, tree, rounds)
    print(f"{rounds} kills of {suite.__name__} in {time.monotonic() - began:.0f} s", flush=True)


# --- the suite can fail


def test_an_acknowledged_generation_that_is_lost_would_be_seen(home: Home, tree: Path) -> None:
    with pytest.raises((AssertionError, RpcError)):
        kills.daemons(home, tree, ROUNDS, harm=lambda: shutil.rmtree(tree / ".indexer", ignore_errors=True))


@pytest.mark.parametrize(
    ("fault", "suite"),
    [("a_rename_dropped", kills.commands), ("the_innocent_blamed", kills.parsers_of_commands)],
)
def test_a_planted_fault_is_found(home: Home, tree: Path, fault: str, suite: Suite) -> None:
    home.program = [sys.executable, "-m", "tests.planted", fault]
    with pytest.raises((AssertionError, IndexerError)):
        suite(home, tree, 400)  # it is nearly always found within twenty; forty were not enough once


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
