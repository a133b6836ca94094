"""Readers beside a busy writer: always a whole generation, never an older one than before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from indexer.errors import NotIndexedError
from indexer.store import Snapshot, open_snapshot
from tests.store.samples import IDENTITY

WORK = """
import sys
from pathlib import Path
from indexer.store import Writer, commit, tiers
from tests.store.samples import IDENTITY, QuickDisk, put
tiers.MOST_PIECES, tiers.FEWEST, commit.FOLD_BYTES = 2, 2, int(sys.argv[2])
root = Path(sys.argv[1])
with Writer(root, root / ".indexer", IDENTITY, keep_generations=2, disk=QuickDisk()) as writer:
    for number in range(300):
        put(writer, f"f{number % 7}", b"alpha %d\\nbeta\\n" % number)
        put(writer, "counter", b"count_%d\\n" % number)
        writer.commit()
        if number % 50 == 49:
            writer.compact()
"""


def look(snapshot: Snapshot) -> int:
    """Hold a generation together: both files of its commit are there, and the dump can be made."""
    at = snapshot.file_of("counter")
    assert at is not None
    row = int(snapshot.files.first_row[at])
    number = int(snapshot.chunk(row).symbol.removeprefix("count_"))
    at = snapshot.file_of(f"f{number % 7}")
    assert at is not None
    first = snapshot.rows.content[snapshot.files.first_row[at]]
    assert len(snapshot.tables().rows) == 1 + 2 * min(number + 1, 7)
    assert snapshot.live[first]
    return number


def watch(root: Path, fold: int) -> int:
    top = str(Path(__file__).resolve().parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", WORK, str(root), str(fold)], cwd=top, stderr=subprocess.PIPE
    )
    last, looks = -1, 0
    previous: Snapshot | None = None
    while process.poll() is None:
        try:
            snapshot = open_snapshot(root / ".indexer", IDENTITY, previous)
        except NotIndexedError:
            assert previous is None
            continue
        assert previous is None or snapshot.epoch == previous.epoch
        number = look(snapshot)
        assert number >= last
        last, looks, previous = number, looks + 1, snapshot
    assert process.stderr is not None
    assert process.returncode == 0, process.stderr.read().decode()
    process.stderr.close()
    assert look(open_snapshot(root / ".indexer")) == 299
    return looks


def test_readers_beside_a_writer_of_files(root: Path) -> None:
    assert watch(root, 1 << 22) > 10


def test_readers_beside_a_writer_of_folders(root: Path) -> None:
    assert watch(root, 1) > 10
