"""Real code to measure on, by name and version, from the package index; kept between runs."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import platformdirs

SDISTS = {"django": "5.2.19", "sympy": "1.14.0", "flask": "3.1.3"}


def cache() -> Path:
    """Return the folder where corpora and earlier figures are kept; ``INDEXER_CORPORA`` moves it."""
    named = os.environ.get("INDEXER_CORPORA")
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("indexer-corpora", appauthor=False))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def folder(name: str) -> Path:
    """Return a corpus by name: a source distribution, or ``go`` for Go's standard library.

    Go's comes from Debian's package golang-1.19-src, which has to be installed, or from ``INDEXER_CORPORA/go``.
    """
    if name != "go":
        return sdist(name)
    for place in (cache() / "go", Path("/usr/share/go-1.19/src")):
        if place.is_dir():
            return place
    raise FileNotFoundError("Go's standard library: install Debian's golang-1.19-src")


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
