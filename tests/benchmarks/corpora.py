"""Real code to measure on, by name and version, from the package registries; kept between runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from functools import cache as once
from pathlib import Path

import platformdirs

from tests.benchmarks.debian import Debian

SDISTS = {"django": "5.2.19", "sympy": "1.14.0", "flask": "3.1.3"}
# What comes in the version that Debian has: where that is told, with the parts of the version as groups.
_TOLD = {
    "linux": ("Makefile", r"VERSION = (\d+)\nPATCHLEVEL = (\d+)\nSUBLEVEL = (\d+)"),
    "typescript": ("compiler/corePublic.ts", r'versionMajorMinor = "([\d.]+)"'),
    "go": ("internal/goversion/goversion.go", r"const Version = (\d+)"),
}


def cache() -> Path:
    """Return the folder where corpora are kept; ``INDEXER_CORPORA`` moves it."""
    named = os.environ.get("INDEXER_CORPORA")
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("indexer-corpora", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def folder(name: str) -> Path:
    """Return a corpus by name, fetched when it is not there yet: a source distribution, or one of `_DEBIAN`'s.

    What lies in ``INDEXER_CORPORA/NAME`` is taken as it is, so that a machine without apt can bring its own.
    """
    there = cache() / name
    if there.is_dir():
        return there
    return _DEBIAN[name]() if name in _DEBIAN else sdist(name)


def version(name: str) -> str:
    """Return the version of a corpus."""
    if name in SDISTS:
        return SDISTS[name]
    file, pattern = _TOLD[name]
    found = re.search(pattern, (folder(name) / file).read_text())
    return ".".join(found.groups()) if found else "unknown"


def sdist(name: str) -> Path:
    """Return the unpacked source distribution of a project, fetched when it is not there yet."""
    version = SDISTS[name]
    folder = cache() / f"{name}-{version}"
    if not folder.is_dir():
        wanted = [f"{name}=={version}", "--no-deps", "--no-binary", ":all:", "-q", "-d", str(cache())]
        subprocess.run([sys.executable, "-m", "pip", "download", *wanted], check=True)
        with tarfile.open(cache() / f"{name}-{version}.tar.gz") as archive:
            archive.extractall(cache(), filter="data")
    return folder


# --- what Debian ships


@once
def debian() -> Debian:
    """Debian's packages, kept beside the corpora."""
    folder = cache() / "debian"
    folder.mkdir(exist_ok=True)
    return Debian(folder)


def go() -> Path:
    """Go's standard library and tools: the installed package golang-1.xx-src, or else the newest that Debian has."""
    for installed in sorted(Path("/usr/share").glob("go-*/src")):
        return installed

    def lay(between: Path) -> Path:
        _unpack_package(debian().package(debian().newest("golang-src")), between)
        return next(between.glob("usr/share/go-*/src"))

    return _laid("go", lay)


def typescript() -> Path:
    """TypeScript's compiler and language service, from the source package node-typescript; its tests are left out."""

    def lay(between: Path) -> Path:
        _unpack(debian().source("node-typescript"), between)
        return between / "src"

    return _laid("typescript", lay)


def linux() -> Path:
    """The whole Linux kernel, as the package linux-source-x.y ships it.

    Debian adds a few lines to its ``.gitignore`` that ignore everything; they are taken out again.
    """

    def lay(between: Path) -> Path:
        _unpack_package(debian().package(debian().newest("linux-source")), between)
        whole = between / "linux"
        whole.mkdir()
        _unpack(next(between.glob("usr/src/*.tar.xz")), whole)
        ignore = whole / ".gitignore"
        ignore.write_text(ignore.read_text().partition("#\n# Debian packaging")[0])
        return whole

    return _laid("linux", lay)


_DEBIAN: dict[str, Callable[[], Path]] = {"go": go, "typescript": typescript, "linux": linux}


def _laid(name: str, lay: Callable[[Path], Path]) -> Path:
    """Return the corpus of that name; ``lay`` fills an empty folder and says what in it is the corpus.

    It gets its name last, so that one which was laid by half is begun anew.
    """
    folder = cache() / name
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=cache()) as between:
            lay(Path(between)).rename(folder)
    return folder


def _unpack(archive: Path, into: Path) -> None:
    """Unpack a tarball without its outermost folder."""
    how = ["--strip-components=1", "--no-same-owner"]
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", into, *how], check=True)


def _unpack_package(package: Path, into: Path) -> None:
    subprocess.run(["dpkg-deb", "--extract", package, into], check=True)
