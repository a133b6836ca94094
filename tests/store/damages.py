"""Files of an index that were damaged: a reader sees a generation or is told, and the next run mends it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from indexer.errors import StoreError
from indexer.store import Writer, open_snapshot
from indexer.store.format import ARRAY_SUFFIX
from tests.store.crashes import Ledger, State, allowed, is_clean, judged, look
from tests.store.replay import Tree, World
from tests.store.samples import IDENTITY, QuickDisk, build
from tests.store.scripts import BEFORE, make

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

    from indexer.store.dump import Dump
    from tests.store.scripts import Run


def damaged(run: Run, dice: random.Random, points: int) -> Iterator[State]:
    """After some of the operations, each file torn, with a bit flipped, overwritten, emptied or gone."""
    total = len(run.disk.operations)
    ends = set(dice.sample(range(1, total + 1), min(points, total)))
    world = World(run.directory.parent)
    for at, operation in enumerate(run.disk.operations, 1):
        world.apply(operation)
        if at in ends:
            tree = world.killed()
            for path in [path for path, data in tree.items() if data]:
                how, harmed = _harmed(tree, path, dice)
                yield State(at, f"damaged: {path}: {how}", harmed)


def _harmed(tree: Tree, path: str, dice: random.Random) -> tuple[str, Tree]:
    data = bytearray(tree[path] or b"")
    at = dice.randrange(len(data))
    how = dice.choice(["torn", "flipped", "flipped", "zeros", "longer", "empty", "gone"])
    if how == "gone":
        return how, {name: one for name, one in tree.items() if name != path}
    if how == "flipped":
        data[at] ^= 1 << dice.randrange(8)
    elif how == "zeros":
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    elif how == "longer":
        data += dice.randbytes(100)
    else:
        del data[at if how == "torn" else 0 :]
    return how, {**tree, path: bytes(data)}


def problems(run: Run, scratch: Path, ledger: Ledger, dice: random.Random, points: int) -> list[str]:
    """Damaged files after which a reader sees what never was, or a run that puts everything does not mend the index."""
    want = open_snapshot(build(scratch, BEFORE)).tables()
    shutil.rmtree(scratch)
    found = []
    for state in damaged(run, dice, points):
        good = [dump for end, dump in run.acknowledged if end <= state.at] + allowed(run, state.at)
        if ledger.is_new(state):
            # Of a large segment's arrays readers know the size alone: their bytes are verified by writers.
            unseen = ARRAY_SUFFIX in state.how and not state.how.endswith(("torn", "longer", "empty", "gone"))
            found += judged(state, scratch, partial(_is_mended, good=None if unseen else good, want=want))
    return found


def _is_mended(root: Path, good: list[Dump | None] | None, want: Dump) -> None:
    directory = root / ".indexer"
    if good is not None:
        with suppress(StoreError):  # it is told
            assert look(directory) in good, "a reader sees a generation, or is told"
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        make(writer, dict.fromkeys(writer.snapshot.known()[0].keys() - BEFORE.keys()))
        make(writer, dict(BEFORE))
        writer.commit()
    assert open_snapshot(directory, IDENTITY).tables() == want
    is_clean(directory)
