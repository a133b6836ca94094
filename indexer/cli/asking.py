"""``search``, ``symbols``, ``related``: the commands that ask, and are answered in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer import answers, oneshot, search
from indexer.cli import light
from indexer.cli.shared import opened, progress_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from indexer.workspace import Workspace


def _view(options: argparse.Namespace, space: Workspace) -> oneshot.View:
    with progress_of(options) as progress:
        return oneshot.view(space, now=options.now, progress=progress)


def run_search(options: argparse.Namespace) -> int:
    """``indexer search``."""
    space = opened(options)
    defaults = space.settings.search
    request = search.read_request(
        options.query,
        {name: tuple(getattr(options, name)) for name in search.FILTERS},
        literal=options.literal,
        k=defaults.k if options.k is None else options.k,
        mode=options.mode or defaults.mode,
        min_score=defaults.min_score if options.min_score is None else options.min_score,
        weak_below=defaults.weak_below,
        explain=options.explain,
    )
    answer = oneshot.answer(space, _view(options, space), request, literal=options.literal)
    words = [options.query] if options.literal else options.query.split()
    return _print_answer(options, answer, words)


def run_symbols(options: argparse.Namespace) -> int:
    """``indexer symbols``."""
    space = opened(options)
    read_text = oneshot.text_reader(space)
    answer = oneshot.ask(
        _view(options, space),
        lambda corpus: search.Found("symbols", search.symbols(corpus, options.name, read_text=read_text)),
    )
    return _print_answer(options, answer, [options.name])


def run_related(options: argparse.Namespace) -> int:
    """``indexer related``."""
    space = opened(options)
    path, line = light.read_place(options.place, space.root)
    k = space.settings.search.k if options.k is None else options.k
    mode = search.resolve_mode(space.settings.search.mode, space.embedder)
    read_text = oneshot.text_reader(space)
    answer = oneshot.ask(
        _view(options, space),
        lambda corpus: search.Found(
            "related", search.related(corpus, path, line, mode=mode, read_text=read_text, k=k)
        ),
    )
    return _print_answer(options, answer, [])


def _print_answer(options: argparse.Namespace, answer: oneshot.Answer, words: Sequence[str]) -> int:
    return light.print_answer(options, answers.answer_object(answer), words)
