"""What the server asks of the service behind it, and what the service tells: values, and one protocol of doors.

Everything here is called and told on the event loop's thread. A value that exists is a valid one.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from indexer.search import Corpus
    from indexer.types import Report
    from indexer.workspace import Workspace

_log = logging.getLogger("indexer.serve")

Freshness: TypeAlias = Literal["wait", "now"]
State: TypeAlias = Literal["running", "done", "failed"]


class View(NamedTuple):
    """A generation to answer from, with the settings and the embedder it was made by.

    ``corpus`` is kept for as long as its generation is the newest, so that its columns are made once. ``reason`` says
    why the answer may be behind the disk, and is empty when it is not.
    """

    corpus: Corpus
    space: Workspace
    reason: str

    @property
    def fresh(self) -> bool:
        """Whether every change that was on disk before the question is in it."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """How changes are noticed. ``mode``: "inotify", "polling", ...; ``failed``: folders no watch could be had for."""

    mode: str
    directories: int = 0
    rearms: int = 0
    failed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """The state of a running service.

    ``generation`` is 0 and ``epoch`` empty as long as there is no index. ``current``: no change is known that is not in
    it. ``queue`` counts dirty paths and trees that wait; ``working`` names what is done at the moment, or is empty.
    ``problems`` and ``last_error`` are one-line texts; ``last_error`` stays until a run after it succeeds. ``started``
    is in seconds since 1970.
    """

    root: str
    epoch: str
    generation: int
    complete: bool
    current: bool
    files: int
    chunks: int
    embedder: str
    queue: int
    working: str
    watch: WatchStatus
    problems: tuple[str, ...] = ()
    last_error: str = ""
    started: float = 0.0


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation has been opened and answers from now on. ``complete``: the run that made it was not cut short."""

    epoch: str
    generation: int
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Progress:
    """How one run goes: ``done`` of ``total`` files. ``run`` numbers the runs of a service.

    The last word on each run has the state "done" or "failed", and the failed one names the ``failure``.
    """

    run: int
    state: State
    stage: str
    done: int = 0
    total: int = 0
    failure: str = ""

    def __post_init__(self) -> None:
        if (self.state == "failed") != bool(self.failure):
            raise ValueError(f"progress is {self.state}, with the failure {self.failure!r}")

    @property
    def ended(self) -> bool:
        """Whether nothing more will be told of this run."""
        return self.state != "running"


Event: TypeAlias = Generation | Progress
Tell: TypeAlias = "Callable[[Event], None]"


class Service(Protocol):
    """One root, always current: what the server answers from."""

    @property
    def root(self) -> Path:
        """The root, absolute, its symbolic links resolved."""

    async def view(self, freshness: Freshness, timeout: float) -> View:  # noqa: ASYNC109  (a bound on freshness, not on the call)
        """Return the generation to answer from.

        "now" is as it stands. "wait" holds every change made before the call, or, when that takes more than ``timeout``
        seconds, is as it stands with the reason. Raises `IndexerError` when there is nothing to answer from.
        """

    async def reindex(self, *, full: bool) -> Report:
        """Bring the index up to date, or make it anew. Raises `IndexerError`. A caller that is cancelled just stops waiting."""

    def status(self) -> ServiceStatus:
        """Tell how things stand; at once, without looking at the disk."""

    def subscribe(self, tell: Tell) -> Callable[[], None]:
        """Have every event told from now on; the function that is returned ends it."""

    async def close(self) -> None:
        """Stop for good."""


@dataclass(slots=True)
class Run:
    """One run that is told of as it goes; made by `Feed.run`."""

    _feed: Feed
    number: int
    stage: str
    done: int = 0
    total: int = 0

    def at(self, stage: str, done: int, total: int) -> None:
        """Tell how far it is."""
        self.stage, self.done, self.total = stage, done, total
        self._feed.tell(Progress(self.number, "running", stage, done, total))


@dataclass(slots=True)
class Feed:
    """Those who want to be told. One who raises is logged and told no more; the others are told all the same."""

    _listeners: dict[int, Tell] = field(default_factory=dict)
    _listened: int = 0
    _runs: int = 0

    def subscribe(self, tell: Tell) -> Callable[[], None]:
        """Have every event told from now on; the function that is returned ends it, however often it is called."""
        self._listened += 1
        number = self._listened
        self._listeners[number] = tell

        def leave() -> None:
            self._listeners.pop(number, None)

        return leave

    def tell(self, event: Event) -> None:
        """Tell all who listen."""
        for number, listener in list(self._listeners.items()):
            try:
                listener(event)
            except Exception:  # noqa: BLE001  (whatever it is, the others are to be told)
                _log.exception("a listener failed and is told no more")
                self._listeners.pop(number, None)

    @contextmanager
    def run(self, stage: str) -> Iterator[Run]:
        """Tell that a run begins, and that it ended: with success, or with what was raised inside, which goes on up."""
        self._runs += 1
        run = Run(self, self._runs, stage)
        run.at(stage, 0, 0)
        try:
            yield run
        except BaseException as error:
            why = str(error).partition("\n")[0] or type(error).__name__
            self.tell(Progress(run.number, "failed", run.stage, run.done, run.total, why))
            raise
        self.tell(Progress(run.number, "done", run.stage, run.done, run.total))
