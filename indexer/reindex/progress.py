"""Who is told how a run goes; by itself, since most who name it load nothing else of a run."""

from __future__ import annotations

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Protocol

    class Progress(Protocol):
        """Told how a run goes: ``done`` of ``total`` files that have to be looked at."""

        def __call__(self, stage: str, done: int, total: int) -> None:
            """Take note; called often, so it must be quick."""


def silent(stage: str, done: int, total: int) -> None:
    """A `Progress` that tells nobody."""
