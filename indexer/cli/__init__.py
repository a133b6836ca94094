"""The command line: the only room that prints or exits.

Exit status: 0 done, 1 it could not be done (one line says why and what to do), 2 wrong usage, 130 Ctrl-C.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # as `signal` has it, without its enumerations: half of what a question to a daemon loads
import gc
import os
import sys

from indexer.cli.encoding import insist_on_utf8, open_what_is_closed, tolerate_narrow_consoles
from indexer.errors import IndexerError
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    if arguments is None:
        open_what_is_closed()
        _hear_of_children()
        insist_on_utf8()
    tolerate_narrow_consoles()
    words = sys.argv[1:] if arguments is None else arguments
    if list(words[:1]) != ["daemon"]:
        # Millions of small values come and go in a command, and no cycles among them: looking for some is for longer lives.
        gc.set_threshold(100_000, 50, 100)
    from indexer.cli import parser  # here, since to load it is to make many of them

    options = parser.read(words)
    # Linear algebra here is a few small products; threads for it would cost memory and make forking unsafe. Set
    # before numpy is loaded, and left alone where the user has said otherwise.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        status = _run(options)
        sys.stdout.flush()
    except IndexerError as error:
        from indexer.cli.show import safe  # here, since a command that succeeds may need none of it

        print(f"indexer: {safe(str(error))}", file=sys.stderr)  # it may quote a name or a question
        return 1
    except KeyboardInterrupt:
        print("indexer: interrupted; the index is as the last finished step left it", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has what it wanted (`| head`). Nothing more can be written, not even by the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if arguments is None:
        _end_at_once(status)
    return status


def _hear_of_children() -> None:
    """Be told how a process of ours ends, though whoever started us has the ends of children ignored, which is inherited."""
    if hasattr(_signal, "SIGCHLD"):
        _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)


def _end_at_once(status: int) -> None:
    """End a short command as it is: to take apart all that was loaded would take a tenth of its time, for nothing.

    What has more to put in order at its end (threads, processes, logs) ends in the usual way.
    """
    if sys.modules.keys().isdisjoint({"numpy", "asyncio", "logging"}):
        sys.stderr.flush()
        os._exit(status)


def _run(options: argparse.Namespace) -> int:
    """Run a command. Each import is here, so that nothing is loaded that this very command does not need."""
    if options.command == "daemon":
        from indexer.cli import daemon

        return daemon.run(options)
    # With settings of its own a command is done here: the daemon has others.
    if not getattr(options, "no_daemon", True) and options.config is None:
        from indexer.cli import light

        status = light.answer(options)
        if status is None and light.start_daemon(options):
            status = light.answer(options)
        if status is not None:
            return status
    from indexer.cli import commands

    return commands.COMMANDS[options.command](options)
