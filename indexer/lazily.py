"""A package whose names are loaded when they are first asked for: a short command needs few of them.

__getattr__ = from_rooms(__name__, {"Writer": "commit", "Snapshot": "snapshot"})
"""

from __future__ import annotations

import importlib
import sys

from indexer.plainly import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def from_rooms(package: str, rooms: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the package's ``__getattr__``; ``rooms`` tells which of its modules each public name is in."""

    def load(name: str) -> Any:
        if name not in rooms:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        found = getattr(importlib.import_module(f"{package}.{rooms[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return load
