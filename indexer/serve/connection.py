"""One connection: what comes in becomes calls, and what they give goes out, at the pace the client keeps.

It is read only as fast as its calls are done: with `Limits.in_flight` calls at work it is not read, so a client that
sends ten thousand fills its own socket and waits. A question is looked into only when there is room for its answer in
the write buffer; who does not read for `Limits.stall_seconds`, or lets notifications pile up, is dropped.

A client that has closed its writing half gets the answers that are due, and is then taken to have left: what it has
subscribed to ends too, since that it left altogether would show only when there is something to tell.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexer.answers import json_bytes
from indexer.errors import IndexerError, QueryError
from indexer.serve import methods
from indexer.serve.calls import Call, Wrong, read_calls
from indexer.serve.lane import Lane, Threads
from indexer.serve.protocol import MAX_MESSAGE, Code, Decoder, FrameError, Framing, RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from indexer.serve.events import Service
    from indexer.serve.protocol import Id

    Answer = Callable[[bytes], Awaitable[None]]

_log = logging.getLogger(__name__)
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client, and all of them, may take.

    ``message_bytes``: one message to the daemon. ``connections``: of all clients. ``in_flight``: calls of a connection
    at work, and calls of a batch. ``room_bytes``: what may wait to be read before no more is made. ``write_bytes``: all
    that may wait to be read. ``stall_seconds``: how long an answer may wait to be read. ``grace_seconds``: how long the
    last answers may take at the end. ``threads``: questions at work, of all clients.
    """

    message_bytes: int = MAX_MESSAGE
    connections: int = 256
    in_flight: int = 64
    room_bytes: int = 256 * 1024
    write_bytes: int = 4 * 1024 * 1024
    stall_seconds: float = 30.0
    grace_seconds: float = 1.0
    threads: int = 2


def _stopping() -> RpcError:
    return RpcError(Code.FAILED, "the daemon is stopping", {"kind": "Stopping"})


class _Running:
    """One request. It can be made to fail for as long as its result is not there."""

    def __init__(self) -> None:
        self.unwanted: RpcError | None = None
        self._working: asyncio.Task[Any] | None = None

    def cancel(self, why: RpcError) -> None:
        """Have it answered with ``why``, unless its answer is out."""
        if self.unwanted is None:
            self.unwanted = why
            # One that has not begun looks at `unwanted` itself; its task, cancelled now, would never run and not answer.
            if self._working is not None:
                self._working.cancel()

    async def result(self, session: methods.Session, call: Call) -> bytes:
        """Return the JSON of the result. Of exceptions it raises `RpcError` alone."""
        self._check()
        task = self._working = asyncio.current_task()
        try:
            return await _perform(session, call)
        except asyncio.CancelledError:
            self._check()
            raise
        finally:
            self._working = None
            if task is not None and self.unwanted is not None:
                task.uncancel()

    def _check(self) -> None:
        if self.unwanted is not None:
            raise self.unwanted


async def _perform(session: methods.Session, call: Call) -> bytes:
    """Do a call, and name what went wrong by whose fault it is; of ours the client is told little, and the log all."""
    try:
        return await methods.perform(session, call)
    except RpcError:
        raise
    except QueryError as error:
        raise RpcError(Code.INVALID_PARAMS, str(error), {"kind": "QueryError"}) from None
    except IndexerError as error:
        raise RpcError(Code.FAILED, str(error), {"kind": type(error).__name__}) from None
    except Exception as error:
        _log.exception("%s failed", call.method)
        short = f"internal error ({type(error).__name__}); the daemon's log has the traceback"
        raise RpcError(Code.INTERNAL, short) from error


class Connection:
    """One client. ``on_stop`` is called once a client that asked for the daemon's end has its answer."""

    def __init__(
        self,
        service: Service,
        threads: Threads,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        limits: Limits,
        *,
        pid: int,
        clients: Callable[[], int],
        on_stop: Callable[[], None],
    ) -> None:
        self._reader, self._writer = streams
        self._limits = limits
        self._pid = pid
        self._on_stop = on_stop
        self._decoder = Decoder(limits.message_bytes)
        self._slots = asyncio.Semaphore(limits.in_flight)
        self._running: dict[Id, _Running] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reading: asyncio.Task[None] | None = None
        self._session = methods.Session(service, Lane(threads, self._room_for_answer), self._notify, clients)
        self._writer.transport.set_write_buffer_limits(high=limits.room_bytes)

    # --- from the first byte to the last

    async def run(self) -> None:
        """Serve it until it leaves, is dropped, or is closed."""
        self._reading = asyncio.ensure_future(self._read())
        try:
            await asyncio.wait([self._reading])
            if not self._reading.cancelled():
                self._reading.result()
        except ConnectionError:
            self.abort()
        except Exception:  # noqa: BLE001  (a fault of ours ends this connection, and no other)
            _log.exception("a connection of process %d broke", self._pid)
            self.abort()
        finally:
            self._reading.cancel()
            self._session.close()
        await self._finish()

    def close(self) -> None:
        """Read no more, and answer what is at work with an error."""
        if self._reading is not None:
            self._reading.cancel()
        for running in list(self._running.values()):
            running.cancel(_stopping())

    def abort(self) -> None:
        """Cut it off."""
        self._writer.transport.abort()
        self.close()

    async def _finish(self) -> None:
        """Let the last answers out."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._writer.close()
        try:
            async with asyncio.timeout(self._limits.stall_seconds):
                await self._writer.wait_closed()
        except TimeoutError:
            self._drop("does not read its last answers")
        except OSError:
            return  # it has left

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(_CHUNK):
                self._decoder.feed(data)
                if not await self._take_all():
                    return
            if self._decoder.waiting and not self._writer.is_closing():
                await self._end_of_stream()
        except FrameError as error:
            await self._send(_error_body(None, error))

    async def _end_of_stream(self) -> None:
        if self._decoder.framing is Framing.LINES:
            self._decoder.feed(b"\n")  # the last line may lack its end
            await self._take_all()
        else:
            _log.info("process %d left in the middle of a message", self._pid)

    async def _take_all(self) -> bool:
        """Take every message that is whole; False when the client has said it leaves."""
        while (body := self._decoder.next()) is not None:
            found = read_calls(body, self._limits.in_flight)
            if found.batch:
                await self._take_batch(found.calls)
            else:
                for call in found.calls:
                    await self._take(call)
            if any(isinstance(call, Call) and call.method == "exit" for call in found.calls):
                return False
        await asyncio.sleep(0)  # who sends without end is no reason for the others to wait
        return True

    # --- calls

    async def _take(self, call: Call | Wrong) -> None:
        if isinstance(call, Wrong):
            await self._send(_error_body(call.id, call.error))
        elif call.id is None:
            self._told(call)
        else:
            await self._start(call, call.id, self._send)

    async def _take_batch(self, calls: tuple[Call | Wrong, ...]) -> None:
        """Do the calls of a batch beside each other, and send the answers together (JSON-RPC 2.0, section 6)."""
        bodies: list[bytes] = []
        tasks: list[asyncio.Task[None]] = []

        async def keep(body: bytes) -> None:
            bodies.append(body)

        for call in calls:
            if isinstance(call, Wrong):
                bodies.append(_error_body(call.id, call.error))
            elif call.id is None:
                self._told(call)
            else:
                tasks.append(await self._start(call, call.id, keep))
        self._in_background(self._send_batch(tasks, bodies))

    async def _send_batch(self, tasks: list[asyncio.Task[None]], bodies: list[bytes]) -> None:
        if tasks:
            await asyncio.wait(tasks)
        if bodies:
            await self._send(b"[" + b",".join(bodies) + b"]")

    def _told(self, call: Call) -> None:
        unwanted = methods.told(call)
        if unwanted is not None and (running := self._running.get(unwanted)):
            running.cancel(RpcError(Code.CANCELLED, "cancelled, as was asked"))

    async def _start(self, call: Call, number: Id, answer: Answer) -> asyncio.Task[None]:
        """Begin a request once there is a slot for it."""
        await self._slots.acquire()
        running = _Running()
        if self._running.setdefault(number, running) is not running:
            running.unwanted = RpcError(
                Code.INVALID_REQUEST, f"id: {number!r:.100} is in use by a request at work"
            )
        return self._in_background(self._do(call, number, running, answer))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _do(self, call: Call, number: Id, running: _Running, answer: Answer) -> None:
        try:
            try:
                body = _result_body(number, await running.result(self._session, call))
            except RpcError as error:
                body = _error_body(number, error)
            await answer(body)
        finally:
            if self._running.get(number) is running:
                del self._running[number]
            self._slots.release()
        if self._session.stopping and call.method == "index/stop":
            self._on_stop()

    # --- what goes out

    def _notify(self, method: str, params: Any) -> None:
        self._write(json_bytes({"jsonrpc": "2.0", "method": method, "params": params}))

    async def _send(self, body: bytes) -> None:
        """Send an answer, and wait until what waits to be read is little again."""
        self._write(body)
        await self._room()

    def _write(self, body: bytes) -> None:
        if self._writer.is_closing():
            return
        if self._writer.transport.get_write_buffer_size() > self._limits.write_bytes:
            self._drop("does not read what it is told")
            return
        self._writer.write((self._decoder.framing or Framing.LINES).frame(body))

    async def _room(self) -> None:
        if self._writer.transport.get_write_buffer_size() <= self._limits.room_bytes:
            return
        try:
            async with asyncio.timeout(self._limits.stall_seconds):
                await self._writer.drain()
        except TimeoutError:
            self._drop("does not read its answers")
        except ConnectionError:
            return  # it has left, as reading from it will tell

    async def _room_for_answer(self) -> None:
        await self._room()
        if self._writer.is_closing():
            raise RpcError(Code.CANCELLED, "the client has left")

    def _drop(self, why: str) -> None:
        waiting = self._writer.transport.get_write_buffer_size()
        _log.warning("process %d %s: dropped, with %d bytes unread", self._pid, why, waiting)
        self.abort()


def _result_body(number: Id, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (json_bytes(number), result)


def _error_body(number: Id | None, error: RpcError) -> bytes:
    return json_bytes({"jsonrpc": "2.0", "id": number, "error": error.as_object()})
