"""A peer in a hundred lines' reach of everybody: SQLite's FTS5 over windows of 50 lines, ranked by its own BM25.

Usage: ``python -m tests.benchmarks.full_text build ROOT DB`` or ``... ask DB QUESTION...``; the latter prints seconds
as JSON.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_LINES = 50
_MOST_BYTES = 1_000_000


def windows(root: str) -> Iterator[tuple[str, int, str]]:
    """Path, line and text of each window of the files that git lists."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    for name in os.fsdecode(listed).split("\0")[:-1]:
        path = Path(root) / name
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        lines = data.decode("utf-8", "replace").split("\n")
        for start in range(0, len(lines), _LINES):
            yield (
                os.fsencode(name).decode("utf-8", "replace"),
                start + 1,
                "\n".join(lines[start : start + _LINES]),
            )


def build(root: str, database: str) -> None:
    with sqlite3.connect(database) as connection:
        connection.execute(
            "create virtual table code using fts5(path, line unindexed, text, content='', tokenize='unicode61')"
        )
        connection.executemany("insert into code values (?, ?, ?)", windows(root))


def ask(database: str, *questions: str) -> None:
    seconds = []
    with sqlite3.connect(database) as connection:
        for question in questions:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
            started = time.perf_counter()
            connection.execute(
                "select rowid from code where code match ? order by bm25(code) limit 10", (words,)
            ).fetchall()
            seconds.append(time.perf_counter() - started)
    print(json.dumps(seconds))


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(*sys.argv[2:])
    else:
        ask(*sys.argv[2:])
