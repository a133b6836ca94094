"""The least that a first answer takes: a process started, an index opened, and one question put to it (`least`).

Usage: ``python -m tests.benchmarks.floors.answer ROOT``. Prints what this process then holds, in megabytes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.benchmarks.floors.least import Index


def main(root: str) -> None:
    Index(Path(root)).answer("how is a page allocated")
    lines = Path(f"/proc/{os.getpid()}/smaps_rollup").read_text().splitlines()
    print(sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024)


if __name__ == "__main__":
    main(sys.argv[1])
