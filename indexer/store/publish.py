"""The order of operations that makes a generation: what invariant 3 hangs on.

A segment's bytes are durable before its name is; both are durable before a manifest names them; the rename of the
manifest is the moment at which the new generation stands; and what a manifest on disk names is never removed. A small
commit costs four fsyncs: segment, manifest, directory (names of both, and of the kept previous manifest), directory
again (the manifest's new name).
"""

from __future__ import annotations

import contextlib

from indexer.errors import StoreError
from indexer.plainly import TYPE_CHECKING
from indexer.store.disk import VanishedError
from indexer.store.format import IGNORE, MANIFEST, PREVIOUS, SET_ASIDE, TEMPORARY, is_ours

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Disk


def prepare(disk: Disk, directory: Path) -> None:
    """Make the index directory, mode 0700, which git ignores by a file of its own."""
    missing = [path for path in (directory, *directory.parents) if not path.exists()]
    for path in reversed(missing):
        disk.make_directory(path)
        disk.sync_directory(path.parent)
    if not ignores_itself(disk, directory):
        if IGNORE in disk.names(directory):
            remove(disk, directory / IGNORE)
        disk.write(directory / IGNORE, [b"*\n"])


def ignores_itself(disk: Disk, directory: Path) -> bool:
    """Tell whether the file that keeps git away is there and does so."""
    try:
        return b"*" in disk.read(directory / IGNORE).split(b"\n")
    except StoreError:
        return False


def publish(disk: Disk, directory: Path, name: str, data: bytes, *, keep: bool) -> None:
    """Make a manifest stand under its name; with ``keep`` the one that stood there becomes the previous one."""
    temporary = directory / (TEMPORARY + name)
    disk.write(temporary, [data])
    disk.sync(temporary)
    if keep:
        keep_previous(disk, directory)
    disk.sync_directory(directory)
    disk.rename(temporary, directory / name)
    disk.sync_directory(directory)


def keep_previous(disk: Disk, directory: Path) -> None:
    """Give the current manifest its second name, so that at no moment there is none."""
    temporary = directory / (TEMPORARY + PREVIOUS)
    try:
        disk.link(directory / MANIFEST, temporary)
    except VanishedError:
        raise
    except StoreError:  # a file system without hard links
        disk.write(temporary, [disk.read(directory / MANIFEST)])
        disk.sync(temporary)
    disk.rename(temporary, directory / PREVIOUS)


def roll_back(disk: Disk, directory: Path, name: str, before: bytes) -> None:
    """Undo a publication that may have failed after its rename; ``before`` stood there (empty: nothing did)."""
    try:
        there = disk.read(directory / name)
    except VanishedError:
        there = b""
    if there == before:
        return
    if not before:
        disk.remove(directory / name)
        return
    temporary = directory / (TEMPORARY + name)
    with contextlib.suppress(VanishedError):
        disk.remove(temporary)
    disk.write(temporary, [before])
    disk.sync(temporary)
    disk.rename(temporary, directory / name)


def sweep(
    disk: Disk,
    directory: Path,
    keep: frozenset[str],
    done: frozenset[str] = frozenset(),
    *,
    set_aside: bool = False,
) -> None:
    """Remove segments and temporary files not in ``keep``, the files in ``done``, with ``set_aside`` damaged ones."""
    for name in disk.names(directory):
        damaged = set_aside and name.startswith(SET_ASIDE)
        if damaged or name in done or (is_ours(name) and name not in keep):
            remove(disk, directory / name)


def put_aside(disk: Disk, directory: Path, name: str) -> None:
    """Take what is damaged out of the way, to be looked at until the next complete generation."""
    with contextlib.suppress(StoreError):  # it is out of use either way
        aside = directory / (SET_ASIDE + name)
        with contextlib.suppress(VanishedError):
            remove(disk, aside)
        disk.rename(directory / name, aside)


def remove(disk: Disk, path: Path) -> None:
    """Remove a file, or a folder with whatever is in it, also one whose mode was changed."""
    if not disk.is_directory(path):
        disk.remove(path)
        return
    disk.open_up(path)
    for name in disk.names(path):
        remove(disk, path / name)
    disk.remove_directory(path)
