"""Finding a function by the first sentence of its documentation: ``python -m tests.benchmarks.functions``.

For each language, the functions of some projects that no model is trained on. A question is the first sentence of a
function's docstring or doc comment; the answer is the function, from which the documentation was taken out (a name
that begins the sentence, as Go's custom has it, is taken out of the question). A question that occurs twice counts
once. The functions of all the projects together are dealt into pools of about a thousand, since the figure hangs on
how many there are to choose from; ``whole`` is the figure over all of them at once.

It is MRR@10 of BM25 over the tokenizer's terms, of a model alone, and of both with min-max fusion, for several
shares of the model. The easy kind of test: question and code are one person's words. `paraphrases` is the hard kind.

The projects stand in ``functions.toml``, by package, version and SHA-256; they are fetched into ``--sources`` when
they are not there yet, and the pools are kept as JSON in ``--pools``: with those, a run takes seconds a language.
``INDEXER_FUNCTIONS`` in the environment names a folder for both.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from indexer.train.doctext import first_sentence
from indexer.train.documented import FUNCTIONS, Documented, definitions, is_test
from indexer.train.places import code_files
from indexer.train.sources import bring_all, read_list
from tests.benchmarks.retrieval import Figures, choose_embedder, evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator

LIST = Path(__file__).with_name("functions.toml")
MOST = 4000  # functions of a language, but for Python's, which are a given test
POOL = 1000  # functions to choose from, roughly
_NOTES = re.compile(
    r"(?:todo|fixme|xxx|hack|note|nb|copyright|example|@?deprecated|eslint|jshint|istanbul)\b", re.IGNORECASE
)
LONGEST = 8000  # characters of code


@dataclass(frozen=True, slots=True)
class Item:
    """One function of a pool, and the question it answers."""

    question: str
    code: str
    project: str
    path: str
    symbol: str
    line: int


def question_of(one: Documented) -> str:
    """The first sentence, without the function's own name at its head."""
    sentence = first_sentence(one.doc)
    head, _, rest = sentence.partition(" ")
    return rest.strip() if head.strip("`*_:,()") == one.symbol else sentence


def asked(one: Documented, question: str) -> bool:
    """Whether a function is in the pool: documented in English words, with code enough to be found by."""
    return (
        one.kind in FUNCTIONS
        and one.formal
        and not is_test(one)
        and not _NOTES.match(question)
        and 4 <= len(question.split()) <= 40
        and question.isascii()
        and one.body >= 3
        and ">>>" not in question
        and not question.startswith((":", "..", "@"))
        and len(one.code) < LONGEST
    )


def pool(language: str, projects: list[tuple[str, Path]]) -> list[Item]:
    """All functions of the projects that can be asked for, each question once, in the order of a checksum.

    At most `MOST` of them, but for Python.
    """
    found: dict[str, Item] = {}
    for name, folder in projects:
        for item in _items(language, name, folder):
            found.setdefault(item.question.lower(), item)
    dealt = sorted(found.values(), key=lambda item: (crc32(item.question.encode()), item.question))
    return dealt if language == "python" else dealt[:MOST]


def _items(language: str, project: str, folder: Path) -> Iterator[Item]:
    for path, its_language, text in code_files(folder, language):
        if its_language != language:
            continue
        for one in definitions(language, text):
            question = question_of(one)
            if asked(one, question):
                yield Item(
                    question,
                    one.code,
                    project,
                    path,
                    ".".join(filter(None, (one.scope, one.symbol))),
                    one.start_line,
                )


def build(sources: Path, pools: Path, languages: list[str]) -> None:
    """Fetch what is not there, and write ``<language>.json`` for each language."""
    wanted = [one for one in read_list(LIST) if one.language in languages]
    for line in bring_all(wanted, sources):
        raise SystemExit(f"could not be fetched: {line}")
    pools.mkdir(parents=True, exist_ok=True)
    for language in languages:
        items = pool(
            language, [(one.name, sources / one.folder) for one in wanted if one.language == language]
        )
        partial = pools / f".{language}.json"
        partial.write_text(json.dumps([asdict(item) for item in items], indent=0), encoding="utf-8")
        partial.replace(pools / f"{language}.json")


def read_pool(path: Path) -> list[Item]:
    """Return the functions of a pool that `build` wrote."""
    return [Item(**item) for item in json.loads(path.read_text(encoding="utf-8"))]


def report(language: str, size: int, figures: Figures) -> None:
    """One line of the table."""
    shares = "  ".join(f"{share:.1f}: {value:.3f}" for share, value in figures.fused.items())
    dense = "-" if figures.dense is None else f"{figures.dense:.3f}"
    sys.stderr.write(f"{language:12} {size:5}  BM25 {figures.lexical:.3f}  model {dense}  fused {shares}\n")


def main(arguments: list[str] | None = None) -> None:
    """Print the figures: a table on standard error, JSON on standard output."""
    languages = list(dict.fromkeys(one.language for one in read_list(LIST)))
    here = Path(os.environ.get("INDEXER_FUNCTIONS", Path.home() / ".cache" / "indexer-functions"))
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.functions", description=__doc__)
    parser.add_argument("--sources", type=Path, default=here / "sources")
    parser.add_argument("--pools", type=Path, default=here / "pools")
    parser.add_argument("--model", default="", help="hashing, static, or a model file; none: BM25 only")
    parser.add_argument("--language", action="append", choices=languages)
    parser.add_argument("--rebuild", action="store_true", help="make the pools again")
    parser.add_argument("--whole", action="store_true", help="figures over all functions at once too")
    options = parser.parse_args(arguments)
    chosen = options.language or languages
    missing = [one for one in chosen if options.rebuild or not (options.pools / f"{one}.json").exists()]
    build(options.sources, options.pools, missing)
    embedder = choose_embedder(options.model) if options.model else None
    told = {}
    for language in chosen:
        items = read_pool(options.pools / f"{language}.json")
        questions, codes = [item.question for item in items], [item.code for item in items]
        pools = max(1, round(len(items) / POOL))
        figures = evaluate(questions, codes, embedder, pools=pools)
        report(language, len(items), figures)
        told[language] = {
            "functions": len(items),
            "projects": dict(Counter(item.project for item in items)),
            "pools": pools,
            **asdict(figures),
            "whole": asdict(evaluate(questions, codes, embedder)) if options.whole else None,
        }
    sys.stdout.write(json.dumps({"model": options.model, "languages": told}, indent=1) + "\n")


if __name__ == "__main__":
    main()
