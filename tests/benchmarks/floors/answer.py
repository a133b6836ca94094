"""The least that a first answer takes: Python and numpy started, the index's vectors mapped and passed over once.

Usage: ``python -m tests.benchmarks.floors.answer INDEX``. Prints what this process then holds, in megabytes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import simsimd


def main(index: str) -> None:
    for path in Path(index).rglob("vectors.npy"):
        vectors = np.load(path, mmap_mode="r")
        question = np.ones((1, vectors.shape[1]), np.int8)
        int(np.asarray(simsimd.cdist(question, vectors, "dot")).argmax())
    lines = Path(f"/proc/{os.getpid()}/smaps_rollup").read_text().splitlines()
    print(sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024)


if __name__ == "__main__":
    main(sys.argv[1])
