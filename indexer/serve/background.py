"""Tasks that nobody waits for: held until they end, and what goes wrong in them is told."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)


class Background:
    """``failed`` is told, in a line, of each task that ends with an error; the log has its traceback."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: object) -> asyncio.Task[None]:
        """Begin a coroutine, or hold what has begun."""
        task: asyncio.Task[None] = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def cancel(self) -> None:
        """Cancel all."""
        for task in list(self._tasks):
            task.cancel()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("the service failed at something", exc_info=error)
            self._failed(f"{type(error).__name__}: {error}")
