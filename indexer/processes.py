"""Starting an interpreter of our own: with this one's module path, and nothing of the folder or environment around.

A repository is not trusted: a child must never pick up a module from the current folder, as ``python -m`` would.
"""

from __future__ import annotations

import subprocess
import sys


def start_interpreter(module: str, function: str, descriptor: int) -> subprocess.Popen[bytes]:
    """Run ``module.function(descriptor)`` in a new interpreter that inherits that file descriptor and stderr."""
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import importlib; "
        f"importlib.import_module({module!r}).{function}({descriptor})"
    )
    return subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-c", code],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
