"""Trying again what has failed: after a pause that grows from one failure to the next."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_FIRST, _LONGEST = 0.2, 60.0  # seconds


class Retry:
    """Calls ``again`` on the event loop; `waiting` until then."""

    def __init__(self, again: Callable[[], None]) -> None:
        self._again = again
        self._pause = _FIRST
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> bool:
        """Whether there is a try to come."""
        return self._timer is not None

    def plan(self) -> None:
        """Try again after the next pause; a try that was to come before is not."""
        self.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._pause, self._try)
        self._pause = min(self._pause * 2, _LONGEST)

    def cancel(self) -> None:
        """Try no more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def succeeded(self) -> None:
        """Begin with a short pause the next time."""
        self._pause = _FIRST

    def _try(self) -> None:
        self._timer = None
        self._again()
