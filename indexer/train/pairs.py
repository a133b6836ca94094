"""Training pairs from source code: ``python -m indexer.train.pairs SOURCES OUT --twins FOLDER ... --questions POOLS``.

SOURCES has a folder a language, with a folder a package in each (`indexer.train.sources` lays them so). OUT gets
``<language>.jsonl`` (`FILES` has the exceptions), a line a pair: ``{"left", "right", "kind", "language", "project"}``.

| kind    | left                                                  | right                              |
| ---     | ---                                                   | ---                                |
| doc     | a docstring's or doc comment's first sentence, or paragraph | the definition without it    |
| name    | a function's name in words, and its signature         | its body                           |
| comment | a comment inside of code, a heading or paragraph      | the lines, or code block, behind it |
| zhdoc   | any of these that is written in Chinese               | the same                           |

What is left out is counted by its reason: packages and folders of projects that are kept for tests (by name:
`indexer.train.excluded`; by content: `indexer.train.twins`), tests, examples and vendored code, what a tool has
written, texts that say nothing, questions of a test, repetitions, and what exceeds a project's share. Each package
is read once, into OUT/.parts; with ``--again`` anew.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from xxhash import xxh3_64_intdigest

from indexer.train import excluded
from indexer.train.mining import pairs_of_file
from indexer.train.places import code_files
from indexer.train.sources import read_list
from indexer.train.twins import Twins, files_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexer.train.reading import Pair

MOST = {"doc": 9000, "name": 5000, "comment": 5000, "zhdoc": 9000}  # of one project
ENOUGH = 14_000  # pairs of one project
FILES = {"zh": "zh-code"}  # beside the sentences out of the same packages' catalogues
_VERSION = re.compile(r"-v?\d.*$")
_PARTS = ".parts"


class _Against:
    """What pairs are held against; made before the workers are, which have it from their parent."""

    twins = Twins([])
    questions: frozenset[str] = frozenset()


def project_of(package: Path) -> str:
    """The package's name: its folder's without the version."""
    return _VERSION.sub("", package.name).replace("+", "/")


def mine(package: Path, home: str, enough: int = ENOUGH) -> tuple[list[Pair], Counter[str]]:
    """The pairs of one package, and how often what was dropped for which reason.

    When there are ``enough``, no further file is read.
    """
    project, dropped = project_of(package), Counter[str]()
    if excluded.reason(project):
        return [], Counter({f"package of an excluded project: {project}": 1})
    found: dict[str, list[Pair]] = {kind: [] for kind in MOST}
    for path, language, text in code_files(package, home, mixed=True):
        if sum(map(len, found.values())) >= enough:
            dropped["file of a project that has its share"] += 1
            continue
        if inner := excluded.inner_reason(language, path):
            dropped[f"file below a folder {inner}"] += 1
            continue
        last, copied = "", ""
        for pair in pairs_of_file(language, text, project, dropped):
            if pair.right != last:  # a sentence and a paragraph have the same code
                last, copied = pair.right, _Against.twins.copied_from(pair.right)
            if pair.left.lower() in _Against.questions:
                dropped["question of a test"] += 1
            elif copied:
                dropped["copy of excluded code"] += 1
            else:
                found[pair.kind].append(pair)
    return [pair for kind, some in found.items() for pair in _share(some, MOST[kind], dropped)], dropped


def _share(pairs: list[Pair], most: int, dropped: Counter[str]) -> list[Pair]:
    """At most so many, chosen by a checksum, in their order."""
    if len(pairs) <= most:
        return pairs
    dropped["more than a project's share"] += len(pairs) - most
    checks = [crc32(f"{pair.left}\n{pair.right}".encode("utf-8", "replace")) for pair in pairs]
    last = sorted(checks)[most - 1]
    return [pair for pair, check in zip(pairs, checks, strict=True) if check <= last]


def _part(package: Path, home: str, part: Path, enough: int) -> str:
    """Mine a package into its part; a line that tells how it went."""
    pairs, dropped = mine(package, home, enough)
    part.parent.mkdir(parents=True, exist_ok=True)
    partial = part.with_suffix(".tmp")
    with partial.open("w", encoding="utf-8", errors="replace") as sink:
        sink.write(json.dumps(dropped) + "\n")
        for pair in pairs:
            sink.write(json.dumps(pair._asdict(), ensure_ascii=False) + "\n")
    partial.rename(part)
    return f"{home}/{package.name}: {len(pairs)}"


def packages(sources: Path) -> Iterator[tuple[str, Path]]:
    """Language and folder of each package that is whole, and not there for its catalogues alone."""
    catalogues = {source.folder for source in read_list() if source.take == "catalogue"}
    for home in sorted(path for path in sources.iterdir() if path.is_dir() and not path.name.startswith(".")):
        for package in sorted(home.iterdir()):
            if (
                package.is_dir()
                and not package.name.startswith(".")
                and f"{home.name}/{package.name}" not in catalogues
            ):
                yield home.name, package


def join(out: Path, language: str) -> tuple[Counter[str], Counter[str]]:
    """Write a language's file from its parts, each pair once; counts of the kinds and of what was dropped."""
    kinds, dropped, seen = Counter[str](), Counter[str](), set[int]()
    partial = out / f".{language}.jsonl"
    with partial.open("w", encoding="utf-8") as sink:
        for part in sorted((out / _PARTS / language).glob("*.jsonl")):
            with part.open(encoding="utf-8") as lines:
                dropped.update(json.loads(next(lines)))
                for line in lines:
                    pair = json.loads(line)
                    digest = xxh3_64_intdigest(f"{pair['left']}\0{pair['right']}".encode("utf-8", "replace"))
                    if digest in seen:
                        dropped["the same again"] += 1
                        continue
                    seen.add(digest)
                    kinds[pair["kind"]] += 1
                    sink.write(line)
    partial.rename(out / f"{FILES.get(language, language)}.jsonl")
    return kinds, dropped


def _in_turn(wanted: list[tuple[str, Path]]) -> list[tuple[str, Path]]:
    """A package of each language, then the next of each: a run that is cut short has some of all."""
    turn = Counter[str]()
    numbered = []
    for home, package in wanted:
        numbered.append((turn[home], home, package))
        turn[home] += 1
    return [(home, package) for _, home, package in sorted(numbered)]


def _twins(folders: list[Path], kept: Path | None) -> Twins:
    if kept is not None and kept.exists():
        return Twins.load(kept)
    twins = Twins(files_of(folders))
    if kept is not None:
        twins.save(kept)
    return twins


def _questions(folder: Path | None) -> frozenset[str]:
    if folder is None:
        return frozenset()
    pools = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return frozenset(item["question"].lower() for pool in pools if isinstance(pool, list) for item in pool)


def main(arguments: list[str] | None = None) -> None:
    """Mine what is new, and write the languages' files."""
    parser = argparse.ArgumentParser(prog="python -m indexer.train.pairs", description="Mine training pairs.")
    parser.add_argument("sources", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--twins", type=Path, nargs="*", default=[], help="folders of excluded projects")
    parser.add_argument("--kept", type=Path, help="file (.npz) that keeps the folders' shingles between runs")
    parser.add_argument("--questions", type=Path, help="folder of test pools, whose questions are left out")
    parser.add_argument("--language", action="append", default=[], help="only these")
    parser.add_argument("--again", action="store_true", help="read packages anew that were read before")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--enough", type=int, default=ENOUGH, help="pairs of a project: no more files are read"
    )
    parser.add_argument("--nice", type=int, default=10)
    options = parser.parse_args(arguments)
    wanted = [one for one in packages(options.sources) if not options.language or one[0] in options.language]
    wanted = _in_turn(wanted)
    parts = [options.out / _PARTS / home / f"{package.name}.jsonl" for home, package in wanted]
    new = [
        (*one, part) for one, part in zip(wanted, parts, strict=True) if options.again or not part.exists()
    ]
    _Against.questions = _questions(options.questions)
    if new:
        _Against.twins = _twins(options.twins, options.kept)
        sys.stdout.write(f"{len(_Against.twins.names)} files to hold against, {len(new)} packages to read\n")
        sys.stdout.flush()  # or every worker would say it too
    forked = multiprocessing.get_context("fork")  # the workers share the shingles
    with ProcessPoolExecutor(
        options.workers, mp_context=forked, initializer=os.nice, initargs=(options.nice,)
    ) as pool:
        for done in [pool.submit(_part, package, home, part, options.enough) for home, package, part in new]:
            sys.stdout.write(done.result() + "\n")
            sys.stdout.flush()
    for home in sorted({home for home, _ in wanted}):
        kinds, dropped = join(options.out, home)
        sys.stdout.write(f"{home}: {dict(kinds)}; dropped {dict(dropped.most_common())}\n")


if __name__ == "__main__":
    main()
