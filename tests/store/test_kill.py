"""A writer in a process of its own, killed at random moments: what it promised is there, and the next one goes on."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from indexer.keys import keys_of
from indexer.store import Writer, open_snapshot, verify
from tests.store.samples import IDENTITY, QuickDisk, put

WORK = """
import sys
from pathlib import Path
from indexer.store import Writer, commit, tiers
from tests.store.samples import IDENTITY, put
tiers.MOST_PIECES, tiers.FEWEST, commit.FOLD_BYTES = 3, 2, 30_000
root = Path(sys.argv[1])
with Writer(root, root / ".indexer", IDENTITY, keep_generations=3) as writer:
    assert not writer.notes, writer.notes
    number = max(0, len(writer.snapshot.paths) - 1)
    while True:
        put(writer, f"f{number}", b"alpha %d\\nbeta %d\\n" % (number, number))
        put(writer, "counter", b"count %d\\n" % number)
        writer.commit()
        print(number, flush=True)
        number += 1
"""


def test_twenty_kills(root: Path) -> None:
    draw = random.Random(7)
    top = str(Path(__file__).resolve().parents[2])
    promised = -1
    for _ in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", WORK, str(root)], cwd=top, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()  # it works now
        assert first, process.stderr.read().decode()
        time.sleep(draw.random() * 0.05)
        process.kill()
        lines = [first, *process.stdout.read().splitlines()]
        process.wait()
        process.stdout.close()
        process.stderr.close()
        promised = max(promised, int(lines[-1]))
        snapshot = open_snapshot(root / ".indexer", IDENTITY)
        numbers = sorted(int(path[1:]) for path in snapshot.paths if path != "counter")
        assert numbers == list(range(len(numbers)))
        assert numbers[-1] in {promised, promised + 1}, "promised, or under way when it was killed"
        at = snapshot.file_of("counter")
        assert at is not None
        counter = snapshot.rows.content[snapshot.files.first_row[at]]
        # Both files of a commit are there, or neither.
        assert counter == snapshot.stack.find("contents", keys_of([b"count %d" % numbers[-1]]))[0]
        assert verify(root / ".indexer") == []
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
        put(writer, "last", b"word\n")
        writer.commit()
    assert not [path for path in (root / ".indexer").iterdir() if path.name.startswith(("tmp-", "bad-"))]
