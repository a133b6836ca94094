"""The server: who may connect, and when it ends. What one connection may do to the others is in `connection`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from indexer.serve.connection import Connection, Limits
from indexer.serve.lane import Threads
from indexer.serve.peer import peer_of

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable

    from indexer.serve.events import Service

__all__ = ["Limits", "Server", "serve"]

_log = logging.getLogger(__name__)
_STREAM_BYTES = 64 * 1024


class Server:
    """The open connections, and since when there are none."""

    def __init__(self, service: Service, on_stop: Callable[[], None], limits: Limits) -> None:
        self._service = service
        self._on_stop = on_stop
        self._limits = limits
        self._threads = Threads(limits.threads)
        self._connections: dict[Connection, asyncio.Task[Any]] = {}
        self._idle_since = time.monotonic()
        self._listener: asyncio.Server | None = None

    async def listen(self, listening: socket.socket) -> None:
        """Take connections from a bound Unix socket, and from none before it any more; those that are open stay."""
        # Python 3.13 would unlink the file, which by then may be another daemon's.
        keep: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
        before, self._listener = (
            self._listener,
            await asyncio.start_unix_server(
                self.accept, sock=listening, limit=_STREAM_BYTES, backlog=256, **keep
            ),
        )
        if before is not None:
            before.close()

    @property
    def clients(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last connection was closed; 0 while one is open."""
        return 0.0 if self._connections else time.monotonic() - self._idle_since

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection, or refuse it: another user's, or one too many."""
        peer = peer_of(writer.get_extra_info("socket"))
        if peer is None or peer.uid != os.geteuid():
            _log.warning("refused a connection of user %s", "unknown" if peer is None else peer.uid)
            writer.transport.abort()
            return
        if len(self._connections) >= self._limits.connections:
            _log.warning("refused a connection of process %d: %d are open", peer.pid, len(self._connections))
            writer.transport.abort()
            return
        connection = Connection(
            self._service,
            self._threads,
            (reader, writer),
            self._limits,
            pid=peer.pid,
            clients=lambda: self.clients,
            on_stop=self._on_stop,
        )
        await self._run(connection)

    async def _run(self, connection: Connection) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            await connection.run()
        finally:
            del self._connections[connection]
            self._idle_since = time.monotonic()

    async def close(self) -> None:
        """End every connection: what is at work is answered with an error, if the client reads it in time."""
        if self._listener is not None:
            self._listener.close()
        for end in (Connection.close, Connection.abort):
            tasks = list(self._connections.values())
            for connection in list(self._connections):
                end(connection)
            if tasks:
                await asyncio.wait(tasks, timeout=self._limits.grace_seconds)
        self._threads.close()


@asynccontextmanager
async def serve(
    service: Service,
    listening: socket.socket,
    *,
    on_stop: Callable[[], None],
    limits: Limits | None = None,
) -> AsyncIterator[Server]:
    """Serve on a bound Unix socket until the block ends.

    ``on_stop`` is called when a client has asked the daemon to stop, and has been answered. At the end the socket is
    closed; its file and the service are left to whoever made them.
    """
    server = Server(service, on_stop, limits or Limits())
    await server.listen(listening)
    try:
        yield server
    finally:
        await server.close()
