"""How many of the definitions that universal-ctags lists are chunks with that name, with that line as their own.

Usage: ``python -m tests.benchmarks.ctags_coverage LANGUAGE PATH... [--missing [N]]``. Prints one row: language, files, definitions
that ctags lists (functions and class-like ones), how many of them are chunks, per cent. Files below PATH that
are not of the language are left out. For the languages that ctags does not know, `regex_definitions` lists the heads
of definitions instead.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk import chunk
from indexer.chunk.languages import language_of
from indexer.settings import ChunkSettings
from tests.benchmarks import regex_definitions
from tests.benchmarks.ctags_mistakes import Listed, believed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Our name -> ctags' name, and the letters of its kinds that are functions, methods or class-like.
CTAGS = {
    "python": ("Python", "cfm"),
    "javascript": ("JavaScript", "cfgmGS"),
    "typescript": ("TypeScript", "cfgGmin"),
    "tsx": ("TypeScript", "cfgGmin"),
    "go": ("Go", "fist"),
    "rust": ("Rust", "fPgiscnM"),
    "java": ("Java", "cgima"),
    "c": ("C", "fgsu"),
    "cpp": ("C++", "cfgsun"),
    "csharp": ("C#", "cgimnps"),
    "ruby": ("Ruby", "cfmS"),
    "php": ("PHP", "cfit"),
    "kotlin": ("Kotlin", "cimo"),
    "lua": ("Lua", "f"),
    "bash": ("Sh", "f"),
    "elixir": ("Elixir", "aefgimopt"),
    "haskell": ("Haskell", "ft"),
    "sql": ("SQL", "fptVTPieD"),
    "perl": ("Perl", "ps"),
    "r": ("R", "f"),
    "julia": ("Julia", "fmnst"),
    "ocaml": ("OCaml", "Mcfmt"),
}
_TAG_LINES = ("--pseudo-tags=-*", "--output-format=json", "--fields=+nK", "--sort=no", "-f", "-", "-L", "-")


class Tag(NamedTuple):
    """One definition: its name without white space, and its 1-based line."""

    name: str
    line: int


class Row(NamedTuple):
    """The figures of one language, and what was missed as ``path:line kind name``."""

    files: int
    listed: int
    found: int
    missing: list[str]


def files_of(language: str, paths: Iterable[Path]) -> Iterator[Path]:
    """Files of a language at or below the paths, in order."""
    for path in paths:
        below = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in below:
            if file.is_file() and not file.is_symlink():
                with file.open("rb") as stream:
                    head = stream.read(8192)
                if language_of(file.name, head) == language and b"\0" not in head:
                    yield file


def listed_by_ctags(language: str, files: Sequence[Path]) -> Iterator[tuple[Path, str, Tag]]:
    """What ctags lists: file, kind, definition."""
    name, kinds = CTAGS[language]
    run = subprocess.run(
        ["ctags", "--options=NONE", f"--language-force={name}", f"--kinds-{name}={kinds}", *_TAG_LINES],
        input="\n".join(map(str, files)),
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    )
    tags = map(json.loads, run.stdout.splitlines())
    listed = (
        Listed(Path(tag["path"]), tag["kind"], _bare(tag["name"]), tag["line"], tag["pattern"])
        for tag in tags
    )
    for tag in believed(language, listed):
        yield tag.path, tag.kind, Tag(tag.name, tag.line)


def listed_by_regex(language: str, files: Sequence[Path]) -> Iterator[tuple[Path, str, Tag]]:
    """As `listed_by_ctags`, for what ctags does not know."""
    for file in files:
        for name, line in regex_definitions.definitions(language, file.read_bytes()):
            yield file, "definition", Tag(_bare(name), line)


def chunked(language: str, file: Path) -> set[Tag]:
    """What we make chunks of."""
    cut = chunk(language, file.read_bytes(), ChunkSettings())
    return {Tag(_bare(piece.symbol), piece.line) for piece in cut.chunks if piece.symbol}


def _bare(name: str) -> str:
    return "".join(name.split())


def compare(language: str, paths: Iterable[Path]) -> Row:
    """Hold ctags' list against our chunks, each distinct (file, name, line) once."""
    files = list(files_of(language, paths))
    kinds: dict[tuple[Path, Tag], str] = {}
    listed = listed_by_regex if language in regex_definitions.LANGUAGES else listed_by_ctags
    for file, kind, tag in listed(language, files) if files else ():
        kinds.setdefault((file, tag), kind)
    ours = {file: chunked(language, file) for file in files}
    missing = [
        f"{file}:{tag.line} {kind} {tag.name}" for (file, tag), kind in kinds.items() if tag not in ours[file]
    ]
    return Row(len(files), len(kinds), len(kinds) - len(missing), missing)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Definitions of universal-ctags that are chunks.")
    parser.add_argument("language")
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument(
        "--missing", nargs="?", type=int, const=1_000_000, default=0, help="list what is missed"
    )
    options = parser.parse_args(arguments)
    if options.language not in CTAGS and options.language not in regex_definitions.LANGUAGES:
        sys.stdout.write(f"{options.language}: ctags does not know it\n")
        return 1
    row = compare(options.language, options.paths)
    for line in row.missing[: options.missing]:
        sys.stdout.write(f"{line}\n")
    share = 100 * row.found / row.listed if row.listed else 0.0
    counts = f"{row.files} files | {row.listed} listed | {row.found} found | {share:.1f} %"
    sys.stdout.write(f"| {options.language} | {counts} |\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
