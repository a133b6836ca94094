"""``indexer daemon``: start, stop and look at the daemon of a root; and start it for a command that wants one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.cli import show
from indexer.cli.light import warn
from indexer.errors import DaemonError, RootError
from indexer.scan.root import find_root
from indexer.serve import lock, logs, start
from indexer.serve import place as places
from indexer.serve.client import connect_place, connect_root

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from indexer.serve.client import Client
    from indexer.serve.place import Place
    from indexer.workspace import Workspace

_BY_ITSELF_SECONDS = 20.0  # for which a question waits for the daemon that it has started
_ASKED_SECONDS = 5.0


def run(options: argparse.Namespace) -> int:
    """``indexer daemon ACTION``."""
    if options.action != "schema":
        places.require_support()
    try:
        return _ACTIONS[options.action](options)
    except start.StartError as error:
        _tell(error)
        return 1


def start_by_itself(root: str, options: argparse.Namespace) -> bool:
    """Start the daemon for a command that has found none; tell whether there is one now, and why if there is not."""
    try:
        start.start(root, _flags(options), by_itself=True, timeout=_BY_ITSELF_SECONDS).close()
    except DaemonError as error:
        _tell(error)
        return False
    return True


def _tell(error: DaemonError) -> None:
    warn(str(error))
    for line in error.tail if isinstance(error, start.StartError) else ():
        print(f"    {show.safe(line)}", file=sys.stderr)


def _named_root(options: argparse.Namespace) -> Path:
    """The root that any other command would be about."""
    return find_root(options.root or Path.cwd(), named=options.root is not None, any_root=options.any_root)


def _served_root(options: argparse.Namespace) -> str:
    """The innermost root with a daemon, alive or about to be; else `_named_root`; else a root that has gone."""
    here = options.root or Path.cwd()
    for root in places.roots_above(here, any_root=options.any_root):
        place = places.place_of(root)
        if places.check_runtime_dir(place.directory) and lock.is_held(place.lock):
            return root
    gone = os.path.normpath(Path.cwd() / here)
    if places.place_by_path(gone) is not None and not os.path.lexists(gone):
        return gone
    return str(_named_root(options))


def _flags(options: argparse.Namespace) -> list[str]:
    """The flags that the daemon needs too."""
    config = ["--config", str(options.config.absolute())] if options.config else []
    return [*config, *(["--any-root"] if options.any_root else [])]


# --- the actions


def _run(options: argparse.Namespace) -> int:
    """Become the daemon. In the background the process forks first, so that nobody has to wait for its end."""
    from indexer.serve import lifecycle  # here, as `stop` and `status` need none of it

    if options.detached is not None:
        os.set_inheritable(options.detached, False)
        if os.fork():
            os._exit(0)
    starter = lifecycle.Starter(options.detached)
    try:
        # Who started it has found the root; found again, it might be another, if an index was made meanwhile.
        root = options.root if options.detached is not None else _named_root(options)
    except RootError as error:
        starter.tell_failure(error)
        raise
    return lifecycle.run(
        str(root),
        lambda: _open_space(root, options),
        starter=starter,
        background=options.detached is not None,
    )


def _open_space(root: Path, options: argparse.Namespace) -> Workspace:
    from indexer.workspace import open_root  # here, since it loads numpy

    return open_root(root, settings_file=options.config)


def _start(options: argparse.Namespace) -> int:
    root = _served_root(options) if options.root is None else str(_named_root(options))
    client = connect_root(root)
    new = client is None
    with client or start.start(root, _flags(options)) as client:
        if client.mismatch:
            raise DaemonError(client.mismatch)
        _say(options, client, {"started": new}, "a daemon serves" if new else "a daemon serves already:")
    return 0


def _say(options: argparse.Namespace, client: Client, facts: dict[str, Any], words: str) -> None:
    if options.json:
        print(json.dumps({"root": client.root, "pid": client.pid, "socket": client.socket_path, **facts}))
    else:
        print(show.safe(f"{words} {client.root} (process {client.pid}, {client.socket_path})"))


def _stop(options: argparse.Namespace) -> int:
    root = _served_root(options)
    stopped = start.stop(root, told=warn)
    if options.json:
        print(json.dumps({"root": root, "stopped": stopped}))
    else:
        print(show.safe(f"stopped: {root}" if stopped else f"no daemon ran: {root}"))
    return 0


def _restart(options: argparse.Namespace) -> int:
    root = _served_root(options)
    start.stop(root, told=warn)
    with start.start(root, _flags(options)) as client:
        _say(options, client, {"started": True}, "a daemon serves")
    return 0


def _status(options: argparse.Namespace) -> int:
    root = _served_root(options)
    place = start.place_of(root)
    client = None if place is None else connect_place(place)
    if place is None or client is None:
        return _not_running(options, root, place)
    with client:
        if client.mismatch:
            raise DaemonError(client.mismatch)
        found = client.request("index/status", timeout=_ASKED_SECONDS)
        if options.json:
            print(json.dumps({"running": True, "socket": client.socket_path, "log": place.log, **found}))
        else:
            lines = [f"root        {client.root}", *show.daemon_lines(found)]
            lines += [f"socket      {client.socket_path}", f"log         {place.log}"]
            print("\n".join(map(show.safe, lines)))
    return 0


def _not_running(options: argparse.Namespace, root: str, place: Place | None) -> int:
    if place is not None and lock.is_held(place.lock):
        raise DaemonError(
            f"{root}: its daemon is starting or ending; if that lasts, {start.unreachable(place)}"
        )
    crashes = "" if place is None else start.crash_loop(place)
    if options.json:
        print(json.dumps({"running": False, "root": root, "problem": crashes}))
        return 1
    if place is not None and crashes:
        raise start.StartError(crashes, logs.tail(place.log))
    raise DaemonError(f"{root}: no daemon runs; `indexer daemon start` starts one")


def _unit(options: argparse.Namespace) -> int:
    from indexer.serve import units  # here, since nothing else needs it

    place = places.place_of(_named_root(options))
    launchd = options.launchd or sys.platform == "darwin"
    print((units.launchd if launchd else units.systemd)(place, _flags(options)), end="")
    return 0


def _schema(_: argparse.Namespace) -> int:
    from indexer.serve.schema import schema  # here, since it loads msgspec and more

    print(json.dumps(schema(), indent=2))
    return 0


_ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": _run,
    "start": _start,
    "stop": _stop,
    "restart": _restart,
    "status": _status,
    "unit": _unit,
    "schema": _schema,
}
