"""What the runs so far could not see: kept until somebody has looked there again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.scan.trees import above

if TYPE_CHECKING:
    from indexer.serve.jobs import Finished, Job


class Unseen:
    """Folders and files that could not be read, and what a run has noted for the user."""

    def __init__(self) -> None:
        self.paths: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()

    def take(self, job: Job, ended: Finished) -> None:
        """Take in how a job ended. One that looked at a few places says nothing about the others."""
        if ended.whole:
            self.paths, self.notes = ended.unknown, ended.notes
            return
        looked_at = {*job.paths, *job.trees}
        kept = (path for path in self.paths if looked_at.isdisjoint((path, *above(path))))
        self.paths = tuple(dict.fromkeys((*kept, *ended.unknown)))
        self.notes = tuple(dict.fromkeys((*self.notes, *ended.notes)))

    def problems(self) -> list[str]:
        """One line each."""
        return [*(f"{path or '.'}: cannot be read" for path in self.paths), *self.notes]

    def __str__(self) -> str:
        """What keeps even an answer that is up to date from being sure; empty when nothing does."""
        return f"{len(self.paths)} folders could not be read" if self.paths else ""
