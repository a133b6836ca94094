"""``status``, ``check``, ``config``: the commands that tell how things stand."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from indexer import answers, check, config, status
from indexer.cli import light, show
from indexer.cli.shared import opened, progress_of

if TYPE_CHECKING:
    import argparse

_SKIPPED_SHOWN = 10


def run_status(options: argparse.Namespace) -> int:
    """``indexer status``."""
    space = opened(options)
    found = status.status_of(space)
    daemon = light.daemon_status(space.root)
    if options.json:
        value = show.status_object(found)
        print(answers.as_json({**value, "daemon": daemon} if daemon else value))
    else:
        most = None if options.all else _SKIPPED_SHOWN
        lines = [*(show.daemon_lines(daemon) if daemon else []), *show.status_lines(found, most)]
        print("\n".join(show.safe(line) for line in lines))
    return 0


def run_check(options: argparse.Namespace) -> int:
    """``indexer check``."""
    space = opened(options)
    with progress_of(options) as progress:
        found = check.check(space, repair=options.repair, progress=progress)
    if options.json:
        print(answers.as_json(asdict(found)))
    else:
        for line in found.problems:
            print(show.safe(line))
        print(show.findings_text(found))
    return 0 if found.repaired or not found.problems else 1


def run_config(options: argparse.Namespace) -> int:
    """``indexer config``."""
    space = opened(options)
    value = {name: section._asdict() for name, section in space.settings._asdict().items()}
    files = {
        "user": str(options.config or config.user_file()),
        "repository": str(space.root / config.REPOSITORY_FILE),
    }
    if options.json:
        print(answers.as_json({"root": str(space.root), "files": files, "settings": value}))
    else:
        print("\n".join(show.safe(line) for line in show.settings_lines(files, value)))
    return 0
