"""Ask a running daemon; the standard library alone, so that a question costs little more than Python's own start.

    client = connect(".")
    if client is not None:
        with client:
            answer = client.request("index/search", {"query": "how is a commit made durable"})

Every call has a bound. A daemon of another protocol says so in `Client.mismatch`, and can still be asked to stop. A
client belongs to one thread.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque

from indexer import __version__
from indexer.errors import DaemonError
from indexer.plainly import TYPE_CHECKING
from indexer.serve import place as places
from indexer.serve.protocol import (
    MAX_ANSWER,
    PROTOCOL,
    Decoder,
    FrameError,
    Framing,
    Notification,
    Request,
    Response,
    RpcError,
    decode,
    encode,
)

if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Any, Self

    from indexer.serve.protocol import Message

HELLO_SECONDS = 2.0
_PIECE = 1 << 16
_RETRY_SECONDS = 0.02
# What every daemon of every protocol is asked in the same way.
_TIMELESS = {"initialize", "shutdown", "exit", "index/stop"}


class SilentError(DaemonError):
    """There is a daemon, and it has not answered in time."""


class GoneError(DaemonError):
    """The daemon has ended the connection, or sent what is no answer."""


def connect(
    start: str | os.PathLike[str], *, any_root: bool = False, timeout: float = HELLO_SECONDS
) -> Client | None:
    """Connect to the daemon of the innermost root around ``start`` that has one; None without.

    A root inside that has an index but no daemon hides those further out, as it does for `find_root`. ``timeout`` is
    in seconds. Raises `SilentError`; `RootError` or `DaemonError` when what lies there is not ours.
    """
    if not places.supported():
        return None
    for root in places.roots_above(start, any_root=any_root):
        client = connect_root(root, timeout=timeout)
        if client is not None:
            return client
    return None


def connect_root(root: str | os.PathLike[str], *, timeout: float = HELLO_SECONDS) -> Client | None:
    """Connect to the daemon of this very root, which is resolved; None when there is none. Raises as `connect`.

    First by what is announced, which also finds a daemon whose root was made again, or mounted anew, and which still
    has its first name; then by the root's own place. An announcement that came along when the root was copied or
    renamed names the daemon of another root, and counts for nothing.
    """
    path = os.fspath(root)
    return _connect(path, lambda: places.place_of(path), timeout)


def connect_place(place: places.Place, *, timeout: float = HELLO_SECONDS) -> Client | None:
    """Connect to the daemon of a root that may have gone, by its place; else as `connect_root`."""
    return _connect(place.root, lambda: place, timeout)


def _connect(path: str, place_of: Callable[[], places.Place], timeout: float) -> Client | None:
    if not places.supported():
        return None
    index = f"{path}/{places.INDEX_NAME}"
    announced = places.read_announcement(index)
    if not places.check_runtime_dir(places.runtime_dir()):
        return None
    first = None if announced is None else dial(announced.socket, path, timeout=timeout)
    if first is not None:
        if first.root == path:
            return first
        first.close()
    return dial(place_of().socket, path, timeout=timeout)


def dial(path: str, root: str, *, timeout: float = HELLO_SECONDS) -> Client | None:
    """Connect to a socket of ours and say hello; None when nobody listens there. Raises `DaemonError`."""
    if not places.is_our_socket(path):
        return None
    # Here, since a command that finds no daemon needs none. By itself, since `socket` makes enumerations of all that a
    # network knows, which takes as long as a question's way to the daemon and back.
    import _socket

    until = time.monotonic() + timeout
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        if not _connected(connection, path, root, until):
            connection.close()
            return None
        client = Client(connection, root, path)
        client.hello(until - time.monotonic())
    except BaseException:
        connection.close()
        raise
    return client


def _connected(connection: _socket.socket, path: str, root: str, until: float) -> bool:
    while (left := until - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            connection.connect(path)
        except BlockingIOError:  # its queue of new connections is full
            time.sleep(_RETRY_SECONDS)
        except TimeoutError:
            break
        except OSError:
            return False
        else:
            return True
    raise SilentError(f"the daemon of {root} takes no connection; `indexer daemon status` tells more")


class Client:
    """One connection. ``root``, ``protocol`` and ``version`` are what the daemon said of itself.

    ``pid`` is the process that listens, by the kernel's word, or 0 where the kernel does not tell; it is for people.
    """

    def __init__(self, connection: _socket.socket, root: str, socket_path: str) -> None:
        self.root = root
        self.socket_path = socket_path
        self.protocol = 0
        self.version = ""
        self.pid = _listener_of(connection)
        self._connection = connection
        self._decoder = Decoder(MAX_ANSWER)
        self._number = 0
        self._told: deque[Notification] = deque()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    @property
    def mismatch(self) -> str:
        """One line when daemon and client speak different protocols; empty when they agree."""
        if self.protocol == PROTOCOL:
            return ""
        return (
            f"the daemon of {self.root} speaks protocol {self.protocol} (indexer {self.version or 'unknown'}), "
            f"and this is protocol {PROTOCOL} (indexer {__version__}); `indexer daemon restart` mends it"
        )

    def hello(self, timeout: float) -> None:
        """Say who we are and take note of who answers. An answer that is an error is an answer too."""
        params = {
            "processId": os.getpid(),
            "clientInfo": {"name": "indexer", "version": __version__},
            "protocol": PROTOCOL,
            "capabilities": {},
        }
        try:
            found = self.request("initialize", params, timeout=timeout)
        except RpcError as error:
            found = error.data
        if not isinstance(found, dict):
            return
        about = found.get("serverInfo")
        self.root = _of(str, found.get("root"), self.root)
        self.protocol = _of(int, found.get("protocol"), 0)
        version = about.get("version") if isinstance(about, dict) else found.get("version")
        self.version = _of(str, version, "")

    def request(
        self,
        method: str,
        params: object = None,
        *,
        timeout: float = 10.0,
        told: Callable[[Notification], None] | None = None,
    ) -> Any:
        """Return the result of one method. ``timeout`` is in seconds, counted anew after each notification.

        Notifications that come meanwhile go to ``told``, or wait for `notifications`. Raises `RpcError` with the
        daemon's own error, `SilentError` at the bound (what was asked is then cancelled), `GoneError` when the
        connection ends, and `DaemonError` when the daemon is of another protocol.
        """
        if self.mismatch and method not in _TIMELESS:
            raise DaemonError(self.mismatch)
        self._number += 1
        number = self._number
        self._send(Request(number, method, params), timeout)
        until = time.monotonic() + timeout
        while True:
            message = self._receive(until)
            if message is None:
                self.notify("$/cancelRequest", {"id": number})
                raise SilentError(f"the daemon of {self.root} has not answered {method} within {timeout:g} s")
            if isinstance(message, Notification):
                until = time.monotonic() + timeout
                (told or self._told.append)(message)
            elif isinstance(message, Response) and message.id in {number, None}:
                if message.error is not None:
                    raise message.error
                return message.result

    def notify(self, method: str, params: object = None, *, timeout: float = 2.0) -> None:
        """Tell the daemon something that it does not answer. Raises `SilentError` or `GoneError`."""
        self._send(Notification(method, params), timeout)

    def notifications(self, timeout: float) -> Iterator[Notification]:
        """Yield what the daemon tells, until it has been silent for ``timeout`` seconds. Raises `GoneError`."""
        while True:
            if self._told:
                yield self._told.popleft()
                continue
            message = self._receive(time.monotonic() + timeout)
            if message is None:
                return
            if isinstance(message, Notification):
                yield message

    def wait_for_end(self, timeout: float) -> bool:
        """Wait until the daemon ends the connection; tell whether it has within ``timeout`` seconds."""
        until = time.monotonic() + timeout
        try:
            while self._receive(until) is not None:
                pass
        except GoneError:
            return True
        return False

    # --- bytes

    def _send(self, message: Request | Notification, timeout: float) -> None:
        self._connection.settimeout(max(timeout, 0.001))
        try:
            self._connection.sendall(Framing.HEADERS.frame(encode(message)))
        except TimeoutError:
            raise SilentError(f"the daemon of {self.root} has not taken the question") from None
        except OSError as error:
            raise self._gone() from error

    def _receive(self, until: float) -> Message | None:
        """Return the next message, or None at the bound."""
        try:
            while (body := self._decoder.next()) is None:
                left = until - time.monotonic()
                if left <= 0:
                    return None
                self._connection.settimeout(left)
                data = self._connection.recv(_PIECE)
                if not data:
                    raise self._gone()
                self._decoder.feed(data)
            return decode(body)
        except TimeoutError:
            return None
        except (OSError, FrameError, RpcError) as error:
            raise self._gone() from error

    def _gone(self) -> GoneError:
        return GoneError(f"the daemon of {self.root} ended the connection")


def _listener_of(connection: _socket.socket) -> int:
    import _socket  # as above

    # Linux: struct ucred, three ints of which the process is the first.
    option = getattr(_socket, "SO_PEERCRED", None)
    if option is None:
        return 0
    return int.from_bytes(connection.getsockopt(_socket.SOL_SOCKET, option, 12)[:4], sys.byteorder)


def _of(kind: type[Any], value: object, otherwise: Any) -> Any:
    return value if type(value) is kind else otherwise
