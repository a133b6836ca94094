"""Starting an interpreter of our own: with this one's module path, and nothing of the folder or environment around.

A repository is not trusted. ``python -m`` and ``python -c`` put the current folder into the module path, and that may
be the repository: a child must never pick up a module from there.
"""

# pathlib is half of what a question to a running daemon would load.
# ruff: noqa: PTH109, PTH120

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

_HOME = os.path.dirname(os.path.dirname(__file__))  # the folder that this very package is in


def interpreter(code: str) -> list[str]:
    """Return the words that run ``code`` in a new interpreter with this module path."""
    around = {""}
    with suppress(OSError):  # the current folder may be gone
        around.add(os.getcwd())
    paths = [path for path in sys.path if path == _HOME or path not in around]
    return [sys.executable, "-I", "-X", "utf8", "-c", f"import sys; sys.path[:] = {paths!r}; {code}"]


def start_interpreter(module: str, function: str, descriptor: int) -> subprocess.Popen[bytes]:
    """Run ``module.function(descriptor)`` in a new interpreter that inherits that file descriptor and stderr."""
    code = f"import importlib; importlib.import_module({module!r}).{function}({descriptor})"
    return subprocess.Popen(
        interpreter(code),
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
