"""``python -m tests.fuzz [TARGET ...] [--inputs N] [--first N] [--minutes M]``: try so many inputs of each target.

With ``--minutes`` round after round until the time is over, each with the numbers that follow. Status 1 when anything
broke. A number that broke is tried again by ``python -m tests.fuzz TARGET --first NUMBER --inputs 1``.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.supervise import Result, fuzz
from tests.fuzz.targets import TARGETS


def main() -> int:
    """Try them and print a line a target."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--inputs", type=int, default=1000, help="of each target, in each round")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--minutes", type=float, default=0.0, help="go on for so long")
    given = parser.parse_args()
    results = {name: Result(name) for name in given.targets or TARGETS}
    first, until = given.first, time.monotonic() + 60 * given.minutes
    while True:
        for name, result in results.items():
            found = fuzz(name, first, given.inputs)
            if found.broken and given.minutes:
                print(found.line(), flush=True)
            result.add(found)
            if given.minutes and time.monotonic() > until:
                break
        first += given.inputs
        if time.monotonic() > until:
            break
        _tell(results)
    for result in results.values():
        print(result.line())
    _tell(results)
    return 1 if any(result.broken for result in results.values()) else 0


def _tell(results: dict[str, Result]) -> None:
    inputs, broken = (
        sum(values) for values in zip(*((r.inputs, len(r.broken)) for r in results.values()), strict=True)
    )
    print(f"fuzz: {len(results)} targets, {inputs} inputs, {broken} broken", flush=True)


if __name__ == "__main__":
    sys.exit(main())
