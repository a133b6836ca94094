"""Parsing by tree-sitter within bounds.

Counts decide first: a parse may take so many steps for its length, a walk so many nodes. They do not see everything.
In a long stretch of errors each step of tree-sitter copies what it has skipped so far: 9 KB of ``a=>`` cost the C
grammar 8 seconds and 3 GB, at no more steps than good code takes. So the parse is also stopped when it has taken many
times the memory or processor time that any real file of its length was seen to take.

One step of its own is out of reach: at an error, or the end, deep inside expressions that are not closed, tree-sitter
may take gigabytes before it reports again (``a<`` 50,000 times in Java). Only a limit on the process holds there, and
so `indexer.chunk.worker` parses in processes that may die.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tree_sitter import Parser

if sys.platform != "win32":
    import resource

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

# tree-sitter reports about every hundred steps, real code has one report in 30 to 130 bytes, and the worst
# ambiguous C++ that was tried one in ten: what needs one a byte is not worth the time.
_REPORTS_FREE, _REPORTS_PER_BYTE = 5_000, 1
_NODES_FREE, _NODES_PER_BYTE = 10_000, 8
# Real code takes 0.1 to 0.3 microseconds a byte, and 40 bytes of memory a byte where it is densest.
_SECONDS_FREE, _SECONDS_PER_BYTE = 0.75, 1.5e-6
_MEMORY_FREE, _MEMORY_PER_BYTE = 64_000_000, 150
_LOOK_EVERY = 64  # reports between looks at clock and memory (30 microseconds), while there is no error
TOO_MANY_NODES = "the syntax tree has too many nodes"
# Some scanners (Perl, Scala) look ahead so often that the text is asked for 150 times a kilobyte: each answer is small.
_READ = 1 << 10
_LONGEST_SIGNATURE = 400
_LONE_CR = re.compile(rb"\r(?!\n)")
_local = threading.local()
_RUSAGE_UNIT = 1 if sys.platform == "darwin" else 1024


class _Budget:
    """Called by tree-sitter on the way; stops the parse, and knows why."""

    def __init__(self, size: int) -> None:
        self.exceeded = ""
        self._size = size
        self._reports = 0
        self._most_reports = _REPORTS_FREE + _REPORTS_PER_BYTE * size
        self._end = time.thread_time() + _SECONDS_FREE + _SECONDS_PER_BYTE * size
        self._most_memory = _resident() + _MEMORY_FREE + _MEMORY_PER_BYTE * size

    def __call__(self, offset: int, has_error: bool) -> bool:  # noqa: FBT001  (tree-sitter's own signature)
        self._reports += 1
        if self._reports > self._most_reports:
            self.exceeded = "the parse took too many steps"
        elif has_error or offset >= self._size or self._reports % _LOOK_EVERY == 0:
            if self._is_too_big():
                self.exceeded = "the parse took too much memory"
            elif time.thread_time() > self._end:
                self.exceeded = "the parse took too much time"
        return bool(self.exceeded)

    def _is_too_big(self) -> bool:
        """Whether too much memory is in use; the highest use so far is quicker to ask for, and nearly always enough."""
        return _highest() > self._most_memory and _resident() > self._most_memory


def _highest() -> int:
    """The most bytes of memory that this process has had in use."""
    if sys.platform == "win32":
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RUSAGE_UNIT


def _resident() -> int:
    """Bytes of memory in use by this process; where the system does not tell, the most it has had."""
    with suppress(OSError), open("/proc/self/statm", "rb", buffering=0) as stream:  # noqa: PTH123  (often called)
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return _highest()


def _buffers() -> list[bytearray]:
    """This thread's buffers to hand texts to the parser in, by their length.

    The binding (0.26.1) never lets go of what it is handed: each text would stay in memory for good. tree-sitter is done
    with a piece when it asks for the next one.
    """
    if not hasattr(_local, "buffers"):
        _local.buffers = [bytearray(length) for length in range(_READ + 1)]
    found: list[bytearray] = _local.buffers
    return found


def parse(language: Language, text: bytes) -> Tree | str:
    """The tree of ``text``, or why there is none."""
    if b"\r" in text:  # to most grammars a lone CR ends neither a line nor a comment
        text = _LONE_CR.sub(b"\n", text)

    buffers = _buffers()

    def read(offset: int, _point: object) -> bytearray:
        piece = text[offset : offset + _READ]
        buffer = buffers[len(piece)]
        buffer[:] = piece
        return buffer

    budget = _Budget(len(text))
    # A parser of its own for each text: they are cheap, and none is left in the middle of an aborted parse.
    try:
        return Parser(language).parse(read, progress_callback=budget)
    except ValueError:
        return budget.exceeded


def node_budget(text: bytes) -> int:
    """How many nodes of a tree may be visited."""
    return _NODES_FREE + _NODES_PER_BYTE * len(text)


def shorten(text: bytes, start: int, end: int) -> tuple[int, int]:
    """A signature's range, cut (between two characters) where it is longer than anybody reads."""
    if end - start > _LONGEST_SIGNATURE:
        end = start + _LONGEST_SIGNATURE
        while end > start and 0x80 <= text[end] < 0xC0:
            end -= 1
    return (start, end) if end > start else (0, 0)
