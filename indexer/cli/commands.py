"""The commands, and the room each is in: only what a command needs is loaded, since loading is most of a quick one."""

from __future__ import annotations

import importlib

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_ROOMS = {
    "reindex": "writing",
    "search": "asking",
    "symbols": "asking",
    "related": "asking",
    "status": "telling",
    "check": "telling",
    "config": "telling",
}


def _run(options: argparse.Namespace) -> int:
    room = importlib.import_module(f"indexer.cli.{_ROOMS[options.command]}")
    status: int = getattr(room, f"run_{options.command}")(options)
    return status


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = dict.fromkeys(_ROOMS, _run)
