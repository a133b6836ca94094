"""Floors: small programs that do only what cannot be avoided, to hold our own figures against.

Each is run as a process of its own, as ours are. What is cheap to say in a line stands in the figure itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.trees import REPO


def command(name: str, *words: str | Path) -> list[str]:
    """The command of a floor."""
    return [sys.executable, "-m", f"{__name__}.{name}", *map(str, words)]


def printed(name: str, *words: str | Path) -> list[float]:
    """Run a floor and return the numbers that it prints."""
    done = subprocess.run(command(name, *words), cwd=REPO, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    return [float(value) for value in found] if isinstance(found, list) else [float(found)]
