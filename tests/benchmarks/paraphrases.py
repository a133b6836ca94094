"""Questions in other words than the code's: ``python -m tests.benchmarks.paraphrases [--model MODEL]``.

Thirty functions and classes of five projects that no model is trained on, each asked for in English and in Chinese
by somebody who has not seen it; ``paraphrases.json`` has them, and was written before the first training. The
projects are fetched by package, version and SHA-256, laid side by side without their tests, indexed in a temporary
folder, and asked through the product's own search. A hit is right when it overlaps the lines of a symbol that
answers. Figures: MRR@10 for each language and way of asking.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer.oneshot import text_reader
from indexer.reindex import reindex
from indexer.search import Corpus, Request, search
from indexer.settings import Settings
from indexer.train.documented import definitions
from indexer.train.places import code_files, language_of
from indexer.train.sources import Source, bring_all
from indexer.workspace import Workspace
from tests.benchmarks.retrieval import choose_embedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from indexer.types import Hit

LIST = Path(__file__).with_name("paraphrases.json")
MODES = ("lexical", "dense", "hybrid")
LANGUAGES = ("english", "chinese")


def lay(projects: dict[str, dict[str, str]], sources: Path, root: Path) -> None:
    """Fetch the projects that are not there, and copy their code, without tests, to ``root/<project>``."""
    rows = {
        name: Source("mixed", one["package"], one["kind"], one["version"], one["license"], one["sha256"])
        for name, one in projects.items()
    }
    for line in bring_all(rows.values(), sources):
        raise SystemExit(f"could not be fetched: {line}")
    for name, source in rows.items():
        folder = sources / source.folder / projects[name]["folder"]
        for path, language, _ in code_files(folder, "python"):
            if language != "markdown":
                target = root / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / path, target)


def answers(root: Path, question: dict[str, Any]) -> list[tuple[int, int]]:
    """The line ranges that answer a question. A symbol that is not there is a mistake of the list: ValueError."""
    path = root / question["project"] / question["path"]
    found = {}
    for one in definitions(language_of(question["path"], ""), path.read_bytes()):
        found[".".join(filter(None, (one.scope, one.symbol)))] = (one.start_line, one.end_line)
    wanted = [question["symbol"], *question.get("also", [])]
    if missing := [symbol for symbol in wanted if symbol not in found]:
        raise ValueError(f"{path}: no definition of {missing}")
    return [found[symbol] for symbol in wanted]


def gain(hits: Iterable[Hit], path: str, ranges: list[tuple[int, int]]) -> float:
    """1 / rank of the first right hit, 0 without one."""
    for rank, hit in enumerate(hits, 1):
        if hit.path == path and any(
            hit.start_line <= last and first <= hit.end_line for first, last in ranges
        ):
            return 1 / rank
    return 0.0


def figures(root: Path, questions: list[dict[str, Any]], model: str) -> dict[str, Any]:
    """Index ``root`` with a model and ask everything in every way."""
    told: dict[str, Any] = {"model": model, "questions": len(questions)}
    with tempfile.TemporaryDirectory() as folder:
        space = Workspace(root, Path(folder) / "index", Settings(), choose_embedder(model))
        corpus = Corpus(reindex(space).snapshot)
        read_text = text_reader(space)
        right = [answers(root, question) for question in questions]
        told["chunks"] = corpus.rows
        for language in LANGUAGES:
            for mode in MODES:
                gains = [
                    gain(_ask(space, corpus, read_text, question[language], mode), _path(question), ranges)
                    for question, ranges in zip(questions, right, strict=True)
                ]
                told[f"{language} {mode}"] = round(sum(gains) / len(gains), 4)
                told[f"{language} {mode}, each"] = [round(one, 2) for one in gains]
    return told


def _ask(
    space: Workspace, corpus: Corpus, read_text: Callable[[str], bytes | None], query: str, mode: str
) -> list[Hit]:
    return search(corpus, Request(query, 10, mode=mode), embedder=space.embedder, read_text=read_text)


def _path(question: dict[str, Any]) -> str:
    return f"{question['project']}/{question['path']}"


def main(arguments: list[str] | None = None) -> None:
    """Print the figures as JSON."""
    here = Path(os.environ.get("INDEXER_FUNCTIONS", Path.home() / ".cache" / "indexer-functions"))
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.paraphrases", description=__doc__)
    parser.add_argument("--sources", type=Path, default=here / "sources")
    parser.add_argument("--model", default="static", help="hashing, static, or a model file")
    options = parser.parse_args(arguments)
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "projects"
        lay(listed["projects"], options.sources, root)
        sys.stdout.write(json.dumps(figures(root, listed["questions"], options.model), indent=1) + "\n")


if __name__ == "__main__":
    main()
