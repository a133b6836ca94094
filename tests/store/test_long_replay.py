"""Scripts at random, and all that kills, power cuts, damaged files and a refusing disk may leave of them.

`INDEXER_STATES` is another number of distinct states than 20,000.
"""

from __future__ import annotations

import os
import random
import secrets
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from tests.store import crashes, damages, refusing
from tests.store.scripts import Run, limits_at_random, play_at_random

if TYPE_CHECKING:
    from pathlib import Path

POINTS = 8  # operations of a script after which every file is damaged


def replay(seed: int, root: Path, scratch: Path, ledger: crashes.Ledger) -> list[str]:
    """Play one script, and judge all that may be left of it."""
    dice = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        # Names and epochs by the seed too, so that the same states come again, and count once.
        patch.setattr(secrets, "token_hex", lambda count: dice.randbytes(count).hex())
        limits_at_random(patch, dice)
        run = Run(root)
        play_at_random(run, dice)
        run.writer.close()
        found = crashes.problems(run, scratch, ledger, every=True)
        found += damages.problems(run, scratch, ledger, dice, POINTS)
        for commit in run.commits:
            found += refusing.problems(run, scratch, ledger, commit)
    shutil.rmtree(root / ".indexer")
    return [f"script {seed}, {line}" for line in found]


def test_a_script_at_random(root: Path, scratch: Path) -> None:
    ledger = crashes.Ledger()
    assert replay(1, root, scratch, ledger) == []
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
