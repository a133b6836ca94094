"""Counting from outside: the files that a run opens, by audit hook, and the texts that an embedder is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.embed import load
from indexer.settings import Settings
from indexer.workspace import Workspace, open_workspace

_HOOK = """
import os, sys
log = os.open({log!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def hook(event, arguments, write=os.write, log=log):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        write(log, os.fsencode(arguments[0]) + b"\\0")
sys.addaudithook(hook)
from indexer.cli import main
sys.exit(main({arguments!r}))
"""


@dataclass(frozen=True)
class Run:
    """A finished command: its status, what it printed, and every path it or its children opened, as given."""

    status: int
    out: str
    err: str
    opened: tuple[str, ...]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def command(
    log: Path, *arguments: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None
) -> Run:
    """Run the command line in a process of its own and note what it opens."""
    log.unlink(missing_ok=True)
    words = [str(word) for word in arguments]
    done = subprocess.run(
        [sys.executable, "-c", _HOOK.format(log=str(log), arguments=words)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        check=False,
        timeout=120,
    )
    opened = log.read_bytes().split(b"\0")[:-1] if log.exists() else []
    return Run(
        done.returncode,
        done.stdout.decode("utf-8", "surrogateescape"),
        done.stderr.decode("utf-8", "replace"),
        tuple(os.fsdecode(path) for path in opened),
    )


def opened_of(run: Run, root: Path, names: set[str]) -> list[str]:
    """Those of the opened paths that are files of the tree: inside the root by path, or by a bare name of one.

    Files are opened relative to their folder's descriptor, so that a bare name is all that the hook sees.
    """
    inside = f"{root}{os.sep}"
    ours = f"{root}{os.sep}.indexer"
    found = []
    for path in run.opened:
        within = path.startswith(inside) and not path.startswith(ours)
        if (within and Path(path).name in names) or ("/" not in path and path in names):
            found.append(path)
    return found


class Counting:
    """The embedder of the built-in settings, counting the texts it is given."""

    def __init__(self) -> None:
        self._inner = load(Settings().embed.model)
        self.texts = 0

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def dim(self) -> int:
        return self._inner.dim

    @property
    def version(self) -> str:
        return self._inner.version

    def embed(self, texts: Any) -> Any:
        self.texts += len(texts)
        return self._inner.embed(texts)


def workspace(root: Path, embedder: Any = None, settings: Settings | None = None) -> Workspace:
    """A workspace with the built-in settings, whatever this machine's user has set.

    Its settings name the embedder too, as commands and a daemon's updater go by them.
    """
    chosen = settings or Settings()
    if embedder is None:
        embedder = load(chosen.embed.model)
    return Workspace(
        root.resolve(),
        root.resolve() / ".indexer",
        chosen._replace(embed=chosen.embed._replace(model=embedder.name)),
        embedder,
    )


__all__ = ["Counting", "Run", "command", "open_workspace", "opened_of", "workspace"]
