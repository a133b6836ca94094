"""What a kill or a power cut may leave of an index, and what must come of it; and a ledger of the states that were judged."""

from __future__ import annotations

import shutil
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from indexer.errors import NotIndexedError
from indexer.store import Writer, open_snapshot, verify
from tests.store.replay import Tree, World, lay_out
from tests.store.samples import IDENTITY, QuickDisk, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from indexer.store.dump import Dump
    from tests.store.scripts import Run


class State(NamedTuple):
    """What is there after so many operations, and how it has come to that; ``kind`` is the first word of it."""

    at: int
    how: str
    tree: Tree

    @property
    def kind(self) -> str:
        return self.how.split(" ", 1)[0]


class Ledger:
    """The distinct states that were judged, of all scripts; what is inside a temporary folder makes no difference."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self._seen: set[int] = set()
        self._judged: set[tuple[int, int]] = set()

    def __len__(self) -> int:
        return len(self._seen)

    def is_new(self, state: State, good: object = None) -> bool:
        """Note a state; whether it has not been held against what is ``good`` for it yet."""
        digest = xxhash.xxh3_128()
        for path, data in sorted(state.tree.items()):
            if not path.startswith(".indexer/tmp-g") or data is None:
                digest.update(f"{path}\0{-1 if data is None else len(data)}\0".encode())
                digest.update(data or b"")
        key = digest.intdigest()
        if key not in self._seen:
            self._seen.add(key)
            self.kinds[state.kind] += 1
        judged = (key, id(good))
        new = judged not in self._judged
        self._judged.add(judged)
        return new


# --- killed, and power cuts


def states(run: Run, *, every: bool = False) -> Iterator[State]:
    """Every crash point, and every tree that it may leave; with ``every`` more of them."""
    world = World(run.directory.parent)
    for at, operation in enumerate(run.disk.operations):
        what = f"{operation.what} {operation.path.name}"
        if operation.what == "write":
            for part in (0.0, 0.5, 0.99) if every else (0.5,):
                torn = World(run.directory.parent)
                for one in run.disk.operations[:at]:
                    torn.apply(one)
                torn.apply(operation, part)
                yield State(at, f"killed in {what}", torn.killed())
        world.apply(operation)
        yield State(at + 1, f"killed after {what}", world.killed())
        for number, tree in enumerate(world.power_cut(run.directory, every=every)):
            yield State(at + 1, f"power cut {number} after {what}", tree)


def allowed(run: Run, at: int) -> list[Dump | None]:
    """Generation promised last before the crash, and the one under way."""
    promised = [number for number, (end, _) in enumerate(run.acknowledged) if end <= at][-1]
    return [dump for _, dump in run.acknowledged[promised : promised + 2]]


def look(directory: Path) -> Dump | None:
    try:
        return open_snapshot(directory, IDENTITY).tables()
    except NotIndexedError:
        return None


def problems(run: Run, scratch: Path, ledger: Ledger | None = None, *, every: bool = False) -> list[str]:
    """Crashes after which the index is none of those allowed, or cannot go on."""
    ledger = Ledger() if ledger is None else ledger
    found = []
    for state in states(run, every=every):
        good = allowed(run, state.at)
        if ledger.is_new(state, good[0]):
            found += judged(state, scratch, partial(_goes_on, good=good))
    return found


def judged(state: State, scratch: Path, judge: Callable[[Path], None]) -> list[str]:
    """Lay a state out, and tell what is wrong with it."""
    lay_out(state.tree, scratch)
    try:
        judge(scratch)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is told with its state)
        return [f"operation {state.at}, {state.how}: {type(error).__name__}: {str(error)[:200]}"]
    finally:
        shutil.rmtree(scratch)
    return []


def _goes_on(root: Path, good: list[Dump | None]) -> None:
    directory = root / ".indexer"
    assert look(directory) in good, "a reader sees a generation"
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        assert not writer.notes, writer.notes
        paths = set(writer.snapshot.paths)
        put(writer, "after", b"the crash\n")
        writer.commit()
    assert set(open_snapshot(directory).paths) == paths | {"after"}
    is_clean(directory)


def is_clean(directory: Path) -> None:
    """All checksums hold, and nothing lies about."""
    assert verify(directory) == []
    names = {path.name for path in directory.iterdir()}
    assert not [name for name in names if name.startswith(("tmp-", "bad-", "manifest.next"))], names
