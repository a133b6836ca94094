"""The commands: each opens the workspace, calls one function of the rooms below, and prints what it says."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from indexer import answers, check, config, oneshot, search, status
from indexer.cli import light, show
from indexer.cli.progress import Line
from indexer.reindex import reindex, silent
from indexer.workspace import open_workspace

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from indexer.reindex import Progress
    from indexer.workspace import Workspace

_SKIPPED_SHOWN = 10


def _open(options: argparse.Namespace) -> Workspace:
    start = options.root or Path.cwd()
    return open_workspace(
        start,
        named=options.root is not None,
        settings_file=options.config,
        any_root=options.any_root,
    )


@contextmanager
def _progress(options: argparse.Namespace) -> Iterator[Progress]:
    """Progress belongs to people: none where one JSON object is wanted, or silence."""
    if options.json or getattr(options, "quiet", False):
        yield silent
        return
    line = Line(sys.stderr)
    try:
        yield line
    finally:
        line.close()


def _view(options: argparse.Namespace, space: Workspace) -> oneshot.View:
    with _progress(options) as progress:
        return oneshot.view(space, now=options.now, progress=progress)


# --- writing


def run_reindex(options: argparse.Namespace) -> int:
    """``indexer reindex``."""
    space = _open(options)
    with _progress(options) as progress:
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


# --- asking


def run_search(options: argparse.Namespace) -> int:
    """``indexer search``."""
    space = _open(options)
    defaults = space.settings.search
    request = search.Request(
        options.query,
        k=defaults.k if options.k is None else options.k,
        mode=options.mode or defaults.mode,
        path=tuple(options.path),
        lang=tuple(options.lang),
        kind=tuple(options.kind),
        min_score=defaults.min_score if options.min_score is None else options.min_score,
    )
    answer = oneshot.answer(space, _view(options, space), request, literal=options.literal)
    words = [options.query] if options.literal else options.query.split()
    return _print_answer(options, answer, words)


def run_symbols(options: argparse.Namespace) -> int:
    """``indexer symbols``."""
    space = _open(options)
    read_text = oneshot.text_reader(space)
    answer = oneshot.ask(
        _view(options, space),
        lambda corpus: search.symbols(corpus, options.name, read_text=read_text),
        "symbols",
    )
    return _print_answer(options, answer, [options.name])


def run_related(options: argparse.Namespace) -> int:
    """``indexer related``."""
    space = _open(options)
    path, line = light.read_place(options.place, space.root)
    k = space.settings.search.k if options.k is None else options.k
    mode = search.resolve_mode(space.settings.search.mode, space.embedder)
    read_text = oneshot.text_reader(space)
    answer = oneshot.ask(
        _view(options, space),
        lambda corpus: search.related(corpus, path, line, mode=mode, read_text=read_text, k=k),
        "related",
    )
    return _print_answer(options, answer, [])


def _print_answer(options: argparse.Namespace, answer: oneshot.Answer, words: Sequence[str]) -> int:
    return light.print_answer(options, answers.answer_object(answer), words)


# --- telling


def run_status(options: argparse.Namespace) -> int:
    """``indexer status``."""
    space = _open(options)
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
    space = _open(options)
    with _progress(options) as progress:
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
    space = _open(options)
    value = asdict(space.settings)
    files = {
        "user": str(options.config or config.user_file()),
        "repository": str(space.root / config.REPOSITORY_FILE),
    }
    if options.json:
        print(answers.as_json({"root": str(space.root), "files": files, "settings": value}))
    else:
        print("\n".join(show.safe(line) for line in show.settings_lines(files, value)))
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "reindex": run_reindex,
    "search": run_search,
    "symbols": run_symbols,
    "related": run_related,
    "status": run_status,
    "check": run_check,
    "config": run_config,
}
