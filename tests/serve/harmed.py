"""A daemon that can be harmed from outside: ``python -m tests.serve.harmed ROOT``. SIGUSR1 kills its reading thread."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from typing import TYPE_CHECKING

from indexer.cli import main
from indexer.watch.inotify import Reader

if TYPE_CHECKING:
    from types import FrameType


def kill_reader(number: int, frame: FrameType | None) -> None:
    """An exception out of nowhere, which the thread meets at its next event."""
    for thread in threading.enumerate():
        if isinstance(thread, Reader):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(SystemExit)
            )


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, kill_reader)
    sys.exit(main(["daemon", "run", sys.argv[1]]))
