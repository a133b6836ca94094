"""What can stand behind a `Watch`: inotify, the platform's stock observer, or nothing but looking again and again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from indexer.watch.batch import WatchState
from indexer.watch.root import is_gone, look_at

if TYPE_CHECKING:
    from indexer.scan.ignore import Rules
    from indexer.watch.batch import Dirt
    from indexer.watch.inbox import Taken


class UnwatchableError(Exception):
    """This source cannot do the work now; the words say why. Never leaves the room."""


class Source(Protocol):
    """Turns what came in into dirt. Called by one thread at a time, but for `state`."""

    rules: Rules
    poll_seconds: float

    def look(self, taken: Taken, dirt: Dirt) -> None:
        """Add what has changed since the last look. Raises `UnwatchableError` when it cannot go on."""

    def pause(self) -> float | None:
        """Return the seconds after which it wants to look though nothing came in; None: never."""

    def rearm(self, dirt: Dirt) -> None:
        """Go by the rules that were set."""

    def state(self) -> WatchState:
        """Tell how it is doing. Any thread may ask, at any time."""

    def close(self) -> None:
        """Let go of everything."""


class Polling:
    """No events: everything has to be looked at, every so often and with each cookie."""

    def __init__(self, rules: Rules, why: str, seconds: float) -> None:
        self.rules = rules
        self.why = why
        self.poll_seconds = seconds
        self._gone = ""
        self._due = time.monotonic() + seconds

    def look(self, taken: Taken, dirt: Dirt) -> None:  # noqa: ARG002  (nothing comes in but questions)
        """Call everything dirty."""
        self._due = time.monotonic() + self.poll_seconds
        identity, why = look_at(self.rules.root)
        if identity is None:
            self._gone = dirt.root_gone = is_gone(self.rules.root, why)
        else:
            self._gone = ""
            dirt.everything(f"polling: {self.why}")

    def pause(self) -> float | None:
        """Return the rest of the time between two looks."""
        return max(0.0, self._due - time.monotonic())

    def rearm(self, dirt: Dirt) -> None:
        """Nothing is watched."""

    def state(self) -> WatchState:
        """Tell why it is so."""
        line = (
            f"changes are looked for every {self.poll_seconds:g} seconds and before each answer: {self.why}"
        )
        return WatchState("polling", problems=tuple(filter(None, (self._gone, line))), root_gone=self._gone)

    def close(self) -> None:
        """Nothing is held."""
