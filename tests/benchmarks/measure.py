"""Whole-process figures: wall and CPU seconds, and peak memory over a process and all its children."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple


class Figures(NamedTuple):
    """One run of a command, children included. ``memory`` is the peak of the proportional set sizes' sum, in MB."""

    wall: float
    cpu: float
    memory: float


def once(command: Sequence[str], cwd: Path, *, memory: bool = False) -> Figures:
    """Run a command to its end; raises when it fails. Sampling memory costs time: ask for it alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        peak = _sample(process.pid) if memory else None
        error = process.stderr.read() if process.stderr else b""
        process.wait()
    wall = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{command}: {error.decode(errors='replace')}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Figures(wall, cpu, peak() if peak else 0.0)


def median(
    runs: int, command: Sequence[str], cwd: Path, before: Callable[[], object] = lambda: None
) -> Figures:
    """Run a command several times, ``before`` ahead of each, and return the median of each figure."""
    found = []
    for _ in range(runs):
        before()
        found.append(once(command, cwd))
    return Figures(*(statistics.median(values) for values in zip(*found, strict=True)))


def _sample(pid: int) -> Callable[[], float]:
    """Watch a process tree until it ends; the returned function gives its peak."""
    peak = [0.0]

    def watch() -> None:
        while total := sum(map(_proportional, _family(pid))):
            peak[0] = max(peak[0], total)
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()

    def ended() -> float:
        thread.join()
        return peak[0]

    return ended


def _family(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [pid, *(member for child in children.split() for member in _family(int(child)))]


def _proportional(pid: int) -> float:
    """Proportional set size in MB: shared pages are counted once over all that share them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def environment() -> str:
    """The machine, in a few words."""
    return f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
