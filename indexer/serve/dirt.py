"""What has changed on disk and is not in the index yet, and up to where it is: numbers, and no I/O.

Each change moves ``seen`` up. A job takes everything up to there, and when it ends, ``done`` is what it took. A
question that has to hold all changes before it waits until ``done`` has reached what was ``seen`` when it came.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from indexer.serve.jobs import SCAN, UPDATE, Job

_MANY = 5000  # dirty paths from which on a scan of everything is cheaper than a look at each


@dataclass(slots=True)
class Dirt:
    """Dirty paths, trees, and the reason why everything has to be looked at (empty: it need not)."""

    paths: set[str] = field(default_factory=set)
    trees: set[str] = field(default_factory=set)
    rescan: str = ""
    seen: int = 0
    done: int = 0
    taken: int = 0
    _waiting: dict[asyncio.Future[None], int] = field(default_factory=dict)

    def add(
        self, paths: frozenset[str] = frozenset(), trees: frozenset[str] = frozenset(), rescan: str = ""
    ) -> None:
        """Take note of changes."""
        if not (paths or trees or rescan):
            return
        self.paths |= paths
        self.trees |= trees
        self.rescan = self.rescan or rescan
        self.seen += 1

    def __len__(self) -> int:
        """How many things wait."""
        return len(self.paths) + len(self.trees) + bool(self.rescan)

    def take(self, number: int) -> Job:
        """Return the job that does all of it."""
        scan = self.rescan or "" in self.trees or len(self.paths) > _MANY
        job = Job(number, SCAN) if scan else Job(number, UPDATE, tuple(self.paths), tuple(self.trees))
        self.took_everything()
        return job

    def took_everything(self) -> None:
        """A job that looks at everything is given: nothing waits."""
        self.paths, self.trees, self.rescan, self.taken = set(), set(), "", self.seen

    def ended(self) -> None:
        """The job has succeeded."""
        self.done = self.taken
        for future, seen in list(self._waiting.items()):
            if self.done >= seen and not future.done():
                future.set_result(None)

    async def done_up_to(self, seen: int) -> None:
        """Wait for the next end of a job by which all has been done that had been seen at that number."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = seen
        try:
            await future
        finally:
            del self._waiting[future]

    def failed(self, why: str) -> None:
        """The job has failed, and nobody knows how far it came: everything has to be looked at.

        Also when none was under way (the settings have changed, say): until then nobody may be told that it is current.
        """
        self.add(rescan=why)
