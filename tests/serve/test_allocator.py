"""The allocator of a daemon's process: one arena, however many threads."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

_ARENAS = """
import ctypes, os, sys, threading
from indexer.serve.allocator import share_one_arena
if sys.argv[1] == "one":
    share_one_arena()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
held = []
gate = threading.Barrier(5)
def take():
    gate.wait()
    held.extend(libc.malloc(100_000) for _ in range(50))
    gate.wait()
threads = [threading.Thread(target=take) for _ in range(4)]
[thread.start() for thread in threads]
gate.wait()
gate.wait()
[thread.join() for thread in threads]
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out)
libc.fflush(out)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_info"), reason="another C library than glibc")
def test_threads_share_one_arena() -> None:
    arenas = {}
    for how in ("one", "any"):
        done = subprocess.run(
            [sys.executable, "-c", _ARENAS, how], check=True, capture_output=True, text=True, timeout=60
        )
        arenas[how] = done.stdout.count("<heap nr=")
    assert arenas["one"] == 1
    assert arenas["any"] > 1, "what is counted are arenas"
