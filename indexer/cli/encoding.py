"""The encoding that names, arguments and consoles have in this process.

Names on disk are bytes. Python reads them by the locale's encoding, so that under a Latin-1, GB18030 or plain C locale
the same file would have another name in the index than under UTF-8, and a name from the index might not be writable
at all. Hence one reading for all: UTF-8, with what is not UTF-8 carried through as it is.
"""

from __future__ import annotations

import io
import os
import sys


def insist_on_utf8() -> None:
    """Start this very command again in Python's UTF-8 mode, unless names are read as UTF-8 already.

    The console keeps the encoding that the locale gave it. Does not return when it starts again.
    """
    if sys.getfilesystemencoding() == "utf-8" or sys.flags.utf8_mode or not sys.executable:
        return
    environment = {**os.environ, "PYTHONUTF8": "1"}
    if not os.environ.get("PYTHONIOENCODING"):
        environment["PYTHONIOENCODING"] = f"{sys.stdout.encoding}:backslashreplace"
    words = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
    os.execve(sys.executable, words, environment)  # noqa: S606  (our own command line, unchanged)


def tolerate_narrow_consoles() -> None:
    """Print a character that the console's encoding lacks as an escape: it is never a reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def open_what_is_closed() -> None:
    """Give a process whose input or output was closed ones that nobody hears, so that no file of ours has their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
