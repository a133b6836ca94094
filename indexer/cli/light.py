"""Commands that a running daemon answers, by the standard library alone: a question costs little more than Python's start.

`answer` either prints the whole answer or nothing at all; then the command is done the usual way, in this process, and
a line on stderr says why if there is a daemon that should have answered.
"""

# Paths are strings here: a question to a running daemon counts its milliseconds.
# ruff: noqa: PTH109, PTH110, PTH118

from __future__ import annotations

import os
import re
import sys
from types import SimpleNamespace

from indexer.cli import show
from indexer.cli.progress import Line
from indexer.errors import ConfigError, DaemonError, QueryError, RootError
from indexer.plainly import TYPE_CHECKING
from indexer.serve.client import GoneError, SilentError, connect, connect_root
from indexer.serve.place import supported
from indexer.serve.protocol import Code, RpcError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from indexer.serve.client import Client
    from indexer.serve.protocol import Notification

SYMBOLS = 50  # definitions that are listed
# As in `indexer.search`, which is slow to load.
_FILTERS = ("path", "lang", "kind", "name", "calls", "inherits")
_UNSCORED = {"list", "literal"}  # modes in which a score says nothing
_FRESH_MS = 2000  # how long the daemon may take to be current
_ANSWER_SECONDS = 10.0  # for an answer, that time included
_STATUS_SECONDS = 2.0
_RUN_SECONDS = 300.0  # between two signs of life of a run
# Of these it is this side that is to blame, or the daemon is at fault: done the usual way, the command may succeed.
_NOT_ANSWERED = {Code.PARSE, Code.INVALID_REQUEST, Code.UNKNOWN_METHOD, Code.INTERNAL, Code.CANCELLED}


def answer(options: argparse.Namespace) -> int | None:
    """Have the daemon answer and return the exit status; None when there is none, or it cannot."""
    try:
        client = connect(options.root or os.getcwd(), any_root=options.any_root)
        if client is None:
            return None
        with client:
            return _ASK[options.command](client, options)
    except (RootError, FileNotFoundError):
        return None  # the usual way judges what is there by the settings, and says what is wrong with it
    except RpcError as error:
        return _refused(error)
    except DaemonError as error:
        instead = "; done without it" if isinstance(error, SilentError | GoneError) else ""
        warn(f"{error}{instead}")
        return None


def _refused(error: RpcError) -> int | None:
    if error.code in _NOT_ANSWERED:
        warn(f"the daemon could not answer ({error.message}); done without it")
        return None
    warn(error.message)
    return 1


def start_daemon(options: argparse.Namespace) -> bool:
    """Start the daemon for a command, if the user's settings ask for that; tell whether there is one now."""
    # Here, since a question to a running daemon needs none of it.
    from indexer import config
    from indexer.scan.root import find_root

    try:
        root = find_root(
            options.root or os.getcwd(), named=options.root is not None, any_root=options.any_root
        )
        wanted = supported() and config.load(root).daemon.autostart
    except (RootError, ConfigError, FileNotFoundError):
        return False  # the command itself says what is wrong
    if not wanted:
        return False
    from indexer.cli import daemon

    return daemon.start_by_itself(str(root), options)


def daemon_status(root: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What the daemon of a root says of itself; None without one, or when it cannot say."""
    try:
        client = connect_root(root)
        if client is None:
            return None
        with client:
            found: dict[str, Any] = client.request("index/status", timeout=_STATUS_SECONDS)
            return found
    except (RpcError, DaemonError, RootError) as error:
        warn(str(error))
        return None


def warn(text: str) -> None:
    """Print a line for people, on stderr."""
    print(f"indexer: {show.safe(text)}", file=sys.stderr)


# --- asking


def _search(client: Client, options: argparse.Namespace) -> int:
    params = {
        "query": options.query,
        "literal": options.literal,
        **_filters(options),
        **({"explain": True} if options.explain else {}),
        **_given(options, "k", "mode", "min_score"),
    }
    words = [options.query] if options.literal else options.query.split()
    return print_answer(options, _ask(client, options, "index/search", params), words)


def _symbols(client: Client, options: argparse.Namespace) -> int:
    params = {**_filters(options), "name": options.name, **_given(options, "k")}
    found = _ask(client, options, "index/symbols", params)
    return print_answer(options, found, [options.name])


def _related(client: Client, options: argparse.Namespace) -> int:
    path, line = read_place(options.place, client.root)
    filters = _filters(options)
    if "path" in filters:
        filters["within"] = filters.pop("path")
    params = {"path": path, "line": line, **_given(options, "k"), **filters}
    return print_answer(options, _ask(client, options, "index/related", params), [])


def _filters(options: argparse.Namespace) -> dict[str, object]:
    """The filters that the user named; an older daemon knows fewer, and refuses what it does not know."""
    return {
        name: given for name in _FILTERS if isinstance(given := getattr(options, name, None), list) and given
    }


def _given(options: argparse.Namespace, *names: str) -> dict[str, object]:
    """What the user named; the daemon's settings say the rest."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _ask(client: Client, options: argparse.Namespace, method: str, params: Mapping[str, object]) -> Any:
    fresh = {"freshness": "now"} if options.now else {"freshness": "wait", "timeout_ms": _FRESH_MS}
    asked = {**params, **fresh}
    try:
        return client.request(method, asked, timeout=_ANSWER_SECONDS)
    except RpcError as error:
        if options.now or not _is_kind(error, "NotIndexedError"):
            raise
    # A daemon that has just been started makes the index; without one the command would have made it itself.
    _run(client, full=False, shown=not options.json)
    return client.request(method, asked, timeout=_ANSWER_SECONDS)


def _is_kind(error: RpcError, kind: str) -> bool:
    return isinstance(error.data, dict) and error.data.get("kind") == kind


def read_place(text: str, root: str | os.PathLike[str]) -> tuple[str, int]:
    """Read PATH:LINE; the path is relative to the root, or to the current folder if that is inside it.

    What compilers and grep put behind the line (``:COLUMN``, ``-LAST``, a colon) is left aside.
    """
    top = os.fspath(root)
    found = re.fullmatch(r"(.+?):(0*[1-9][0-9]*)(?:[:,-][0-9]+)?:?", text, re.DOTALL | re.ASCII)
    if found is None:
        raise QueryError(f'PATH:LINE: expected a path, a colon and a line number, got "{text}"')
    path, line = found[1], int(found[2])
    for base in (os.getcwd(), top):
        full = os.path.realpath(os.path.join(base, path))
        if os.path.exists(full) and full.startswith(f"{top.rstrip('/')}/"):
            return os.path.relpath(full, top), line
    return path, line


def print_answer(options: argparse.Namespace, found: dict[str, Any], words: Sequence[str]) -> int:
    """Print an answer, given as the contract's object."""
    if options.json:
        from indexer.answers import as_json  # here, since people do not ask for it

        print(as_json(found))
        return 0
    painter = show.Painter(sys.stdout)
    for number, hit in enumerate(found["hits"]):
        value: Any = SimpleNamespace(
            **{"stale": False, "also": (), "explain": (), **hit}
        )  # much like a `Hit`
        if found["mode"] == "symbols":
            print(show.definition_line(value, painter))
            continue
        if number:
            print()
        print("\n".join(show.hit_lines(value, words, painter, scored=found["mode"] not in _UNSCORED)))
    if not found["hits"]:
        warn("nothing found")
    for note in found.get("notes", ()):
        warn(note)
    if not found["fresh"]:
        warn(f"{found['reason']} (generation {found['generation']}); files may have changed since")
    return 0


# --- writing


def _reindex(client: Client, options: argparse.Namespace) -> int:
    report = _run(client, full=options.full, shown=not (options.json or options.quiet))
    if options.json:
        from indexer.answers import as_json  # as above

        print(as_json(report))
        return 0
    if not options.quiet:
        print(show.safe(show.report_text(_as_report(report))))
    for problem in client.request("index/status")["problems"]:
        warn(problem)
    return 0


def _as_report(value: Mapping[str, Any]) -> Any:
    """Much like a `Report`."""
    counts = {name: SimpleNamespace(**value[name]) for name in ("files", "chunks")}
    return SimpleNamespace(**{**value, **counts})


def _run(client: Client, *, full: bool, shown: bool) -> Any:
    """Have the daemon bring the index up to date, and show how that goes."""
    line = Line(sys.stderr) if shown else None

    def told(note: Notification) -> None:
        if line is not None and note.method == "index/progress" and note.params["state"] == "running":
            line(note.params["stage"], note.params["done"], note.params["total"])

    # Asked for even when nobody looks: each word is a sign of life, and only silence is bounded.
    client.request("index/subscribe")
    try:
        return client.request("index/reindex", {"full": full}, timeout=_RUN_SECONDS, told=told)
    finally:
        if line is not None:
            line.close()


_ASK: dict[str, Callable[[Client, argparse.Namespace], int]] = {
    "search": _search,
    "symbols": _symbols,
    "related": _related,
    "reindex": _reindex,
}
