"""The packages a model is trained on: the list, and `python -m indexer.train.sources DEST` that fetches them.

`sources.toml` beside this file has a row a package: what it is called, which registry's kind it is of, its
version, its licence as the package itself says, and the SHA-256 of the archive. Each was chosen for being
well documented; all are under permissive licences. None is a project that a test is made of.

Each is unpacked to DEST/<language>/<name>-<version>/ (a `/` in a name becomes `+`), source text only. What is
there already is not fetched again, so a run that was cut short goes on where it stopped.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.train.sources_fetch import KINDS, FetchError, fetch, prepare_apt, sha256_of
from indexer.train.sources_unpack import UnpackError, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LIST = Path(__file__).with_name("sources.toml")
_ALLOWED = (
    "0BSD Apache-2.0 Apache-2.0-with-LLVM-exceptions Artistic-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 CC0-1.0"
    " CC-BY-4.0 curl FTL HPND ISC MIT MIT-0 MulanPSL-2.0 PHP-3.01 PostgreSQL PSF-2.0 libpng-2.0 OpenSSL blessing"
    " Ruby TCL Unicode-3.0 Unlicense W3C WTFPL Zlib ZPL-2.1"
)
LICENCES = frozenset(_ALLOWED.split())
TAKES = ("code", "catalogue", "both")


class SourceListError(ValueError):
    """The list says something it may not: the message names the package and the key."""


@dataclass(frozen=True, slots=True)
class Source:
    """One package of the list; `only` has patterns of paths inside its archive, none meaning all of it."""

    language: str
    name: str
    kind: str
    version: str
    licence: str
    sha256: str
    take: str = "code"
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise SourceListError for a row that is not well formed."""
        # "MIT AND BSD-3-Clause": all must be allowed; "MIT OR GPL-2.0-only": one is enough, we choose it.
        terms = [term.strip("()").split(" OR ") for term in self.licence.split(" AND ")]
        checks = {
            "language": re.fullmatch(r"[a-z]+", self.language) is not None,
            "name": re.fullmatch(r"(@[\w.-]+/)?[\w.+-]+", self.name) is not None,
            "kind": self.kind in KINDS,
            "version": re.fullmatch(r"[\w.+~:!-]+", self.version) is not None,
            "licence": all(LICENCES.intersection(term) for term in terms),
            "sha256": re.fullmatch(r"[0-9a-f]{64}", self.sha256) is not None,
            "take": self.take in TAKES,
        }
        for key, holds in checks.items():
            if not holds:
                raise SourceListError(f"{self.language}.{self.name}: {key} may not be {getattr(self, key)!r}")

    @property
    def folder(self) -> str:
        """Where it lies below the destination, `<language>/<name>-<version>`."""
        return f"{self.language}/{self.name.replace('/', '+')}-{self.version.replace(':', '+')}"


def read_list(path: Path = LIST) -> list[Source]:
    """Every package, in the list's order. Raises SourceListError."""
    found: list[Source] = []
    for language, rows in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if not isinstance(rows, list):
            raise SourceListError(f"{language}: expected a list of packages")
        found += [_source(language, row) for row in rows]
    seen: set[tuple[str, str, str]] = set()
    for source in found:
        key = (source.language, source.name, source.version)
        if key in seen:
            raise SourceListError(f"{source.language}.{source.name}: stands there twice")
        seen.add(key)
    return found


def _source(language: str, row: Mapping[str, object]) -> Source:
    only = row.get("only", [])
    texts = {key: value for key, value in row.items() if isinstance(value, str)}
    try:
        return Source(language=language, only=tuple(only) if isinstance(only, list) else (), **texts)
    except TypeError as fault:
        raise SourceListError(f"{language}: {row.get('name', 'a package')}: {fault}") from fault


def bring(source: Source, destination: Path, apt_state: Path) -> str:
    """Fetch, compare and unpack one package unless it is there; what there is to tell, in one line.

    Raises FetchError or UnpackError, either in one line.
    """
    target = destination / source.folder
    if target.exists():
        return "there already"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=destination) as folder:
        archive = fetch(source.kind, source.name, source.version, Path(folder), apt_state=apt_state)
        got = sha256_of(archive)
        if got != source.sha256:
            raise FetchError(f"{archive.name} has SHA-256 {got}, not {source.sha256}")
        return f"{unpack(archive, target, only=source.only, take=source.take)} files"


def bring_all(sources: Iterable[Source], destination: Path, *, workers: int = 3) -> list[str]:
    """Bring each; a line for each that failed."""
    wanted = list(sources)
    destination.mkdir(parents=True, exist_ok=True)
    apt_state = destination / ".apt"
    if any(source.kind in {"deb", "dsc"} for source in wanted):
        prepare_apt(apt_state)
    with ThreadPoolExecutor(workers) as pool:
        told = pool.map(lambda source: _told(source, destination, apt_state), wanted)
        return [line for line in told if line]


def _told(source: Source, destination: Path, apt_state: Path) -> str:
    try:
        bring(source, destination, apt_state)
    except (FetchError, UnpackError) as fault:
        return f"{source.folder}: {fault}"
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Bring the list's packages to DEST; 1 when one could not be had."""
    parser = argparse.ArgumentParser(
        prog="python -m indexer.train.sources", description="Fetch training sources."
    )
    parser.add_argument("dest", type=Path, metavar="DEST")
    parser.add_argument("--language", action="append", default=[], help="only this one (may be given again)")
    options = parser.parse_args(arguments)
    sources = [one for one in read_list() if not options.language or one.language in options.language]
    failed = bring_all(sources, options.dest)
    for line in failed:
        sys.stderr.write(f"failed: {line}\n")
    sys.stdout.write(f"{len(sources) - len(failed)} of {len(sources)} packages are in {options.dest}\n")
    shutil.rmtree(options.dest / ".apt" / "cache", ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
