"""The watch itself: one door, whatever stands behind it."""

from __future__ import annotations

import os
import platform
import threading
import time
from typing import TYPE_CHECKING

from indexer.watch.batch import Batch, Dirt, WatchState
from indexer.watch.cookie import Cookies
from indexer.watch.inbox import Inbox, Taken
from indexer.watch.source import Polling, Source, UnwatchableError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from indexer.scan.ignore import Rules
    from indexer.settings import WatchSettings


class Watch:
    """Watches the tree below ``root`` from the moment it is made. See the room's own words for the contract.

    ``rules`` are this watch's alone from now on: it asks them from whichever thread takes batches. ``cookie_dir`` is
    a folder for cookies, made if need be; it may lie anywhere that is not in the tree, and nobody else should use it.
    ``inputs`` are further files, as absolute paths, whose changes are to be told as ``rules_changed`` (the user's own
    settings). Never raises for what cannot be watched.
    """

    def __init__(
        self,
        root: Path,
        rules: Rules,
        cookie_dir: Path,
        settings: WatchSettings,
        *,
        inputs: Iterable[str] = (),
    ) -> None:
        self.root = root
        self._settings = settings
        self._inputs = tuple(inputs)
        self._inbox = Inbox(settings)
        self._cookies = Cookies(os.fsencode(cookie_dir), self._inbox)
        self._lock = threading.Lock()
        self._dirt = Dirt()
        self._source = self._open(rules)
        if rules.changed():  # since they were read, and before they were watched
            self._dirt.rules_changed = True
        if self._dirt.rules_changed:
            self._inbox.flush()

    def next_batch(self, timeout: float | None = None) -> Batch | None:
        """Wait for something to happen and settle, and return it; None after ``timeout`` seconds, or when closed.

        One thread at a time. Without a timeout there is no wake-up while nothing happens and all is watched.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self._inbox.closed:
            pause = self._source.pause()
            left = None if end is None else max(0.0, end - time.monotonic())
            taken = self._inbox.take(min((wait for wait in (pause, left) if wait is not None), default=None))
            if taken is None and (pause is None or (left is not None and left < pause)):
                return None
            with self._lock:
                batch = None if self._inbox.closed else self._look(taken or Taken())
            if batch is not None:
                return batch
        return None

    def cookie(self) -> int:
        """Ask, and return the number of the question: some batch will hold it.

        That batch, with those before it, covers all that was done before the call. It does not wait for a burst to
        settle. Never raises, and never blocks for longer than it takes to make and remove a file.
        """
        return self._cookies.ask()

    def flush(self) -> None:
        """Have `next_batch` return at once with what there is, even if it is nothing."""
        self._inbox.flush()

    def state(self) -> WatchState:
        """Tell how changes are noticed, and what is wrong with it. Never waits."""
        return self._source.state()

    def set_rules(self, rules: Rules) -> None:
        """Go by new rules from now on.

        What they let in anew is watched when this returns, and dirty in the next batch; events that came in before
        are judged by the new rules.
        """
        with self._lock:
            if self._inbox.closed:
                return
            self._source.rules = rules
            self._source.rearm(self._dirt)
            dirty = self._dirt.trees or self._dirt.rules_changed
        if dirty:
            self._inbox.flush()

    def adjust(self, settings: WatchSettings) -> None:
        """Go by new settings from now on."""
        with self._lock:
            self._settings = settings
            self._inbox.adjust(settings)
            self._source.poll_seconds = settings.poll_seconds
        self._inbox.flush()  # whoever waits reckons anew for how long

    def close(self) -> None:
        """Stop watching; `next_batch` returns None from now on."""
        self._inbox.close()
        with self._lock:
            self._source.close()

    # --- behind the door

    def _open(self, rules: Rules) -> Source:
        try:
            return self._best(rules)
        except UnwatchableError as error:
            self._cookies.attach(None)
            return Polling(rules, str(error), self._settings.poll_seconds)

    def _best(self, rules: Rules) -> Source:
        """Return the best source there is. What a platform does not have is not even imported on it."""
        # Asked at run time, since a type checker would take one of the two for unreachable on any platform.
        if platform.system() == "Linux":
            from indexer.watch.native import Native

            return Native(
                rules,
                self._cookies,
                self._inbox,
                self._dirt,
                poll_seconds=self._settings.poll_seconds,
                extra=self._inputs,
            )
        from indexer.watch.stock import Stock

        return Stock(rules, self._cookies, self._inbox, self._settings.poll_seconds)

    def _look(self, taken: Taken) -> Batch | None:
        dirt = self._dirt
        dirt.cookies |= taken.cookies
        try:
            self._source.look(taken, dirt)
        except UnwatchableError as error:
            self._fall_back(str(error), dirt)
        except BaseException:
            # A fault of ours. What came in is lost with it, so whoever goes on asking has everything scanned.
            dirt.everything("what came in could not be dealt with")
            self._inbox.flush()
            raise
        if isinstance(self._source, Polling) and not dirt.root_gone:
            self._climb_back(self._source)
        if dirt.rescan or dirt.root_gone:
            dirt.cookies |= self._cookies.settle()
        self._dirt = Dirt()
        batch = dirt.batch()
        return Batch() if batch is None and taken.asked else batch

    def _fall_back(self, why: str, dirt: Dirt) -> None:
        rules = self._source.rules
        self._source.close()
        self._source = Polling(rules, why, self._settings.poll_seconds)
        self._cookies.attach(None)
        self._source.look(Taken(), dirt)

    def _climb_back(self, polling: Polling) -> None:
        """Watch again, should it be possible by now. What is dirty is told by the batch that is on its way anyway."""
        try:
            self._source = self._best(polling.rules)
        except UnwatchableError as error:
            self._cookies.attach(None)
            polling.why = str(error)
