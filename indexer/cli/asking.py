"""``search``, ``symbols``, ``related``: the commands that ask, and are answered in this process."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from indexer import answers, oneshot, search
from indexer.cli import light, show
from indexer.cli.shared import opened, progress_of
from indexer.errors import QueryError
from indexer.search.calibrate import calibrate
from indexer.search.show import Reader

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from indexer.workspace import Workspace


def _view(options: argparse.Namespace, space: Workspace) -> oneshot.View:
    with progress_of(options) as progress:
        return oneshot.view(space, now=options.now, progress=progress)


def run_search(options: argparse.Namespace) -> int:
    """``indexer search``."""
    if options.calibrate:
        return _calibrate(options)
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


def _calibrate(options: argparse.Namespace) -> int:
    """``indexer search --calibrate``."""
    space = opened(options)
    defaults = space.settings.search
    mode = options.mode or defaults.mode
    with progress_of(options) as progress:
        seen = oneshot.view(space, now=options.now, progress=progress)
        corpus = search.Corpus.of(seen.snapshot)

        def ask(question: str) -> search.Found:
            request = search.Request(question, mode=mode, weak_below=defaults.weak_below)
            return search.find(corpus, request, embedder=space.embedder, read_text=lambda _: None)

        found = calibrate(corpus, Reader(corpus, oneshot.text_reader(space)), ask, progress)
    if options.json:
        print(answers.as_json(asdict(found)))
    else:
        print("\n".join(show.calibration_lines(found, defaults.weak_below)))
    if seen.reason:
        light.warn(f"{seen.reason} (generation {seen.snapshot.generation})")
    return 0


def run_symbols(options: argparse.Namespace) -> int:
    """``indexer symbols``."""
    space = opened(options)
    read_text = oneshot.text_reader(space)
    k = light.SYMBOLS if options.k is None else _at_least_one(options.k)
    answer = oneshot.ask(
        _view(options, space),
        lambda corpus: search.symbols(corpus, options.name, read_text=read_text, k=k, where=_where(options)),
    )
    return _print_answer(options, answer, [options.name])


def run_related(options: argparse.Namespace) -> int:
    """``indexer related``."""
    space = opened(options)
    path, line = light.read_place(options.place, space.root)
    k = space.settings.search.k if options.k is None else _at_least_one(options.k)
    mode = search.resolve_mode(space.settings.search.mode, space.embedder)
    read_text = oneshot.text_reader(space)
    answer = oneshot.ask(
        _view(options, space),
        lambda corpus: search.related(
            corpus, path, line, mode=mode, read_text=read_text, k=k, where=_where(options)
        ),
    )
    return _print_answer(options, answer, [])


def _where(options: argparse.Namespace) -> search.Filters:
    return search.Filters(path=tuple(options.path), lang=tuple(options.lang), kind=tuple(options.kind))


def _at_least_one(k: int) -> int:
    if k < 1:
        raise QueryError(f"k: expected at least 1, got {k}")
    return k


def _print_answer(options: argparse.Namespace, answer: oneshot.Answer, words: Sequence[str]) -> int:
    return light.print_answer(options, answers.answer_object(answer), words)
