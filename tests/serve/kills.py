"""Kill -9 at random moments under a stream of edits: the daemon, a `reindex`, a parser of either; what must hold then.

After each kill the index opens as a whole generation, not older than what was acknowledged; whoever comes next finds
nothing in the way; and after the last, the index equals one made from nothing.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indexer.check import differences
from indexer.serve import start
from indexer.serve.client import GoneError, connect_root
from indexer.serve.protocol import RpcError
from indexer.store import RootLock, open_snapshot, verify
from indexer.types import Reason
from indexer.workspace import open_workspace
from tests.beside import new_index
from tests.serve.homes import BOUND, SYNC, Home, alive, family, kill, many_files

FILES = 40
BLAMED = {Reason.CRASHED, Reason.TIMEOUT}
Acknowledged = tuple[str, int]  # epoch (empty: only the number was told) and generation


class Edits:
    """A thread that edits a tree until `stop`: writes, saves, appends, renames and removes. ``after`` follows each."""

    def __init__(self, tree: Path, seed: int, after: Callable[[], bool] = lambda: True) -> None:
        self._tree = tree
        self._dice = random.Random(seed)
        self._after = after
        self._ended = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended:
            self._edit(self._tree / f"f{self._dice.randrange(FILES)}.py")
            if not self._after():
                return

    def _edit(self, place: Path) -> None:
        text = f"def changed_{self._dice.randrange(1 << 30)}(): pass\n"
        how = self._dice.random()
        if how < 0.6:
            place.write_text(text)
        elif how < 0.8:
            place.with_suffix(".tmp").write_text(text * 300)
            place.with_suffix(".tmp").replace(place)
        elif how < 0.9:
            with place.open("a") as file:
                file.write(text)
        elif place.exists():
            place.replace(place.with_suffix(".md")) if how < 0.95 else place.unlink()

    def stop(self) -> None:
        self._ended = True
        self._thread.join()


@contextmanager
def edits(tree: Path, seed: int) -> Iterator[None]:
    """Edit a tree, at a rate that leaves the machine to the others, while the block is at work."""
    dice = random.Random(seed)

    def breathe() -> bool:
        time.sleep(dice.random() * 0.02)
        return True

    stream = Edits(tree, seed, breathe)
    try:
        yield
    finally:
        stream.stop()


class Asking:
    """Asks a daemon after each edit, until it is gone; ``newest`` is the last generation that it acknowledged."""

    def __init__(self, tree: Path, seed: int) -> None:
        client = connect_root(tree, timeout=BOUND)
        assert client is not None
        self._client = client
        self.newest: Acknowledged = ("", 0)
        self._stream = Edits(tree, seed, self._ask)

    def _ask(self) -> bool:
        try:
            found = self._client.request("index/search", {"query": "changed"}, timeout=BOUND)
        except (GoneError, RpcError):
            return False
        self.newest = (found["epoch"], found["generation"])
        return True

    def stop(self) -> Acknowledged:
        self._stream.stop()
        self._client.close()
        return self.newest


# --- what must hold


def stands(tree: Path, acknowledged: Acknowledged) -> None:
    """The index as it lies there is whole, and nothing acknowledged is lost."""
    snapshot = open_snapshot(tree / ".indexer")
    assert snapshot.generation >= acknowledged[1]
    assert acknowledged[0] in {"", snapshot.epoch}
    assert verify(tree / ".indexer") == []


def equals_a_new_one(tree: Path) -> None:
    """The index as it lies there, brought up to date by nobody; in both, no file is blamed for a parser's end."""
    with new_index(open_workspace(tree, named=True)) as new:
        assert differences(open_snapshot(tree / ".indexer"), new) == []
        assert [record for record in new.tables().files if record.reason in BLAMED] == []


def settle(home: Home, tree: Path) -> None:
    """The end: whoever comes next finds nothing in its way, and brings the index up to date."""
    start.stop(str(tree), timeout=BOUND)
    RootLock(tree).close()
    home.asked("reindex", tree, "--no-daemon", cwd=tree)
    equals_a_new_one(tree)


# --- whom it hits


def nothing() -> None:
    """No harm beside the kills."""


def daemons(home: Home, tree: Path, rounds: int, harm: Callable[[], None] = nothing) -> None:
    """Kill a daemon; in every other round what it has started goes a moment before."""
    dice = random.Random(7)
    many_files(tree, FILES)
    for number in range(rounds):
        with start.start(str(tree), timeout=BOUND) as client:
            client.request("index/sync", SYNC, timeout=BOUND)
            pid = client.pid
        asking = Asking(tree, number)
        time.sleep(dice.random())
        for victim in family(pid)[1:] if number % 2 else []:
            strike(victim)
        kill(pid)
        acknowledged = asking.stop()
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
            equals_a_new_one(tree)
    settle(home, tree)


def commands(home: Home, tree: Path, rounds: int) -> None:
    """Kill a `reindex` at its work, every third of them a full one, while a second one may wait for its turn."""
    dice = random.Random(8)
    many_files(tree, FILES)
    began = time.monotonic()
    newest = done(home.popen("reindex", tree, "--json", cwd=tree))
    usual = time.monotonic() - began
    kills = 0
    while kills < rounds:
        with edits(tree, kills):
            how = ["--json", "--full"] if kills % 3 == 0 else ["--json"]
            both = [home.popen("reindex", tree, *how, cwd=tree) for _ in range(1 + kills % 2)]
            if dice.random() < 0.5:
                time.sleep(dice.random() * usual)
            else:
                until_it_writes(both[0], tree / ".indexer")
                time.sleep(dice.random() * 0.1)
            strike(both[0].pid)
            ends = [done(process) for process in both]
        kills += ends[0] is KILLED
        newest = max([newest, *ends], key=lambda end: end[1])
        stands(tree, newest)
    settle(home, tree)


def until_it_writes(process: subprocess.Popen[str], index: Path) -> None:
    """Wait until a name has come or gone in the folder of the index."""
    before = index.stat().st_mtime_ns
    while process.poll() is None and index.stat().st_mtime_ns == before:
        time.sleep(0.001)


KILLED: Acknowledged = ("killed", 0)
BUSY: Acknowledged = ("busy", 0)


def done(process: subprocess.Popen[str]) -> Acknowledged:
    """Wait for a `reindex`; return what it acknowledged, or why it did not."""
    out, err = process.communicate(timeout=BOUND)
    if process.returncode == -signal.SIGKILL:
        return KILLED
    if "another indexer is writing" in err:
        return BUSY
    assert process.returncode == 0, err
    return "", json.loads(out)["generation"]


def parsers_of_commands(home: Home, tree: Path, rounds: int) -> None:
    """Kill a parser of a `reindex`, which goes on."""
    dice = random.Random(9)
    many_files(tree, FILES)
    kills = 0
    while kills < rounds:
        with edits(tree, kills):
            process = home.popen("reindex", tree, "--json", "--full", cwd=tree)
            kills += one_of(process.pid, 1, dice)
            newest = done(process)
        assert newest is not KILLED
        stands(tree, newest)
    settle(home, tree)


def parsers_of_daemons(home: Home, tree: Path, rounds: int) -> None:
    """Kill a parser of a daemon's updater, which goes on."""
    dice = random.Random(10)
    many_files(tree, FILES)
    with start.start(str(tree), timeout=BOUND) as client:
        kills = 0
        while kills < rounds:
            with edits(tree, kills):
                kills += one_of(client.pid, 2, dice)
            found = client.request("index/sync", SYNC, timeout=BOUND)
            assert found["fresh"], found
            stands(tree, (found["epoch"], found["generation"]))
            if kills % 10 == 0:
                equals_a_new_one(tree)
    settle(home, tree)


def one_of(pid: int, above: int, dice: random.Random) -> bool:
    """Kill one of a family but the first so many, a little after there is one; whether there was."""
    until = time.monotonic() + BOUND
    while alive(pid) and not family(pid)[above:] and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(dice.random() * 0.2)
    victims = family(pid)[above:]
    return bool(victims) and strike(dice.choice(victims))


def strike(pid: int) -> bool:
    """Kill a process if it is there; whether it was."""
    was = alive(pid)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return was
