"""What the commands that do their own work begin with: the workspace, and somebody to tell how it goes."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path

from indexer.cli.progress import Line
from indexer.plainly import TYPE_CHECKING
from indexer.reindex.progress import silent
from indexer.workspace import open_workspace

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from indexer.reindex import Progress
    from indexer.workspace import Workspace


def opened(options: argparse.Namespace, *, ask_git: bool = True) -> Workspace:
    """Find the root that the command is about, and read its settings; ``ask_git`` is as in `open_workspace`."""
    start = options.root or Path.cwd()
    return open_workspace(
        start,
        named=options.root is not None,
        settings_file=options.config,
        any_root=options.any_root,
        ask_git=ask_git,
    )


@contextmanager
def progress_of(options: argparse.Namespace) -> Iterator[Progress]:
    """Progress belongs to people: none where one JSON object is wanted, or silence."""
    if options.json or getattr(options, "quiet", False):
        yield silent
        return
    line = Line(sys.stderr)
    try:
        yield line
    finally:
        line.close()
