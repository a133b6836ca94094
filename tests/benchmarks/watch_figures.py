"""The watch's figures: ``python -m tests.benchmarks.watch_figures [SMALLER]``. Nothing here is asserted.

``SMALLER`` divides all sizes. Times are of this machine and its load; beside each stands how much was done.
"""

from __future__ import annotations

import os
import resource
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import measure
from tests.benchmarks.measure import quantile, timed
from tests.scan.trees import commit, git, repository, write
from tests.watch.observing import Eye
from tests.watch.watcher import ask, seen_in, watcher


def line(name: str, value: float, unit: str) -> None:
    print(f"{name:64}{value:10.2f} {unit}", flush=True)


def cookies(folder: Path, rounds: int) -> None:
    """A file is written and the cookie asked for, as a question does."""
    root = repository(folder / "cookies", {f"p{n}/f.py": "" for n in range(50)})
    eye = Eye(root)
    alone, written = [], []
    for n in range(rounds):
        alone.append(timed(eye.sync) * 1000)
        (root / f"p{n % 50}/f.py").write_text(str(n))
        written.append(timed(eye.sync) * 1000)
    eye.close()
    for name, values in (("cookie", alone), ("cookie after a write", written)):
        line(f"{name}, p50 of {rounds}", statistics.median(values), "ms")
        line(f"{name}, p99", quantile(values, 0.99), "ms")


def arming(folder: Path, directories: int) -> None:
    root = repository(folder / "arming")
    for n in range(directories):
        (root / f"d{n % 100}/e{n}").mkdir(parents=True)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    eye = Eye(root)
    seconds = time.perf_counter() - started
    count = eye.watch.state().directories
    line(f"arming {count} directories, for each 10,000", seconds * 1e4 / count, "s")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
    line("  memory a directory, rules included", grown / count, "kB")
    line(f"new rules for {count} directories", timed(lambda: eye.watch.set_rules(eye.rules())), "s")
    (root / "d0").rename(root / "moved")
    line(f"a folder of {count // 100} directories renamed, until known", timed(eye.sync) * 1000, "ms")
    (root / "one/more").mkdir(parents=True)
    line("a folder made in it, until known and watched", timed(eye.sync) * 1000, "ms")
    eye.close()


def ignored(folder: Path, directories: int) -> None:
    root = repository(folder / "ignored", {".gitignore": "node_modules/\n", "a/x.py": ""})
    for n in range(directories):
        (root / f"node_modules/m{n % 1000}/d{n}").mkdir(parents=True)
    started = time.perf_counter()
    eye = Eye(root)
    line(f"arming beside {directories} ignored directories", (time.perf_counter() - started) * 1000, "ms")
    line("  watches", eye.watch.state().directories, "")
    eye.close()


def checkout(folder: Path, files: int) -> None:
    root = repository(folder / "checkout")
    write(root, {f"p{n % 100}/q{n % 7}/f{n}.py": f"one {n}\n" for n in range(files)})
    commit(root)
    git(root, "checkout", "-q", "-b", "other")
    write(root, {f"p{n % 100}/q{n % 7}/f{n}.py": f"other {n}\n" for n in range(files)})
    commit(root)
    truth = Eye(root)
    with watcher(root) as process:
        ask(process)
        for name, stopped in (("stopped", True), ("running", False)):
            before = truth.scan()
            target = "master" if stopped else "other"
            if stopped:
                os.kill(process.pid, signal.SIGSTOP)
            git(root, "checkout", "-q", target)
            started = time.perf_counter()
            if stopped:
                os.kill(process.pid, signal.SIGCONT)
            answer = ask(process)
            seconds = time.perf_counter() - started
            missed = truth.uncovered(before, seen_in(answer))
            line(f"checkout of {files} files while {name}, until dirt is known", seconds, "s")
            line("  missed", len(missed), f"({', '.join(answer['rescans']) or 'no rescan'})")
    truth.close()


def overflow(folder: Path, directories: int) -> None:
    root = repository(folder / "overflow")
    for n in range(directories):
        (root / f"d{n % 200}/e{n}").mkdir(parents=True)
    with watcher(root) as process:
        os.kill(process.pid, signal.SIGSTOP)
        for n in range(20_000):
            (root / f"d{n % 200}/x{n % 9000}.py").write_text(str(n))
        started = time.perf_counter()
        os.kill(process.pid, signal.SIGCONT)
        answer = ask(process)
        line(
            f"{directories} directories and an overflow, until armed again",
            time.perf_counter() - started,
            "s",
        )
        line("  re-arms", answer["rearms"], f"({', '.join(answer['rescans'])})")


def main() -> None:
    """Measure and print."""
    smaller = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    print(measure.environment())
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOME"] = name
        folder = Path(name)
        cookies(folder, 2000 // smaller)
        arming(folder, 20_000 // smaller)
        ignored(folder, 100_000 // smaller)
        checkout(folder, 20_000 // smaller)
        overflow(folder, 20_000 // smaller)


if __name__ == "__main__":
    main()
