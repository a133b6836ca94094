"""Source code as Debian ships it: packages fetched by name into a folder of ours, with nothing of the machine changed.

apt works on lists of its own below that folder, so that source packages can be had where the machine's settings name
binary ones alone, and so that nobody's lists are older than what is asked for. Nothing is installed.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

_SETTINGS = Path("/etc/apt")


class Debian:
    """Fetches packages into ``folder``; the machine's own package sources are read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ready = False

    def newest(self, package: str) -> str:
        """The package that a meta-package stands for: the first it depends on that begins with its name."""
        stem, _, kind = package.partition("-")
        lines = self._run("apt-cache", "depends", package).splitlines()
        found = re.findall(rf"Depends: ({re.escape(stem)}-\S*{re.escape(kind)}\S*)", "\n".join(lines))
        if not found:
            raise FileNotFoundError(f"{package} depends on no package of its kind")
        return str(found[0])

    def package(self, name: str) -> Path:
        """Fetch a binary package; return its file."""
        return self._fetched(f"{name}_*.deb", "apt-get", "download", name)

    def source(self, name: str) -> Path:
        """Fetch a source package; return its upstream tarball."""
        return self._fetched(f"{name}_*.orig.tar.*", "apt-get", "source", "--download-only", name)

    def _fetched(self, pattern: str, *command: str) -> Path:
        if not list(self._folder.glob(pattern)):
            self._run(*command)
        return max(self._folder.glob(pattern))

    def _run(self, command: str, *words: str) -> str:
        lists, parts = self._folder / "lists", self._folder / "sources"
        options = [
            f"Dir::State::lists={lists}",
            "Dir::Etc::sourcelist=/dev/null",
            f"Dir::Etc::sourceparts={parts}",
        ]
        named = [word for option in options for word in ("-o", option)]
        if not self._ready:
            self._ready = True
            (lists / "partial").mkdir(parents=True, exist_ok=True)
            self._take_sources(parts)
            self._run("apt-get", "-q", "update")
        done = subprocess.run(
            [command, *named, *words], cwd=self._folder, check=True, capture_output=True, text=True
        )
        return done.stdout

    def _take_sources(self, parts: Path) -> None:
        """The machine's own package sources, with source packages among them."""
        parts.mkdir(exist_ok=True)
        for path in sorted(_SETTINGS.glob("sources.list.d/*.sources")):
            text = re.sub(r"^Types:.*$", "Types: deb deb-src", path.read_text(), flags=re.MULTILINE)
            (parts / path.name).write_text(text)
        for path in (_SETTINGS / "sources.list", *sorted(_SETTINGS.glob("sources.list.d/*.list"))):
            if path.exists():
                text = re.sub(r"^(deb)( .*)$", r"\1\2\n\1-src\2", path.read_text(), flags=re.MULTILINE)
                (parts / f"{path.stem}.list").write_text(text)
