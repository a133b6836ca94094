"""The least between a save and its being durable elsewhere: write, be told by inotify, read, hash, parse, append, fdatasync.

Usage: ``python -m tests.benchmarks.floors.save FILE.c COUNT``: of a copy of that file. Prints seconds as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import xxhash
from tree_sitter import Parser

from indexer.chunk import walk

_CLOSE_WRITE = 0x8


def main(file: str, count: str) -> None:
    text = Path(file).read_text(errors="replace")
    grammar = walk.load("c")
    assert grammar is not None
    parser = Parser(grammar.language)
    with tempfile.TemporaryDirectory(dir=Path(file).parent) as folder:
        told = _watched(folder)
        index = os.open(f"{folder}/index", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        saved, seconds = Path(folder) / "saved.c", []
        for number in range(int(count)):
            started = time.perf_counter()
            saved.write_text(f"{text}\nint saved_{number};\n")
            os.read(told, 4096)
            data = saved.read_bytes()
            parser.parse(data)
            os.write(index, xxhash.xxh3_128_digest(data) + data)
            os.fdatasync(index)
            seconds.append(time.perf_counter() - started)
    print(json.dumps(seconds))


def _watched(folder: str) -> int:
    """A descriptor that tells of files that were written in a folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    told = int(libc.inotify_init1(os.O_CLOEXEC))
    if told < 0 or libc.inotify_add_watch(told, os.fsencode(folder), _CLOSE_WRITE) < 0:
        raise OSError(ctypes.get_errno(), "no watch could be had")
    return told


if __name__ == "__main__":
    main(*sys.argv[1:])
