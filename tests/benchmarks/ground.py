"""Where it is measured: corpora laid as git repositories, indexed once for all figures that ask, and their daemons."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from indexer.reindex import identity_of
from indexer.store import open_snapshot
from indexer.workspace import open_root
from tests.benchmarks import corpora, measure
from tests.serve.homes import INDEXER, Home
from tests.trees import git, under_git

if TYPE_CHECKING:
    from indexer.serve.client import Client
    from tests.benchmarks.peers import Peers

SYNC = {"timeout_ms": 600_000}
PATIENCE = 600.0  # seconds that a daemon may take for anything

# Files of the kernel (drawn by the hash of their path, so that every sample is of one kind) that come to about so many
# chunks; the numbers of the others are numbers of files.
SAMPLES = {
    "linux-35k-chunks": 2_300,
    "linux-100k-chunks": 6_600,
    "linux-10k": 10_000,
    "linux-52k": 52_000,
    "linux": 80_000,  # all of them
}
WHOLE = "linux"


@dataclass(frozen=True, slots=True)
class Build:
    """One corpus indexed from nothing. Bytes of the files that were indexed, and of the index; seconds; peak in MB."""

    name: str
    files: int
    chunks: int
    text: int
    index: int
    wall: float
    cpu: float
    memory: float

    @property
    def size(self) -> str:
        """In words."""
        return f"{self.files:,} files, {self.chunks:,} chunks, {self.text / 1e6:.0f} MB"


class Ground:
    """One run's trees, indexes and daemons, below one folder. ``quick``: fewer runs, on a tenth of the kernel."""

    def __init__(self, folder: Path, home: Home, *, quick: bool = False, peers: Peers | None = None) -> None:
        self.folder = folder
        self.home = home
        self.quick = quick
        self.peers = peers
        self.builds: dict[str, Build] = {}

    def runs(self, count: int) -> int:
        """How often to do what is done ``count`` times in a whole run."""
        return max(2, count // 10) if self.quick else count

    def root(self, name: str) -> Path:
        """A corpus as a git repository."""
        root = self.folder / name
        if not root.is_dir():
            between = self.folder / f"{name}.part"
            shutil.rmtree(between, ignore_errors=True)
            self._lay(name, between)
            between.rename(root)
        return root

    def _lay(self, name: str, root: Path) -> None:
        if name in SAMPLES and (self.quick or name != WHOLE):
            source = corpora.folder(WHOLE)
            under_git(source, root, _sample(source, SAMPLES[name] // (10 if self.quick else 1)))
        else:
            under_git(corpora.folder(name), root)

    def built(self, name: str) -> Build:
        """A corpus that is indexed, and what that took when it was done from nothing.

        In a folder that is kept (``--work``) an index is brought up to date, and what it once took is told again.
        """
        if name not in self.builds:
            root, kept = self.root(name), self.folder / f"{name}.json"
            if kept.exists():
                self.indexer("reindex", "--quiet", cwd=root)
                build = Build(**json.loads(kept.read_text()))
            else:
                build = self._build(name, root)
                kept.write_text(json.dumps(asdict(build)))
            self.builds[name] = build
        return self.builds[name]

    def _build(self, name: str, root: Path) -> Build:
        shutil.rmtree(root / ".indexer", ignore_errors=True)
        took = self.indexer("reindex", "--quiet", cwd=root, memory=True)
        space = open_root(root)
        snapshot = open_snapshot(space.index_dir, identity_of(space))
        records = [record for path in snapshot.paths if (record := snapshot.record(path)) is not None]
        indexed = [record for record in records if not record.reason]
        return Build(
            name,
            len(indexed),
            len(snapshot.rows.content),
            sum(record.stat.size for record in indexed),
            sum(path.stat().st_size for path in space.index_dir.rglob("*") if path.is_file()),
            took.wall,
            took.cpu,
            took.memory,
        )

    # --- commands and daemons

    def indexer(self, *words: str, cwd: Path, memory: bool = False) -> measure.Figures:
        """Run one command of ours, with the built-in settings."""
        return measure.once([*INDEXER, *words], cwd, memory=memory)

    @contextmanager
    def daemon(self, name: str) -> Iterator[Client]:
        """A client of a daemon of its own on an indexed corpus, which is current."""
        root = self.root(name)
        self.built(name)
        self.home.start(root)
        client = self.home.client(root)
        try:
            client.request("index/sync", SYNC, timeout=PATIENCE)
            yield client
        finally:
            client.close()
            self.home.stop_all()


def _sample(source: Path, count: int) -> list[str]:
    """Names of so many files of a tree, the same for every machine; a larger sample holds the smaller one."""
    everything = (path for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    names = [path.relative_to(source).as_posix() for path in everything]
    return sorted(names, key=lambda name: xxhash.xxh3_64_intdigest(name.encode()))[:count]


def changed_files(root: Path, count: int, suffix: str) -> list[Path]:
    """So many files of a kind that git knows, spread over the tree."""
    names = [name for name in git(root, "ls-files", "-z").split("\0") if name.endswith(suffix)]
    step = max(1, len(names) // count)
    return [root / name for name in names[::step][:count]]
