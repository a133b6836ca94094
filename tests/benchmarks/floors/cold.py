"""The least that an index from nothing costs: each file read, hashed, parsed, passed over once for its words, and written about.

Usage: ``python -m tests.benchmarks.floors.cold ROOT BYTES [NAMES]``. BYTES are written and synced in the end, as many
as the index has. NAMES is a file with a path a line; otherwise it is all that git lists.
"""

from __future__ import annotations

import ast
import gc
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

import xxhash
from tree_sitter import Parser

from indexer.chunk import walk
from indexer.chunk.languages import language_of

_WORDS = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_MOST_BYTES = 1_000_000
_HEAD = 8192
_AT_ONCE = 32  # files a worker is given at once


@cache
def _parser(language: str) -> Callable[[bytes], object]:
    if language == "python":
        return ast.parse
    grammar = walk.load(language)
    return Parser(grammar.language).parse if grammar else len


def work(path: str) -> int:
    """Do one file; return how many words it has."""
    file = Path(path)
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
        return 0
    data = file.read_bytes()
    xxhash.xxh3_128_digest(data)
    if b"\0" in data[:_HEAD]:
        return 0
    with suppress(SyntaxError, ValueError, RecursionError):  # the parse was paid for all the same
        _parser(language_of(path, data[:_HEAD]))(data)
    return len(_WORDS.findall(data))


def _start() -> None:
    gc.disable()  # as ours
    warnings.simplefilter("ignore")  # of invalid escapes in what is parsed


def main(root: str, size: str, names: str = "") -> None:
    if names:
        paths = Path(names).read_text().splitlines()
    else:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
        paths = os.fsdecode(listed).split("\0")[:-1]
    workers = os.cpu_count() or 1
    with multiprocessing.get_context("fork").Pool(workers, _start) as pool:
        total = sum(pool.imap_unordered(work, [f"{root}/{path}" for path in paths], _AT_ONCE))
    with tempfile.TemporaryFile() as index:
        index.write(os.urandom(1 << 16) * (int(size) >> 16))
        index.flush()
        os.fsync(index.fileno())
    print(total)


if __name__ == "__main__":
    main(*sys.argv[1:])
