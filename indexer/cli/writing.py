"""``reindex``: the command that writes."""

from __future__ import annotations

from indexer.cli import light, show
from indexer.cli.shared import opened, progress_of
from indexer.plainly import TYPE_CHECKING
from indexer.reindex.standing import Unchanged, begin

if TYPE_CHECKING:
    import argparse

    from indexer.reindex import Outcome


def run_reindex(options: argparse.Namespace) -> int:
    """``indexer reindex``."""
    space = opened(options, ask_git=options.full)  # `begin` does
    with progress_of(options) as progress:
        begun = None if options.full else begin(space)
        if isinstance(begun, Unchanged):
            outcome: Unchanged | Outcome = begun
        else:
            from indexer.reindex.live import reindex  # here, since most runs find nothing changed

            outcome = reindex(space, full=options.full, progress=progress, begun=begun)
    if options.json:
        from dataclasses import asdict

        from indexer import answers

        print(answers.as_json(asdict(outcome.report)))
        return 0
    if not options.quiet:
        print(show.safe(show.report_text(outcome.report)))
    for note in outcome.notes:
        light.warn(note)
    for folder in outcome.unknown:
        light.warn(f"{folder or '.'}: cannot be read; what was indexed below it is kept as it was")
    return 0
