"""Other tools that answer the same need, run on the same trees in the same run; in an environment of their own.

- semble, with a model of the same shape whose weights are random (`peer_model`): what it costs, and nothing else.
- SQLite's FTS5 (`full_text`): words alone, ranked.
- universal-ctags, where the machine has it: names alone.
- ripgrep, of Debian's package: no index at all.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.benchmarks import corpora, measure
from tests.trees import REPO

_WANTED = "semble==0.7.0"
_RUNS = 3


class Peers:
    """The peers, installed below ``folder`` once; ``texts`` is source code to make the model's vocabulary of."""

    def __init__(self, folder: Path, texts: Path) -> None:
        self._folder = folder
        self._bin = folder / "environment" / "bin"
        self._model = folder / "model"
        self._grep = folder / "ripgrep" / "usr" / "bin" / "rg"
        if not (self._bin / "semble").exists():
            venv.create(folder / "environment", with_pip=True, clear=True)
            subprocess.run([self._bin / "python", "-m", "pip", "install", "-q", _WANTED], check=True)
        if not self._grep.exists():
            package = corpora.debian().package("ripgrep")
            subprocess.run(["dpkg-deb", "--extract", package, folder / "ripgrep"], check=True)
        if not self._model.is_dir():
            maker = Path(__file__).with_name("peer_model.py")
            subprocess.run([self._bin / "python", maker, texts, self._model], check=True)

    @property
    def _environment(self) -> dict[str, str]:
        mine = {
            "SEMBLE_MODEL_NAME": str(self._model),
            "SEMBLE_CACHE_LOCATION": str(self._cache),
            "HF_HUB_OFFLINE": "1",
        }
        return {**os.environ, **mine}

    @property
    def _cache(self) -> Path:
        return self._folder / "cache"

    def _semble(self, root: Path, query: str) -> list[str | Path]:
        return [self._bin / "semble", "search", query, root, "--content", "all"]

    def _database(self, root: Path) -> Path:
        return self._folder / f"{root.name}.db"

    def _build(self, root: Path) -> list[str]:
        self._database(root).unlink(missing_ok=True)
        return [
            sys.executable,
            "-m",
            "tests.benchmarks.full_text",
            "build",
            str(root),
            str(self._database(root)),
        ]

    def cold(self, root: Path) -> dict[str, measure.Figures]:
        """Index a tree from nothing: medians, and the peak memory of one run more."""

        def forget() -> None:
            shutil.rmtree(self._cache, ignore_errors=True)

        semble = self._semble(root, "anything")
        found = measure.median(_RUNS, semble, root, forget, environment=self._environment)
        forget()
        held = measure.once(semble, root, memory=True, environment=self._environment).memory
        took = {"semble": found._replace(memory=held)}
        took["FTS5"] = measure.once(self._build(root), REPO, memory=True)
        if ctags := shutil.which("ctags"):
            command = [
                ctags,
                "--options=NONE",
                "--recurse",
                "--exclude=.indexer",
                "-f",
                os.devnull,
                str(root),
            ]
            took["ctags"] = measure.once(command, root, memory=True)
        return took

    def size(self, root: Path) -> dict[str, int]:
        """Bytes of their indexes of a tree."""
        measure.once(self._build(root), REPO)
        shutil.rmtree(self._cache, ignore_errors=True)
        measure.once(self._semble(root, "anything"), root, environment=self._environment)
        held = sum(path.stat().st_size for path in self._cache.rglob("*") if path.is_file())
        return {"semble": held, "FTS5": self._database(root).stat().st_size}

    def ask(self, root: Path, query: str) -> dict[str, float]:
        """Seconds of one question as a whole process, with a warm index; ripgrep has none and reads everything."""
        ask = measure.median(_RUNS, self._semble(root, query), root, environment=self._environment)
        grep = [str(self._grep), "--count", query.rpartition(".")[2], str(root)]
        return {"semble": ask.wall, "ripgrep": measure.median(_RUNS, grep, root).wall}

    def questions(self, root: Path, questions: list[str]) -> list[float]:
        """Seconds of each question to FTS5, in one process whose pages are warm."""
        if not self._database(root).exists():
            measure.once(self._build(root), REPO)
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.full_text", "ask", self._database(root), *questions],
            cwd=REPO, check=True, capture_output=True, text=True,
        )  # fmt: skip
        return [float(seconds) for seconds in json.loads(done.stdout)]
