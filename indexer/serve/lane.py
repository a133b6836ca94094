"""Threads for questions, so that the event loop never computes; each client has a lane of its own to them.

A lane lets one question through at a time, and the next one only when the client has room for an answer. So there is at
most one question of each client in the threads' queue, and first come, first served is fair: who asks ten thousand at
once waits behind himself, and who asks one behind at most one of each other client.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


class Threads:
    """The threads that all lanes share."""

    def __init__(self, number: int) -> None:
        self._executor = ThreadPoolExecutor(number, "question")

    def start(self, work: Callable[[], T]) -> Future[T]:
        """Have ``work`` done by the next thread that is free."""
        return self._executor.submit(work)

    def close(self) -> None:
        """Start nothing more; what runs goes on to its end, which nobody waits for."""
        self._executor.shutdown(wait=False, cancel_futures=True)


class Lane:
    """One client's way to the threads. ``room`` returns once the client can take an answer."""

    def __init__(self, threads: Threads, room: Callable[[], Awaitable[None]]) -> None:
        self._threads = threads
        self._room = room
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, computed in a thread.

        Who is cancelled leaves at once; if the work has begun, the lane stays taken until it ends, for a thread cannot
        be stopped.
        """
        await self._turn.acquire()
        try:
            await self._room()
            future = self._threads.start(work)
        except BaseException:
            self._turn.release()
            raise
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: self._leave(loop))
        return await asyncio.wrap_future(future)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._turn.release)
