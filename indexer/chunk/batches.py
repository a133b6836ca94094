"""Texts in batches, as the parser processes are given them: each worth a message, and few in memory."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from indexer.chunk.cutting import Task

_BATCH_BYTES = 256 * 1024
_BATCH_FILES = 64


class Batches:
    """What is to be given out: first those of ``again``, which were given out before, then the next of the tasks."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self.again: deque[list[Task]] = deque()
        self._rest = _batched(tasks)
        self._ahead: list[Task] | None = None

    def look_ahead(self) -> None:
        """Have the next one ready when it is asked for."""
        if self._ahead is None:
            self._ahead = next(self._rest, None)

    def take(self) -> list[Task] | None:
        """Return the next one; None when there is none."""
        if self.again:
            return self.again.popleft()
        self.look_ahead()
        batch, self._ahead = self._ahead, None
        return batch


def _batched(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """Group tasks so that a message is worth its while and memory stays small."""
    batch: list[Task] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += len(task.text)
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
