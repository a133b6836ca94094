"""The watcher's thread, seen from the event loop: batches come in, cookies go out.

A cookie is shared: those who come while one is under way wait for the next one, since theirs must be dropped after they
came. One that is not reported in time is dropped again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from indexer import config
from indexer.serve.events import WatchStatus
from indexer.watch import Batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.watch import Watch
    from indexer.workspace import Workspace

_log = logging.getLogger(__name__)
_STALE_SECONDS = 1.0  # after which a cookie that was not reported is taken for lost
_HEAL_SECONDS = 1.0


class Observer:
    """Watches a root and calls ``tell`` with each batch, on the event loop's thread."""

    def __init__(self, space: Workspace, tell: Callable[[Batch], None]) -> None:
        self._space = space
        self._tell = tell
        self._cookies: Path | None = None
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None
        self._armed = asyncio.Event()
        self._closed = threading.Event()
        self._dead = ""
        self._under_way: tuple[int, float] | None = None
        self._covered: list[asyncio.Future[None]] = []
        self._next: list[asyncio.Future[None]] = []

    async def start(self) -> None:
        """Arm the watches; every change from then on is told. What cannot be armed is told, and tried again."""
        self._loop = asyncio.get_running_loop()
        try:
            self._watch = await asyncio.to_thread(self._made)
        except Exception as error:  # noqa: BLE001  (as in the thread)
            self._failed(error)
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()
        self._armed.set()

    def _made(self) -> Watch:
        # Here, since a first answer is given before.
        from indexer.scan.ignore import Rules
        from indexer.watch import Watch

        if self._cookies is None:
            self._cookies = _new_folder()
        rules = Rules.load(self._space.root, self._space.settings.scan)
        own = str(self._space.settings_file or config.user_file())
        return Watch(self._space.root, rules, self._cookies, self._space.settings.watch, inputs=[own])

    async def armed(self) -> None:
        """Wait until the watches are armed."""
        await self._armed.wait()

    def is_blind(self) -> bool:
        """Tell whether nothing is watched now, not even badly, so that only a scan can tell what has changed."""
        return self._watch is None or bool(self._dead)

    async def caught_up(self) -> None:
        """Wait until every change made before the call has been told."""
        future: asyncio.Future[None] = self._loop.create_future()
        if self._under_way is None:
            self._drop([future])
        else:
            self._next.append(future)
            if time.monotonic() - self._under_way[1] > _STALE_SECONDS:
                self._drop([*self._covered, *self._next])
        await future

    def _drop(self, waiting: list[asyncio.Future[None]]) -> None:
        """Drop a cookie for those who wait now."""
        assert self._watch is not None
        self._covered, self._next = waiting, []
        try:
            self._under_way = (self._watch.cookie(), time.monotonic())
        except OSError as error:
            _log.warning("no cookie could be made: %s", error)
            self._take(Batch(rescan=f"no cookie could be made: {error.strerror}"))

    def _take(self, batch: Batch) -> None:
        """Tell a batch; then let go on whoever waited for what is in it."""
        if self._closed.is_set():
            return
        self._tell(batch)
        if batch.rescan:  # what comes next looks at everything, and so at what any cookie would have covered
            self._under_way = None
            self._release([*self._covered, *self._next])
            self._covered, self._next = [], []
        elif self._under_way is not None and self._under_way[0] in batch.cookies:
            self._under_way = None
            released, self._covered = self._covered, []
            if any(not future.done() for future in self._next):
                self._drop(self._next)
            self._release(released)

    def _release(self, futures: list[asyncio.Future[None]]) -> None:
        for future in futures:
            if not future.done():
                future.set_result(None)

    # --- the thread

    def _run(self) -> None:
        """Hand batches over until the watch is closed; one that fails is made anew."""
        while not self._closed.is_set():
            try:
                watch = self._watch or self._made()
                self._watch, self._dead = watch, ""
                while (batch := watch.next_batch(None)) is not None:
                    self._hand_over(batch)
                if self._closed.is_set():
                    return
            except Exception as error:  # noqa: BLE001  (a daemon outlives our bugs: logged, told, and healed)
                self._failed(error)
            self._watch = None
            self._closed.wait(_HEAL_SECONDS)
            self._hand_over(Batch(rescan="the watcher was made anew"))

    def _failed(self, error: Exception) -> None:
        _log.error("the watcher failed", exc_info=error)
        self._dead = f"the watcher failed ({type(error).__name__}: {error}) and is made anew"

    def _hand_over(self, batch: Batch) -> None:
        if not self._closed.is_set():
            self._loop.call_soon_threadsafe(self._take, batch)

    # --- the rest

    async def new_rules(self, space: Workspace) -> None:
        """Watch by the rules and settings as they are now."""
        before, self._space = self._space, space
        if self._watch is not None and space.settings.watch != before.settings.watch:
            await asyncio.to_thread(self._watch.adjust, space.settings.watch)
        from indexer.scan.ignore import Rules  # as above

        rules = await asyncio.to_thread(Rules.load, space.root, space.settings.scan)
        if self._watch is not None:
            await asyncio.to_thread(self._watch.set_rules, rules)

    def status(self) -> WatchStatus:
        """Tell how changes are noticed."""
        if self._watch is None:
            return WatchStatus(
                "starting" if not self._dead else "failed", problems=tuple(filter(None, [self._dead]))
            )
        state = self._watch.state()
        failed = tuple(f"{path}: {why}" for path, why in sorted(state.failed.items()))
        others = tuple(
            line for line in state.problems if line != state.root_gone
        )  # that one has its own place
        return WatchStatus(state.mode, state.directories, state.rearms, failed, others)

    async def close(self) -> None:
        """Stop watching."""
        self._closed.set()
        if self._watch is not None:
            await asyncio.to_thread(self._watch.close)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, 2.0)
        if self._cookies is not None:
            await asyncio.to_thread(_remove, self._cookies)


def _new_folder() -> Path:
    import tempfile  # as above

    return Path(tempfile.mkdtemp(prefix="indexer-cookies-"))


def _remove(folder: Path) -> None:
    import shutil  # as above

    shutil.rmtree(folder, ignore_errors=True)
