"""The daemon's log: on the error stream, in the background into a file that is kept small.

It holds what happened, and tracebacks, and never what is indexed or asked. A traceback's frames quote our own source;
its last line is an exception's message, which may quote anything (a syntax error quotes the line it is in), so only
the messages of kinds that cannot are printed.

In the background the error stream *is* the log file, opened for appending and inherited by every process below, so a
crashed interpreter's last words end up in it as well. Therefore the file is not renamed when it grows too large, but
copied and cut: whoever writes goes on at its new end.
"""

# Paths are strings here: a question to a running daemon counts its milliseconds.
# ruff: noqa: PTH116, PTH123

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

from indexer.errors import IndexerError, QueryError

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

_log = logging.getLogger("indexer")
_PIECE = 1 << 16
_TAIL_BYTES = 1 << 14
# Their messages name files, names and types of our own, never data.
_TELLING = (
    OSError,
    ImportError,
    NameError,
    AttributeError,
    TypeError,
    IndexError,
    IndexerError,
    MemoryError,
    RecursionError,
)


class Formatter(logging.Formatter):
    """One line a record, in UTC; under it the frames of its exception, if it has one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text, without any control character of its message."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        head = f"{moment}.{int(record.msecs):03}Z {record.levelname} {record.process} {record.name}: "
        text = head + plain(record.getMessage())
        error = record.exc_info[1] if record.exc_info else None
        return text if error is None else f"{text}\n{trace_of(error)}"


def plain(text: str) -> str:
    """``text`` on one line, with what is not printable as an escape: a file's name may hold a newline."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def trace_of(error: BaseException) -> str:
    """The frames of an exception and of what led to it, oldest first."""
    pieces: list[str] = []
    seen: set[int] = set()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        frames = "".join(traceback.format_tb(following.__traceback__))
        pieces.append(f"{frames}{last_line(following)}")
        parts = following.exceptions if isinstance(following, BaseExceptionGroup) else ()
        pieces += [f"with:\n{trace_of(part)}" for part in reversed(parts)]
        following = following.__cause__ or (None if following.__suppress_context__ else following.__context__)
    return "\nwhich led to:\n".join(reversed(pieces))


def last_line(error: BaseException) -> str:
    """What kind of exception it is, and its message if that cannot quote what is indexed or asked."""
    name = type(error).__qualname__
    if isinstance(error, _TELLING) and not isinstance(error, QueryError):
        return f"{name}: {plain(str(error))}"
    return name


class _Stream(logging.Handler):
    """Writes to a descriptor; the regular file behind it is kept below ``most_bytes`` (0: left alone)."""

    def __init__(self, descriptor: int, path: str, most_bytes: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._path = path
        self._most_bytes = most_bytes

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record. A log that cannot be written is no reason for the daemon to fail."""
        try:
            os.write(self._descriptor, (self.format(record) + "\n").encode("utf-8", "backslashreplace"))
            if self._most_bytes and os.fstat(self._descriptor).st_size > self._most_bytes:
                rotate(self._path, self._descriptor)
        except OSError:  # a full disk, a closed terminal
            return


def rotate(path: str, descriptor: int) -> None:
    """Copy the log to ``path.1``, in place of the one before, and cut it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    reading = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writing = os.open(f"{path}.1", flags, 0o600)
        try:
            while piece := os.read(reading, _PIECE):
                os.write(writing, piece)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
        os.ftruncate(descriptor, 0)  # even when it could not be kept: it must not grow


def to_stderr(path: str = "", most_bytes: int = 0) -> None:
    """Send all records of this process to its error stream. ``path``: the file which that stream is, if it is one.

    Uncaught exceptions of threads and finalisers, and crashes of the interpreter, go there too.
    """
    handler = _Stream(2, path, most_bytes if path else 0)
    handler.setFormatter(Formatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    threading.excepthook = _thread_failed
    sys.unraisablehook = _finaliser_failed
    sys.excepthook = _uncaught
    faulthandler.enable(file=2)


def _uncaught(_: type[BaseException], error: BaseException, __: TracebackType | None) -> None:
    _log.critical("the process ends", exc_info=error)


def _thread_failed(what: threading.ExceptHookArgs) -> None:
    name = what.thread.name if what.thread else "a thread"
    _log.error("%s failed", name, exc_info=what.exc_value)


def _finaliser_failed(what: sys.UnraisableHookArgs) -> None:
    _log.error("an exception that could not be raised", exc_info=what.exc_value)


def loop_failed(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """For `asyncio.loop.set_exception_handler`: its own handler prints the exception's message, and so what is asked."""
    _log.error("%s", context["message"], exc_info=context.get("exception"))


def size_of(path: str) -> int:
    """The log's size in bytes; 0 without one."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def tail(path: str, lines: int = 5, since: int = 0) -> list[str]:
    """The last lines of a log, from the byte ``since`` on; empty when there is none."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = since if since <= size else 0  # it was cut meanwhile
            file.seek(max(start, size - _TAIL_BYTES))
            data = file.read(_TAIL_BYTES)
    except OSError:
        return []
    return [plain(line) for line in data.decode("utf-8", "replace").split("\n") if line.strip()][-lines:]
