"""What the C library's allocator keeps: as little as can be asked of it. Of glibc alone; others are left as they are."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

_ARENA_MAX = -8  # M_ARENA_MAX of mallopt(3)


def share_one_arena() -> None:
    """Let all threads allocate from one place; to be called before there are several.

    Each thread would get an arena of its own otherwise, and each keep what its largest question took. The interpreter's
    lock lets one of them run at a time, so that they hardly ever wait for each other.
    """
    if mallopt := _of_the_library("mallopt"):
        mallopt(_ARENA_MAX, 1)


def collect_nothing_yet() -> None:
    """Look for no cycles of garbage until `collect_from_now_on`.

    A daemon that starts makes a million values that stay, and hardly one that goes: to look through them time and again
    takes a seventh of the start; and once it serves, tens of milliseconds of a question now and then.
    """
    gc.disable()


def collect_from_now_on() -> None:
    """Give back what the start has left free, and look for cycles of garbage again, only among what is made from now on."""
    give_back_memory()
    gc.freeze()
    gc.enable()


def give_back_memory() -> None:
    """Return to the system what a large job has left free: the allocator keeps it otherwise, for as long as we live."""
    gc.collect()
    if trim := _of_the_library("malloc_trim"):
        trim(0)


def _of_the_library(name: str) -> Any:
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
