"""Prove an index equal to one made from nothing on the same tree, and mend it where it is not.

Every checksum is verified and all that lies in the index's folder is looked at, the index is brought up to date, a second one is made in a temporary folder, and all
tables of both are compared, row for row; then both are asked the same questions.
"""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.errors import StoreError
from indexer.oneshot import View, answer
from indexer.reindex import reindex, silent
from indexer.search import Request
from indexer.store import RootLock, inspect, make_private, open_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from indexer.reindex import Progress
    from indexer.store import Snapshot
    from indexer.workspace import Workspace

_ATTEMPTS = 3  # a tree that changes while it is compared is compared again
_QUESTIONS = 50
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found: one line for each thing that is wrong, and whether it was mended."""

    files: int
    chunks: int
    questions: int
    problems: tuple[str, ...]
    repaired: bool


def check(space: Workspace, *, repair: bool = False, progress: Progress = silent) -> Findings:
    """Compare the index with a new one. Raises `NotIndexedError` when there is none, `BusyError` as `reindex`."""
    damage = _damage(space, mend=repair)
    found, snapshot = _compare(space, progress)
    problems = (*damage, *found)
    if problems and repair:
        snapshot = reindex(space, full=True, progress=progress).snapshot
        left, snapshot = _compare(space, progress)
        left = [*_damage(space), *left]
        if left:
            problems = (*problems, *(f"after the repair: {line}" for line in left))
        return _findings(snapshot, problems, repaired=not left)
    return _findings(snapshot, problems, repaired=False)


def _damage(space: Workspace, *, mend: bool = False) -> list[str]:
    """What is wrong with the index as it lies on disk; ``mend`` lets us read what it was made for us to read."""
    with closing(RootLock(space.root)):
        damage = inspect(space.index_dir)
        if not damage:
            open_snapshot(space.index_dir)  # there is one
        elif mend:
            make_private(space.index_dir)
    return damage


def _findings(snapshot: Snapshot, problems: tuple[str, ...], *, repaired: bool) -> Findings:
    questions = len(_questions(snapshot))
    return Findings(len(snapshot.paths), len(snapshot.rows.content), questions, problems, repaired)


def _compare(space: Workspace, progress: Progress) -> tuple[list[str], Snapshot]:
    """Return how the index, brought up to date, differs from a new one."""
    for _ in range(_ATTEMPTS):
        first = reindex(space, progress=progress).snapshot
        with _temporary_folder() as folder:
            apart = space._replace(index_dir=Path(folder) / "index")
            new = reindex(apart, progress=progress).snapshot
            after = reindex(space, progress=progress)
            if after.snapshot.generation != first.generation:
                continue  # the tree changed meanwhile
            return [*differences(first, new), *_answers(space, first, new)], first
    return ["the tree kept changing while it was compared; try again when it is quiet"], first


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix="indexer-check-")
    except OSError as error:
        raise StoreError(
            f"a second index cannot be made: {error.strerror}; set TMPDIR to a folder that can be written"
        ) from error


def differences(mine: Snapshot, new: Snapshot) -> list[str]:
    """Return one line for each difference between two generations' tables, the first few of each kind."""
    a, b = mine.tables(), new.tables()
    lines = _uneven("file", {f.stat.path: f for f in a.files}, {f.stat.path: f for f in b.files})
    lines += _uneven(
        "chunk",
        {(r.path, r.chunk.spans, r.chunk.part): r for r in a.rows},
        {(r.path, r.chunk.spans, r.chunk.part): r for r in b.rows},
    )
    if [(r.path, r.chunk.spans) for r in a.rows] != [(r.path, r.chunk.spans) for r in b.rows]:
        lines.append("chunks: the order of the rows differs")
    lines += _uneven("content", a.contents, b.contents)
    return lines + _uneven("name", a.names, b.names)


def _uneven(what: str, mine: Mapping[Any, object], new: Mapping[Any, object]) -> list[str]:
    lines = [*_listed(what, "in the index, but not in a new one", (k for k in mine if k not in new))]
    lines += _listed(what, "missing from the index", (k for k in new if k not in mine))
    return lines + _listed(
        what, "other than in a new index", (k for k in mine if k in new and mine[k] != new[k])
    )


def _listed(what: str, how: str, keys: Iterable[object]) -> list[str]:
    names = [key.hex() if isinstance(key, bytes) else _readable(key) for key in keys]
    lines = [f"{what} {name}: {how}" for name in names[:_SHOWN]]
    return lines if len(names) <= _SHOWN else [*lines, f"{what}: {len(names) - _SHOWN} more {how}"]


def _readable(key: object) -> str:
    if isinstance(key, tuple):
        path, spans, _ = key
        return f"{path}:{spans[0].start_line}"
    return str(key)


def _questions(snapshot: Snapshot) -> list[str]:
    """Names that are defined in the index, evenly spread: the questions both indexes are asked."""
    names = sorted({snapshot.string(symbol) for symbol in set(snapshot.symbol.tolist())} - {""})
    step = max(1, len(names) // _QUESTIONS)
    return names[::step][:_QUESTIONS]


def _answers(space: Workspace, mine: Snapshot, new: Snapshot) -> list[str]:
    return [
        f'question "{question}": other hits than from a new index'
        for question in _questions(new)
        if question.strip()
        and answer(space, View(mine, ""), Request(question)).hits
        != answer(space, View(new, ""), Request(question)).hits
    ]
