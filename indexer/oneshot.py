"""Answers without a daemon: the index is brought up to date first, or taken as it stands and said so."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indexer import search
from indexer.errors import BusyError, NotIndexedError, StoreError
from indexer.reindex.identity import identity_of
from indexer.reindex.progress import silent
from indexer.scan.content import examine
from indexer.scan.read import read_file
from indexer.store import open_snapshot
from indexer.types import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.reindex import Progress
    from indexer.search import Corpus, Found, Request
    from indexer.store import Snapshot
    from indexer.types import Hit
    from indexer.workspace import Workspace

_BUSY_SECONDS = 2.0
_BUSY_STEP = 0.05
AS_IT_STANDS = "answered from the index as it stands"


class View(NamedTuple):
    """A generation to answer from; ``reason`` says why it may be behind the disk, and is empty when it is not."""

    snapshot: Snapshot
    reason: str

    @property
    def fresh(self) -> bool:
        """Whether every change that was on disk before the question is in it."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, and what they are worth: the generation they come from and whether it is current. ``ms``: milliseconds.

    ``weak`` and ``notes`` are as in `indexer.search.Found`.
    """

    epoch: str
    generation: int
    fresh: bool
    reason: str
    mode: str
    ms: float
    hits: list[Hit]
    weak: bool | None = None
    notes: tuple[str, ...] = ()


def view(space: Workspace, *, now: bool = False, progress: Progress = silent) -> View:
    """Return the generation to answer from, brought up to date unless ``now``.

    When that cannot be done (another writer at work, a disk that refuses) and there is an index, it is taken as it
    stands, with the reason. Raises `NotIndexedError` when there is none.
    """
    if now:
        return View(open_snapshot(space.index_dir, identity_of(space)), AS_IT_STANDS)
    from indexer.reindex import reindex  # here, since a daemon answers without

    until = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            outcome = reindex(space, progress=progress)
        except BusyError as error:
            if time.monotonic() >= until:
                return _as_it_stands(space, error)
            time.sleep(_BUSY_STEP)
        except StoreError as error:
            return _as_it_stands(space, error)
        else:
            unknown = f"{len(outcome.unknown)} folders could not be read" if outcome.unknown else ""
            return View(outcome.snapshot, unknown)


def _as_it_stands(space: Workspace, why: BusyError | StoreError) -> View:
    try:
        snapshot = open_snapshot(space.index_dir, identity_of(space))
    except (NotIndexedError, StoreError):
        raise why from None
    return View(snapshot, str(why))


def text_reader(space: Workspace) -> Callable[[str], bytes | None]:
    """Return a function that gives a file's text form, or None when it has none any more."""
    scan = space.settings.scan

    def read_text(path: str) -> bytes | None:
        read = read_file(space.root, path, scan.max_file_bytes)
        if isinstance(read, Skipped):
            return None
        text = examine(path, read.data, scan)
        return None if isinstance(text, Skipped) else text.utf8

    return read_text


def ask(seen: View, find: Callable[[Corpus], Found]) -> Answer:
    """Time ``find`` on the generation that was ``seen`` and say what its hits are worth."""
    return told(search.Corpus.of(seen.snapshot), seen.reason, find)


def told(corpus: Corpus, reason: str, find: Callable[[Corpus], Found]) -> Answer:
    """Time ``find`` and say what its hits are worth; ``reason`` says why they may be behind the disk, or is empty."""
    started = time.perf_counter()
    found = find(corpus)
    ms = round((time.perf_counter() - started) * 1000, 3)
    snapshot = corpus.snapshot
    return Answer(
        snapshot.epoch,
        snapshot.generation,
        not reason,
        reason,
        found.mode,
        ms,
        found.hits,
        found.weak,
        found.notes,
    )


def answer(space: Workspace, seen: View, request: Request, *, literal: bool = False) -> Answer:
    """Answer one request."""
    read_text = text_reader(space)
    if literal:
        return ask(seen, lambda corpus: search.literal(corpus, request, read_text=read_text))
    return ask(
        seen, lambda corpus: search.find(corpus, request, embedder=space.embedder, read_text=read_text)
    )
