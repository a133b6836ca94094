"""Whole-process figures (wall and CPU seconds, peak memory over a process and all its children), and what is made of many."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_LONGEST_PAUSE = 0.25  # seconds between two looks at the memory


class Figures(NamedTuple):
    """One run of a command, children included. ``memory`` is the peak of the proportional set sizes' sum, in MB."""

    wall: float
    cpu: float
    memory: float


def once(
    command: Sequence[str] | Sequence[str | Path],
    cwd: Path,
    *,
    memory: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Figures:
    """Run a command to its end; raises when it fails. Sampling memory costs time: ask for it alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
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
    runs: int,
    command: Sequence[str] | Sequence[str | Path],
    cwd: Path,
    before: Callable[[], object] = lambda: None,
    *,
    environment: Mapping[str, str] | None = None,
) -> Figures:
    """Run a command several times, ``before`` ahead of each, and return the median of each figure."""
    found = []
    for _ in range(runs):
        before()
        found.append(once(command, cwd, environment=environment))
    return Figures(*(statistics.median(values) for values in zip(*found, strict=True)))


def timed(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def quantile(values: Sequence[float], share: float) -> float:
    """The value that ``share`` of them do not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _sample(pid: int) -> Callable[[], float]:
    """Watch a process tree until it ends; the returned function gives its peak.

    A look walks the page tables of what it looks at, so a pause is twenty times as long as the look before it.
    """
    peak = [0.0]

    def watch() -> None:
        while True:
            looked = time.perf_counter()
            total = resident(pid)
            if not total:
                return
            peak[0] = max(peak[0], total)
            time.sleep(min(max(0.02, 20 * (time.perf_counter() - looked)), _LONGEST_PAUSE))

    thread = threading.Thread(target=watch)
    thread.start()

    def ended() -> float:
        thread.join()
        return peak[0]

    return ended


def family(pid: int) -> list[int]:
    """A process and all below it, as far as they are still there."""
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [member for child in children.read_text().split() for member in family(int(child))]
        except OSError:
            continue
    return found


def resident(pid: int) -> float:
    """Megabytes of a process and all below it: shared pages count once over all that share them."""
    return sum(map(_proportional, family(pid)))


def _proportional(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def processor_seconds(pid: int) -> float:
    """Seconds that all threads of a process and of those below it have run, by the scheduler's own clock."""
    total = 0
    for member in family(pid):
        for thread in Path(f"/proc/{member}/task").glob("*/schedstat"):
            try:
                total += int(thread.read_text().split()[0])
            except OSError:
                continue
    return total / 1e9


def environment() -> str:
    """The machine, in a few words."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.machine(),
    )
    memory = int(next(iter(_lines("/proc/meminfo")), "MemTotal: 0 kB").split()[1]) / 1024**2
    return (
        f"{os.cpu_count()} CPUs ({model}), {memory:.0f} GiB, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
