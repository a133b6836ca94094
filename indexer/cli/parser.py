"""The command line's words: one parser, and nothing that does work."""

from __future__ import annotations

import argparse
import os

from indexer import __version__
from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  (argparse has no public name)


def build(command: str = "") -> argparse.ArgumentParser:
    """Return the parser of every command and flag; of one ``command`` alone, if that is the name of one.

    All of them take as long to set up as a running daemon takes to answer a question.
    """
    parser = argparse.ArgumentParser(
        prog="indexer",
        description="A code index that is as fresh as the disk.",
        allow_abbrev=False,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"indexer {__version__}")
    # Given `prog`, argparse need not format a usage to find it out.
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, prog="indexer")
    for name in [command] if command in _COMMANDS else _COMMANDS:
        _COMMANDS[name](commands)
    return parser


def read(words: Sequence[str]) -> argparse.Namespace:
    """Read a command line; with a wrong one, print the usage and exit."""
    options = build(words[0] if words else "").parse_args(words)
    if options.command == "search":
        _complete_search(options)
    return options


def _path(text: str) -> Path:
    from pathlib import Path  # here, since a question without a ROOT needs none

    return Path(text)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """As wide as the terminal. argparse makes one for every flag, and would load a library to find that out."""
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size(1).columns)
    except (ValueError, OSError):
        columns = 80
    return argparse.HelpFormatter(prog, width=max(columns - 2, 11))


def _command(commands: _Commands, name: str, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name, help=text, description=text, allow_abbrev=False, formatter_class=_formatter
    )
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument(
        "--config", type=_path, metavar="FILE", help="your settings, in place of the usual file"
    )
    command.add_argument("--any-root", action="store_true", help="allow / or the home folder as the root")
    return command


def _root(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "root",
        nargs="?",
        type=_path,
        metavar="ROOT",
        help="the repository; by default the indexed root, or the git work tree, around the current folder",
    )


def _may_ask_daemon(command: argparse.ArgumentParser) -> None:
    command.add_argument("--no-daemon", action="store_true", help="do it here, even where a daemon runs")


def _reindex(commands: _Commands) -> None:
    command = _command(commands, "reindex", "Bring the index up to date, or make it.")
    _root(command)
    command.add_argument("--full", action="store_true", help="make it anew from nothing")
    command.add_argument("--quiet", action="store_true", help="print nothing but errors")
    _may_ask_daemon(command)


def _search(commands: _Commands) -> None:
    command = _command(commands, "search", "Answer a question from the index, brought up to date first.")
    command.add_argument(
        "query",
        nargs="?",
        metavar="QUERY",
        help='words, a name, or a question; filters may stand in it ("retry kind:class -path:tests"), also alone',
    )
    _root(command)
    _filters(command)
    command.add_argument("--mode", choices=("hybrid", "lexical", "dense"), help="how to rank")
    command.add_argument("--min-score", type=float, metavar="X", help="leave out hits below this score")
    command.add_argument("--now", action="store_true", help="answer from the index as it stands")
    command.add_argument("--literal", action="store_true", help="find QUERY as exact text")
    command.add_argument("--explain", action="store_true", help="tell what each score is made of")
    command.add_argument(
        "--calibrate",
        action="store_true",
        help="ask some hundred questions with known answers, and tell how scores lie",
    )
    _may_ask_daemon(command)
    command.set_defaults(complain=command.error)


def _complete_search(options: argparse.Namespace) -> None:
    """A question may be left out where filters are given, and to calibrate takes none."""
    if options.calibrate:
        if options.query is not None and options.root is not None:
            options.complain("--calibrate takes no QUERY")
        options.root = _path(options.query) if options.query is not None else None
        options.no_daemon = True  # which would be kept busy by it
    elif options.query is None:
        filters = (options.path, options.lang, options.kind, options.name, options.calls, options.inherits)
        if not any(filters):
            options.complain("the following arguments are required: QUERY")
    options.query = options.query or ""


def _places(command: argparse.ArgumentParser) -> None:
    command.add_argument("-k", type=int, metavar="N", help="how many hits")
    command.add_argument("--path", action="append", default=[], metavar="GLOB", help="only files that match")
    command.add_argument("--lang", action="append", default=[], metavar="L", help="only this language")
    command.add_argument("--kind", action="append", default=[], metavar="K", help="only this kind of chunk")


def _filters(command: argparse.ArgumentParser) -> None:
    _places(command)
    command.add_argument(
        "--name", action="append", default=[], metavar="GLOB", help="only definitions of such a name"
    )
    command.add_argument(
        "--calls", action="append", default=[], metavar="NAME", help="only what calls this function"
    )
    command.add_argument(
        "--inherits", action="append", default=[], metavar="BASE", help="only classes with this base"
    )


def _symbols(commands: _Commands) -> None:
    command = _command(commands, "symbols", "List the definitions of a name.")
    command.add_argument(
        "name", metavar="NAME", help="a name, part of one, or a glob; Class.method and ns::name work"
    )
    _root(command)
    _places(command)
    command.add_argument("--now", action="store_true", help="answer from the index as it stands")
    _may_ask_daemon(command)


def _related(commands: _Commands) -> None:
    command = _command(commands, "related", "Find code that is like the code at a line.")
    command.add_argument("place", metavar="PATH:LINE", help="a line of an indexed file")
    _root(command)
    _places(command)
    command.add_argument("--now", action="store_true", help="answer from the index as it stands")
    _may_ask_daemon(command)


def _status(commands: _Commands) -> None:
    command = _command(commands, "status", "Tell what is indexed, what was skipped and why.")
    _root(command)
    command.add_argument("--all", action="store_true", help="list every skipped file")


def _check(commands: _Commands) -> None:
    command = _command(commands, "check", "Read everything again and prove the index equal to a new one.")
    _root(command)
    command.add_argument("--repair", action="store_true", help="mend what is found")


def _config(commands: _Commands) -> None:
    command = _command(commands, "config", "Print the settings in force and where they come from.")
    _root(command)


def _daemon(commands: _Commands) -> None:
    text = "Keep the index current in the background, and answer from it at once."
    command = _command(commands, "daemon", text)
    command.add_argument(
        "action",
        choices=("run", "start", "stop", "restart", "status", "unit", "schema"),
        metavar="ACTION",
        help="run (in the foreground), start, stop, restart, status, "
        "unit (print a systemd user unit), schema (print the socket's JSON Schema)",
    )
    _root(command)
    command.add_argument("--launchd", action="store_true", help="with unit: print a launchd property list")
    # For `start`, which tells the process it starts where to report.
    command.add_argument("--detached", type=int, metavar="FD", help=argparse.SUPPRESS)


_COMMANDS: dict[str, Callable[[_Commands], None]] = {
    "reindex": _reindex,
    "search": _search,
    "symbols": _symbols,
    "related": _related,
    "status": _status,
    "check": _check,
    "config": _config,
    "daemon": _daemon,
}
