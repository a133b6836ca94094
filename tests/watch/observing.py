"""Watching as the daemon does, gathering what was dirty, and the truth to hold it against."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexer.scan.ignore import Rules
from indexer.scan.walk import walk
from indexer.settings import ScanSettings, WatchSettings
from indexer.types import FileStat
from indexer.watch import Batch, Watch
from indexer.watch.native import Native

PATIENCE = 60.0  # seconds; what takes longer never comes


@dataclass
class Seen:
    """The union of some batches."""

    paths: set[str] = field(default_factory=set)
    trees: set[str] = field(default_factory=set)
    rescans: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    rules_changed: int = 0
    batches: int = 0

    def add(self, batch: Batch) -> None:
        self.paths |= batch.paths
        self.trees |= batch.trees
        self.rescans += [batch.rescan] if batch.rescan else []
        self.gone += [batch.root_gone] if batch.root_gone else []
        self.rules_changed += batch.rules_changed
        self.batches += 1

    def covers(self, path: str) -> bool:
        if self.rules_changed or "" in self.trees or path in self.paths:
            return True
        parts = path.split("/")
        return any("/".join(parts[:count]) in self.trees for count in range(1, len(parts) + 1))


class Eye:
    """A watch with whoever takes its batches."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        self._folder = tempfile.TemporaryDirectory(prefix="cookies-")
        self.cookies = Path(self._folder.name) / "c"
        self.watch = Watch(root, self.rules(), self.cookies, WatchSettings(**settings))
        self.seen = Seen()

    def rules(self) -> Rules:
        return Rules.load(self.root, ScanSettings())

    def close(self) -> None:
        self.watch.close()
        self._folder.cleanup()

    @property
    def native(self) -> Native:
        assert isinstance(self.watch._source, Native)
        return self.watch._source

    def take(self, batch: Batch) -> None:
        """Deal with a batch as the daemon does, short of scanning."""
        self.seen.add(batch)
        if batch.rules_changed and not batch.root_gone:
            self.watch.set_rules(self.rules())

    def sync(self) -> Seen:
        """Ask, gather until the answer is in, and return the union of what came since the last time."""
        number = self.watch.cookie()
        while True:
            batch = self.watch.next_batch(PATIENCE)
            assert batch is not None, "the cookie never came"
            self.take(batch)
            if number in batch.cookies:
                seen, self.seen = self.seen, Seen()
                return seen

    def wait(self) -> Batch:
        """Take the next batch without asking for it."""
        batch = self.watch.next_batch(PATIENCE)
        assert batch is not None
        self.take(batch)
        return batch

    # --- the truth

    def scan(self) -> dict[str, tuple[object, ...]]:
        """All files that are in the tree now, skipped ones too, with what would tell a change."""
        rules = self.rules()
        found = walk(self.root, rules, ScanSettings())
        paths = [stat.path for stat in found.files] + [skipped.path for skipped in found.skipped]
        return {path: _stat(self.root / path) for path in paths}

    def uncovered(self, before: dict[str, tuple[object, ...]], seen: Seen) -> list[str]:
        """What differs between then and now and was not called dirty."""
        after = self.scan()
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        return sorted(path for path in changed if not seen.covers(path))

    def should_watch(self) -> dict[tuple[int, int], str]:
        """The inodes of all directories that the rules let in, as a fresh look at the disk has it."""
        rules = self.rules()
        wanted, pending = {}, [""]
        while pending:
            path = pending.pop()
            wanted[_inode(self.root / path)] = path
            with os.scandir(self.root / path) as entries:
                inner = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
            pending += [
                name for name in (f"{path}/{n}" if path else n for n in inner) if rules.directory(name)
            ]
        return wanted

    def wrong_watches(self) -> list[str]:
        """What is watched and should not be, or the other way round, by the book and by the kernel's own list."""
        wanted = self.should_watch()
        book = self.native._tree.book
        by_book = {_inode(self.root / os.fsdecode(node.path())) for node in book.by_wd.values()}
        listed = kernel_watches(self.native._reader._inotify_fd)
        others = self.native._inputs.names.keys() - book.by_wd.keys()
        found = [f"not watched: {wanted[inode]}" for inode in wanted.keys() - by_book]
        found += [f"watched: inode {inode}" for inode in by_book - wanted.keys()]
        found += [
            f"unknown to the kernel: {book.by_wd[wd].path()!r}" for wd in book.by_wd.keys() - listed.keys()
        ]
        stale = len(listed) - len(book.by_wd.keys() & listed.keys()) - len(others & listed.keys()) - 1
        found += [f"{stale} stale watches in the kernel"] if stale else []
        return sorted(found)


def kernel_watches(descriptor: int) -> dict[int, str]:
    """The kernel's own list of an inotify descriptor's watches."""
    lines = Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines()
    fields = [line.split() for line in lines if line.startswith("inotify ")]
    return {int(words[1].removeprefix("wd:"), 16): words[2] for words in fields}


def _stat(path: Path) -> tuple[object, ...]:
    stat = path.lstat()
    return (*FileStat("", stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino), stat.st_mode)


def _inode(path: Path) -> tuple[int, int]:
    try:
        stat = path.lstat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_dev, stat.st_ino
