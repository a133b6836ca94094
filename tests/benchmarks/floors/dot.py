"""The least that comparing a question with everything costs: one pass over as many int8 vectors.

Usage: ``python -m tests.benchmarks.floors.dot ROWS DIM COUNT``. Prints seconds as JSON.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import simsimd


def main(rows: str, dim: str, count: str) -> None:
    random = np.random.default_rng(0)
    vectors = random.integers(-127, 128, (int(rows), int(dim)), np.int8)
    seconds = []
    for _ in range(int(count)):
        question = random.integers(-127, 128, (1, int(dim)), np.int8)
        started = time.perf_counter()
        scores = np.asarray(simsimd.cdist(question, vectors, "dot"))
        int(scores.argmax())
        seconds.append(time.perf_counter() - started)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
