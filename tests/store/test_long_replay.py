"""Scripts at random, and all that kills, power cuts, damaged files and a refusing disk may leave of them.

`INDEXER_STATES` is another number of distinct states than 20,000.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.store import Writer, opening, segment
from indexer.store.disk import Disk
from indexer.store.format import Counts
from indexer.store.manifest import SegmentEntry
from indexer.store.segment import Segment
from tests.store import crashes, damages, refusing
from tests.store.scripts import Run, limits_at_random, play_at_random

POINTS = 40  # operations of a script, at most, after which every file is damaged
COMMITS = 2  # of a script, at most, in which every operation is refused


Part = Callable[[Run, Path, crashes.Ledger, random.Random], list[str]]


def crashed(run: Run, scratch: Path, ledger: crashes.Ledger, _: random.Random) -> list[str]:
    return crashes.problems(run, scratch, ledger, every=True)


def harmed(run: Run, scratch: Path, ledger: crashes.Ledger, dice: random.Random) -> list[str]:
    return damages.problems(run, scratch, ledger, dice, POINTS)


def refused(run: Run, scratch: Path, ledger: crashes.Ledger, dice: random.Random) -> list[str]:
    def again() -> None:
        dice.seed(0)

    some = dice.sample(run.commits, min(COMMITS, len(run.commits)))
    return [line for commit in some for line in refusing.problems(run, scratch, ledger, commit, again)]


PARTS: tuple[Part, ...] = (crashed, harmed, refused)


def replay(
    seed: int, root: Path, scratch: Path, ledger: crashes.Ledger, parts: tuple[Part, ...] = PARTS
) -> list[str]:
    """Play one script, and judge all that may be left of it."""
    dice = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        # Names and epochs by the seed too, so that the same states come again, and count once.
        patch.setattr(secrets, "token_hex", lambda count: dice.randbytes(count).hex())
        limits_at_random(patch, dice)
        run = Run(root)
        play_at_random(run, dice)
        run.writer.close()
        found = [line for part in parts for line in part(run, scratch, ledger, dice)]
    shutil.rmtree(root / ".indexer")
    return [f"script {seed}, {line}" for line in found]


def test_a_script_at_random(root: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.POINTS", 4)
    ledger = crashes.Ledger()
    assert replay(3, root, scratch, ledger) == []
    assert ledger.kinds.keys() == {"killed", "power", "damaged:", "refused:"}


@pytest.mark.slow
def test_twenty_thousand_states(root: Path, scratch: Path) -> None:
    wanted = int(os.environ.get("INDEXER_STATES", "20000"))
    ledger, seed, began = crashes.Ledger(), 0, time.monotonic()
    while len(ledger) < wanted:
        seed += 1
        assert replay(seed, root, scratch, ledger) == []
    kinds = ", ".join(f"{kind.rstrip(':')} {count:,}" for kind, count in ledger.kinds.items())
    print(f"{len(ledger):,} store states of {seed} scripts ({kinds}) in {time.monotonic() - began:.0f} s")


# --- the replay can fail


def checksums_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    """A writer opens large segments as a reader does."""

    def hasty(
        disk: Disk, directory: Path, entry: SegmentEntry, base: Counts, dim: int, *, verify: bool
    ) -> Segment:
        return segment.open_segment(disk, directory, entry, base, dim, verify=False)

    patch.setattr(opening, "open_segment", hasty)


def a_failed_manifest_forgotten(patch: pytest.MonkeyPatch) -> None:
    """What it names is swept away, though it stands on the disk."""
    patch.setattr(Writer, "_standing", lambda self: frozenset())


@pytest.mark.parametrize(
    ("plant", "part", "seed"),
    [(checksums_not_looked_at, harmed, 6), (a_failed_manifest_forgotten, refused, 1)],
)
def test_a_planted_fault_is_found(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[pytest.MonkeyPatch], None],
    part: Part,
    seed: int,
) -> None:
    plant(monkeypatch)
    monkeypatch.setattr(f"{__name__}.POINTS", 2)
    assert replay(seed, root, root.parent / "scratch", crashes.Ledger(), (part,))
