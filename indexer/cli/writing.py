"""``reindex``: the command that writes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from indexer import answers
from indexer.cli import light, show
from indexer.cli.shared import opened, progress_of
from indexer.reindex import reindex

if TYPE_CHECKING:
    import argparse


def run_reindex(options: argparse.Namespace) -> int:
    """``indexer reindex``."""
    space = opened(options)
    with progress_of(options) as progress:
        outcome = reindex(space, full=options.full, progress=progress)
    if options.json:
        print(answers.as_json(asdict(outcome.report)))
        return 0
    if not options.quiet:
        print(show.safe(show.report_text(outcome.report)))
    for note in outcome.notes:
        light.warn(note)
    for folder in outcome.unknown:
        light.warn(f"{folder or '.'}: cannot be read; what was indexed below it is kept as it was")
    return 0
