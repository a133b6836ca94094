"""Fuzzing in processes that may die: an input that crashes or hangs its process is named, and the rest is tried all the same.

The child writes the number it is about to try into memory that it shares with its parent, so nothing is lost with it.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from indexer.chunk.worker import limit_memory
from tests.fuzz.targets import TARGETS, Check

HANGS_SECONDS = 20.0  # of the processor's time on one small input
_LOOK_SECONDS = 0.5
_STATE = struct.Struct("=qqd")  # the number at hand, the slowest number, and its seconds


@dataclass
class Result:
    """What came of one target: how many inputs, what broke by its number, and the slowest input."""

    target: str
    inputs: int = 0
    broken: dict[int, str] = field(default_factory=dict)
    slowest: int = 0
    seconds: float = 0.0

    def add(self, other: Result) -> None:
        """Take in what came of further inputs of the same target."""
        self.inputs += other.inputs
        self.broken |= other.broken
        if other.seconds > self.seconds:
            self.slowest, self.seconds = other.slowest, other.seconds

    def line(self) -> str:
        """One line of figures."""
        broken = "".join(f"\n    {number}: {why}" for number, why in list(self.broken.items())[:20])
        return (
            f"{self.target}: {self.inputs} inputs, {len(self.broken)} broken,"
            f" the slowest {self.seconds:.2f} s (number {self.slowest}){broken}"
        )


def fuzz(target: str, first: int, inputs: int) -> Result:
    """Try so many numbers from ``first`` on, in children of this process, which must have one thread."""
    result = Result(target)
    check = TARGETS[target]()  # samples are read and mutants known before the children are made
    at, end = first, first + inputs
    with mmap.mmap(-1, _STATE.size) as shared:
        while at < end:
            reader, writer = os.pipe()
            _STATE.pack_into(shared, 0, at, 0, 0.0)
            child = os.fork()
            if child == 0:
                _try_all(check, at, end, shared, writer)
            os.close(writer)
            why = _wait(child, shared)
            with os.fdopen(reader, encoding="utf-8", errors="replace") as pipe:
                said = pipe.read()
            number, slowest, seconds = _STATE.unpack_from(shared, 0)
            result.add(Result(target, number - at, {}, slowest, seconds))
            at = number
            if at < end:
                result.broken[number] = said.strip() or why
                result.inputs += 1
                at += 1
    return result


def _try_all(check: Check, first: int, end: int, shared: mmap.mmap, writer: int) -> None:
    """The child: try one number after another; never returns."""
    slowest, seconds = first, 0.0
    limit_memory(0)
    warnings.simplefilter("error")
    try:
        for number in range(first, end):
            _STATE.pack_into(shared, 0, number, slowest, seconds)
            start = time.process_time()
            check(number)
            if (taken := time.process_time() - start) > seconds:
                slowest, seconds = number, taken
        _STATE.pack_into(shared, 0, end, slowest, seconds)
    except BaseException as error:  # noqa: BLE001  (whatever it is, it is what was looked for)
        place = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {str(error)[:300]} ({Path(place.filename).name}:{place.lineno})"
        os.write(writer, said.encode("utf-8", "replace"))
        os._exit(1)
    os._exit(0)


def _wait(child: int, shared: mmap.mmap) -> str:
    """Wait for the child's end, or kill it when one input takes it too long; return how it ended."""
    number, since = -1, 0.0
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        used = _processor_seconds(child)
        if (now := _STATE.unpack_from(shared, 0)[0]) != number:
            number, since = now, used
        elif used - since > HANGS_SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return f"stopped after {HANGS_SECONDS:g} s"
        time.sleep(_LOOK_SECONDS if used > 1 else 0.01)


def _processor_seconds(pid: int) -> float:
    with suppress(OSError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0
