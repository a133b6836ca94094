"""The daemon at work: a service and a server on one event loop, until a signal, a client or idleness ends it.

Nothing here wakes up by itself but for idleness, which is one timer.
"""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import signal
from typing import TYPE_CHECKING

from indexer import __version__
from indexer.errors import DaemonError, IndexerError
from indexer.serve import logs, start
from indexer.serve import place as places
from indexer.serve.allocator import share_one_arena
from indexer.serve.events import Generation
from indexer.serve.place import Announcement
from indexer.serve.protocol import PROTOCOL
from indexer.serve.seat import Removals
from indexer.serve.server import serve
from indexer.serve.service import open_service

if TYPE_CHECKING:
    from indexer.serve.events import Event
    from indexer.serve.lifecycle import Starter
    from indexer.serve.seat import Seat
    from indexer.serve.server import Server
    from indexer.workspace import Workspace

_log = logging.getLogger("indexer.serve.daemon")
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_INTERRUPTED = 130
# How long the orderly end may take; then the process ends as if it were killed, which loses nothing acknowledged.
_END_SECONDS = 5.0


class Daemon:
    """One life, from the socket that listens already to the socket that is gone. See `serve`."""

    def __init__(self, seat: Seat, space: Workspace, starter: Starter) -> None:
        self._seat = seat
        self._place = place = seat.place
        self._space = space
        self._starter = starter
        self._said = Announcement(place.socket, os.getpid(), PROTOCOL, __version__)
        self._ending = asyncio.Event()
        self._removed = asyncio.Event()
        self._status = 0
        self._trouble = ""

    async def serve(self) -> int:
        """Serve until told to end; return the exit status."""
        share_one_arena()
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(logs.loop_failed)
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._signalled, number)
        _log.info("indexer %s serves %s at %s", __version__, self._place.root, self._place.socket)
        # First, so that a process with too few descriptors ends here and not when the first client comes.
        removals = Removals(self._place.directory, self._removed.set)
        async with open_service(self._space) as service:
            leave = service.subscribe(self._on_event)
            async with serve(service, self._seat.listener, on_stop=self._told_to_stop) as server:
                self._announce()
                self._watch_idleness(server)
                guarding = asyncio.ensure_future(self._guard(server, removals))
                self._starter.tell(start.READY)
                await self._ending.wait()
                guarding.cancel()
                removals.close()
                # From here on the process ends, whatever hangs.
                faulthandler.dump_traceback_later(_END_SECONDS, exit=True, file=2)
                leave()
            places.withdraw(self._space.index_dir, self._said)
        _log.info("ended")
        return self._status

    # --- what ends it

    def end(self, why: str, status: int = 0) -> None:
        """End, once the answers that are under way are given; a second call changes nothing."""
        if not self._ending.is_set():
            _log.info("ends: %s", why)
            self._status = status
            self._ending.set()

    def _signalled(self, number: signal.Signals) -> None:
        if self._ending.is_set():
            _log.warning("told to end twice: ends at once")
            os._exit(1)
        self.end(number.name, _INTERRUPTED if number == signal.SIGINT else 0)

    def _told_to_stop(self) -> None:
        self.end("a client asked for it")

    def _watch_idleness(self, server: Server) -> None:
        """End once nobody has been connected for the idle time: one timer, set anew when it was too early."""
        whole = self._space.settings.daemon.idle_exit * 60
        left = whole - server.idle_seconds
        if whole and left > 0:
            asyncio.get_running_loop().call_later(left, self._watch_idleness, server)
        elif whole:
            self.end(f"no client for {whole / 60:g} minutes")

    # --- what tells where it is

    async def _guard(self, server: Server, removals: Removals) -> None:
        """Keep the place: whenever something is removed there, see that clients still find the way."""
        try:
            while True:
                if self._seat.is_lost() and (listener := self._seat.take_again()) is not None:
                    await server.listen(listener)
                    _log.warning("%s was removed, and is listened at again", self._place.socket)
                removals.watch()
                await self._removed.wait()
                self._removed.clear()
        except (OSError, DaemonError) as error:
            self.end(f"nobody can reach it any more: {error}", 1)

    def _on_event(self, event: Event) -> None:
        # With the first generation the folder of the index is there, and a clean-up of the tree takes daemon.json away.
        if isinstance(event, Generation):
            self._announce()

    def _announce(self) -> None:
        index = self._space.index_dir
        try:
            if places.check_index(str(index)) and self._announced() != self._said:
                places.announce(index, self._said)
            trouble = ""
        except (OSError, IndexerError) as error:
            trouble = str(error)
        if trouble and trouble != self._trouble:
            _log.warning("daemon.json cannot be written: %s", trouble)
        self._trouble = trouble

    def _announced(self) -> Announcement | None:
        try:
            return places.read_announcement(self._space.index_dir)
        except IndexerError:
            return None
