"""The command line: the only room that prints or exits.

Exit status: 0 done, 1 it could not be done (one line says why and what to do), 2 wrong usage, 130 Ctrl-C.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from indexer.cli import parser
from indexer.errors import IndexerError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    _tolerate_narrow_consoles()
    options = parser.build().parse_args(arguments)
    # Linear algebra here is a few small products; threads for it would cost memory and make forking unsafe. Set
    # before numpy is loaded, and left alone where the user has said otherwise.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from indexer.cli import commands  # here, so that --help and wrong usage answer without loading numpy

        status = commands.COMMANDS[options.command](options)
        sys.stdout.flush()
    except IndexerError as error:
        print(f"indexer: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("indexer: interrupted; the index is as the last finished step left it", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has what it wanted (`| head`). Nothing more can be written, not even by the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def _tolerate_narrow_consoles() -> None:
    """A character the console's encoding lacks is printed as an escape, never a reason to fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
