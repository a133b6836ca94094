"""A watch in a process of its own, which can be stopped: ``python -m tests.watch.watcher ROOT``.

It says what it has armed, and answers each line of input with what was dirty since the last, as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.watch.observing import Eye, Seen


@contextmanager
def watcher(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Run one. Its first line has been read."""
    command = [sys.executable, "-m", "tests.watch.watcher", str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["directories"]
        yield process
        assert process.stdin is not None
        process.stdin.close()


def ask(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Ask one what was dirty."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("?\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def seen_in(answer: dict[str, Any]) -> Seen:
    return Seen(set(answer["paths"]), set(answer["trees"]), answer["rescans"], [], answer["rules_changed"])


def main() -> None:
    eye = Eye(Path(sys.argv[1]))
    print(json.dumps({"directories": eye.watch.state().directories}), flush=True)
    for _ in sys.stdin:
        started = time.perf_counter()
        seen = eye.sync()
        state = eye.watch.state()
        answer = {
            "paths": sorted(seen.paths),
            "trees": sorted(seen.trees),
            "rescans": seen.rescans,
            "rules_changed": seen.rules_changed,
            "rearms": state.rearms,
            "directories": state.directories,
            "wrong": eye.wrong_watches()[:5] if len(sys.argv) > 2 else [],
            "seconds": time.perf_counter() - started,
        }
        print(json.dumps(answer), flush=True)
    eye.close()


if __name__ == "__main__":
    main()
