r"""The wire: JSON-RPC 2.0 in one of two framings, read from bytes and written to bytes. No socket, standard library alone.

A connection is one stream of messages in each direction, in UTF-8, framed in one of two ways:

- headers, as the base protocol of LSP 3.17 has it: ``Content-Length: 17\r\n\r\n`` and as many bytes;
- lines: one JSON text a line, as JSON Lines has it.

The first byte that is not white space tells which: a letter begins a header, since no JSON object or array begins with
one; anything else begins a line. Answers come in the framing of the questions. Nothing longer than the limit is taken
in: a header that announces more, or a line that has grown past it, is refused there and then, and the connection with
it, since where the next message begins can no longer be known.
"""

from __future__ import annotations

import json
from enum import Enum

from indexer.plainly import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Id: TypeAlias = int | str

PROTOCOL = (
    1  # of methods and their meaning; raised when an old client would misread a new daemon, or the reverse
)
MAX_MESSAGE = 8 * 1024 * 1024  # bytes of one message to the daemon
MAX_ANSWER = 256 * 1024 * 1024  # bytes of one message from it: a status can name a million files
_MAX_HEADERS = 4096  # bytes of all headers of one message
_BLANK = b" \t\r\n"


class Code:
    """Error codes: JSON-RPC 2.0, section 5.1, and LSP 3.17, "ErrorCodes"."""

    PARSE = -32700
    INVALID_REQUEST = -32600
    UNKNOWN_METHOD = -32601
    INVALID_PARAMS = -32602
    INTERNAL = -32603
    CANCELLED = -32800
    FAILED = -32803  # asked rightly, and it cannot be done; `data.kind` names why


class RpcError(Exception):
    """An error as it goes over the wire. ``message`` is one line; ``data`` is JSON or None."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_object(self) -> dict[str, object]:
        """The error as JSON-RPC has it."""
        value: dict[str, object] = {"code": self.code, "message": self.message}
        if self.data is not None:
            value["data"] = self.data
        return value


class FrameError(RpcError):
    """The stream cannot be read any further: after its error is sent, the connection is closed."""


class Framing(Enum):
    """How one message is told from the next."""

    HEADERS = "headers"
    LINES = "lines"

    def frame(self, body: bytes) -> bytes:
        """Frame one message, which is JSON without a line break."""
        if self is Framing.LINES:
            return body + b"\n"
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Decoder:
    """Bytes in, the bodies of messages out: `feed` it, then ask `next` until there is none.

    It holds at most one message that is not whole, and what was fed after it.
    """

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self.framing: Framing | None = None
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0  # bytes of the buffer that are known to hold no line's end
        self._headers = 0  # bytes of headers of the message at hand
        self._length: int | None = None
        self._in_body = False
        self._broken = False

    @property
    def waiting(self) -> int:
        """How many bytes are held; at the end of the stream they are half a message."""
        return len(self._buffer) + self._headers

    def feed(self, data: bytes) -> None:
        """Take bytes in; after a `FrameError` they are dropped."""
        if not self._broken:
            self._buffer += data

    def next(self) -> bytes | None:
        """Return the next body, or None when more bytes are needed for it. Raises `FrameError`, once."""
        if self._broken or not self._begun():
            return None
        try:
            return self._line_body() if self.framing is Framing.LINES else self._length_body()
        except FrameError:
            self._broken = True
            self._buffer.clear()
            self._headers = 0
            raise

    def _begun(self) -> bool:
        if self.framing is None:
            del self._buffer[: len(self._buffer) - len(self._buffer.lstrip(_BLANK))]
            if self._buffer:
                self.framing = Framing.HEADERS if self._buffer[:1].isalpha() else Framing.LINES
        return self.framing is not None

    def _line_body(self) -> bytes | None:
        while (
            line := self._take_line(self._limit, f"a message is longer than {self._limit} bytes")
        ) is not None:
            if body := line.strip(_BLANK):
                return body
        return None

    def _length_body(self) -> bytes | None:
        while not self._in_body:
            line = self._take_line(
                _MAX_HEADERS - self._headers, f"headers are longer than {_MAX_HEADERS} bytes"
            )
            if line is None:
                return None
            self._header(line.removesuffix(b"\r"))
        assert self._length is not None
        if len(self._buffer) < self._length:
            return None
        body = self._take(self._length)
        self._length, self._headers, self._in_body = None, 0, False
        return body

    def _header(self, line: bytes) -> None:
        """Read one header line; the empty one is their end, and means nothing where none came before it."""
        if not line:
            if self._headers and self._length is None:
                raise FrameError(Code.INVALID_REQUEST, "headers without a Content-Length")
            self._in_body = bool(self._headers)
            return
        self._headers += len(line) + 2
        name, colon, value = line.partition(b":")
        if not colon:
            raise FrameError(Code.INVALID_REQUEST, "a header without a colon; expected Content-Length")
        match name.strip().lower():
            case b"content-length":
                self._announce(value.strip())
            case b"content-type":
                _check_charset(value)

    def _announce(self, text: bytes) -> None:
        # At most 18 digits: no number that is dear to read.
        if not (text.isdigit() and len(text) <= 18):
            raise FrameError(Code.INVALID_REQUEST, "Content-Length: expected a number of bytes")
        length = int(text)
        if self._length not in {None, length}:
            raise FrameError(Code.INVALID_REQUEST, "Content-Length: given twice, and not the same")
        if length > self._limit:
            raise FrameError(
                Code.INVALID_REQUEST, f"Content-Length: at most {self._limit} bytes, {length} announced"
            )
        self._length = length

    def _take_line(self, limit: int, complaint: str) -> bytes | None:
        end = self._buffer.find(b"\n", self._searched)
        if (len(self._buffer) if end < 0 else end) > limit:
            raise FrameError(Code.INVALID_REQUEST, complaint)
        if end < 0:
            self._searched = len(self._buffer)
            return None
        self._searched = 0
        return self._take(end + 1)[:-1]

    def _take(self, size: int) -> bytes:
        with memoryview(self._buffer) as view:
            taken = bytes(view[:size])
        del self._buffer[:size]
        return taken


def _check_charset(value: bytes) -> None:
    """Refuse every encoding but UTF-8 (LSP 3.17, "Header Part", which takes "utf8" as well)."""
    _, given, charset = value.lower().partition(b"charset=")
    if given and charset.split(b";")[0].strip(b' \t"') not in {b"utf-8", b"utf8"}:
        raise FrameError(Code.INVALID_REQUEST, "Content-Type: expected the charset utf-8")


# --- messages


class Request(NamedTuple):
    """A question; its answer bears the same ``id``."""

    id: Id
    method: str
    params: Any = None


class Notification(NamedTuple):
    """Something told that is not answered."""

    method: str
    params: Any = None


class Response(NamedTuple):
    """An answer; ``id`` is None where the question's could not be read."""

    id: Id | None
    result: Any = None
    error: RpcError | None = None


if TYPE_CHECKING:
    Message: TypeAlias = Request | Notification | Response


def encode(message: Message) -> bytes:
    """Write one message as JSON, all of it ASCII, so that a path that is no UTF-8 passes as an escape."""
    value: dict[str, Any] = {"jsonrpc": "2.0"}
    if isinstance(message, Response):
        value["id"] = message.id
        if message.error is not None:
            value["error"] = message.error.as_object()
        else:
            value["result"] = message.result
    else:
        if isinstance(message, Request):
            value["id"] = message.id
        value["method"] = message.method
        if message.params is not None:
            value["params"] = message.params
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def decode(body: bytes) -> Message:
    """Read one message that comes from a daemon. Raises `RpcError` when it is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RpcError(Code.PARSE, f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RpcError(Code.INVALID_REQUEST, "a message is a JSON object")
    method, number = value.get("method"), value.get("id")
    if isinstance(method, str):
        params = value.get("params")
        return Notification(method, params) if number is None else Request(number, method, params)
    if "error" in value:
        return Response(number, error=_error(value["error"]))
    if "result" not in value:
        raise RpcError(Code.INVALID_REQUEST, "a message has a method, a result or an error")
    return Response(number, value["result"])


def _error(value: object) -> RpcError:
    if not isinstance(value, dict) or not isinstance(value.get("code"), int):
        raise RpcError(Code.INVALID_REQUEST, "an error has a code and a message")
    return RpcError(value["code"], str(value.get("message", "")), value.get("data"))
