"""Everything that may be wrong with an index directory, the current generation and all that lies beside it.

`opening.verify` is about what answers; this is about what a writer may need one day, what takes room, and what others
may read. It holds only while nobody writes: take the root's lock first.
"""

from __future__ import annotations

import os
import stat as modes
from typing import TYPE_CHECKING

from indexer.errors import StoreError
from indexer.store.disk import DISK, VanishedError
from indexer.store.format import IGNORE, MANIFEST, NEXT, PREVIOUS, SET_ASIDE, Counts, is_ours
from indexer.store.manifest import Manifest, decode
from indexer.store.publish import ignores_itself
from indexer.store.segment import open_segment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from indexer.store.disk import Disk

_OF_OTHERS = 0o077


def inspect(index_dir: Path, disk: Disk = DISK) -> list[str]:
    """Return one line for each thing that is wrong; it begins with the path that it is about."""
    try:
        names = disk.names(index_dir)
    except VanishedError:
        return []
    except StoreError as error:
        return [str(error)]
    if not any(_is_the_stores(name) for name in names):
        return []
    return [*_Inspection(disk, index_dir, names).lines(), *_modes(index_dir)]


def _is_the_stores(name: str) -> bool:
    return is_ours(name) or name in {MANIFEST, PREVIOUS, NEXT} or name.startswith(SET_ASIDE)


def make_private(index_dir: Path) -> None:
    """Give everything in an index the mode that it was made with, as far as it is ours; no link is followed."""
    for path, stat in _everything(index_dir):
        if stat.st_uid == os.geteuid() and not modes.S_ISLNK(stat.st_mode):
            wanted = 0o700 if modes.S_ISDIR(stat.st_mode) else 0o600
            if modes.S_IMODE(stat.st_mode) != wanted:
                path.chmod(wanted)


def _modes(index_dir: Path) -> list[str]:
    return [
        f"{path}: may be read by others: its mode is {modes.S_IMODE(stat.st_mode):04o}"
        for path, stat in _everything(index_dir)
        if not modes.S_ISLNK(stat.st_mode) and stat.st_mode & _OF_OTHERS
    ]


def _everything(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """A path and all below it that can be seen; a folder is given before it is looked into."""
    stat = path.lstat()
    yield path, stat
    if modes.S_ISDIR(stat.st_mode):
        try:
            names = sorted(os.listdir(path))
        except PermissionError:  # told where it is read
            return
        for name in names:
            yield from _everything(path / name)


class _Inspection:
    """One look at a directory's manifests, the segments that they name, and what nothing names."""

    def __init__(self, disk: Disk, index_dir: Path, names: list[str]) -> None:
        self._disk = disk
        self._directory = index_dir
        self._names = names
        self._segments: dict[tuple[str, str, Counts], str] = {}  # what was found wrong, or nothing

    def lines(self) -> list[str]:
        manifests, lines = self._manifests()
        for manifest in manifests.values():
            lines += [line for line in self._damage(manifest) if line not in lines]
        named = frozenset[str]().union(*(manifest.names for manifest in manifests.values()))
        lines += [line for name in self._names if (line := self._beside(name, named))]
        if not ignores_itself(self._disk, self._directory):
            lines.append(f"{self._directory / IGNORE}: does not keep git away from the index")
        return lines

    def _manifests(self) -> tuple[dict[str, Manifest], list[str]]:
        """Those that can be read, and what is wrong with the others or between them."""
        found: dict[str, Manifest] = {}
        lines = []
        for name in (MANIFEST, PREVIOUS, NEXT):
            path = self._directory / name
            try:
                found[name] = decode(self._disk.read(path), str(path))
            except VanishedError:
                continue
            except StoreError as error:
                lines.append(str(error))
        if MANIFEST not in self._names and any(is_ours(name) or name == PREVIOUS for name in self._names):
            lines.append(f"{self._directory / MANIFEST}: missing")
        now, before = found.get(MANIFEST), found.get(PREVIOUS)
        if now is not None and before is not None and before.generation >= now.generation:
            lines.append(
                f"{self._directory / MANIFEST}: generation {now.generation}, though generation {before.generation} "
                "came before it: one of the two is older than the index"
            )
        return found, lines

    def _damage(self, manifest: Manifest) -> Iterator[str]:
        """What is wrong with the segments that a manifest names; of several manifests, each is read once."""
        base = Counts()
        for entry in manifest.segments:
            key = (entry.name, entry.checksum, base)
            if key not in self._segments:
                self._segments[key] = ""
                try:
                    open_segment(self._disk, self._directory, entry, base, manifest.identity.dim, verify=True)
                except StoreError as error:
                    self._segments[key] = str(error)
            if self._segments[key]:
                yield self._segments[key]
            base = base.plus(entry.counts)

    def _beside(self, name: str, named: frozenset[str]) -> str:
        if name.startswith(SET_ASIDE):
            return f"{self._directory / name}: set aside as damaged"
        if is_ours(name) and name not in named:
            return f"{self._directory / name}: left over, no manifest names it"
        return ""
