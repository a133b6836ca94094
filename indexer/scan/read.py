"""Reading one file so that what is hashed, cut and recorded is one and the same state of it."""

from __future__ import annotations

import errno
import os
import stat as modes
import time
from typing import NamedTuple

import xxhash

from indexer.files import FileStat, Reason, Skipped, stat_of

_TRIES = 5
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK the opening of a pipe that took the file's place would wait for a writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Read(NamedTuple):
    """One file's content, the stat that belongs to it, and its xxh3-128 digest (16 bytes, big-endian).

    ``read_at_ns`` is the moment before it was opened, for `indexer.scan.diff.is_racy`.
    """

    stat: FileStat
    data: bytes
    digest: bytes
    read_at_ns: int


def read_file(root: str | os.PathLike[str], path: str, limit: int) -> Read | Skipped:
    """Read a file of the tree, at most ``limit`` bytes long; `Skipped` tells why it could not be.

    No symbolic link is followed, neither at the end nor on the way, so nothing outside the root is read whatever
    happens to the tree meanwhile. A file that changes while it is read is read again.
    """
    parts = path.split("/")
    if not all(parts) or ".." in parts or "." in parts or "\0" in path:
        return Skipped(path, Reason.UNREADABLE, "not a path inside the root")
    try:
        folder = _folder(root, parts[:-1])
        try:
            return _read_at(folder, parts[-1], path, limit)
        finally:
            os.close(folder)
    except OSError as error:
        return _told(path, error)


def _folder(root: str | os.PathLike[str], parts: list[str]) -> int:
    """Open the directory that holds the file, one step at a time, so that no step can lead elsewhere."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts:
        try:
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _read_at(folder: int, name: str, path: str, limit: int) -> Read | Skipped:
    for _ in range(_TRIES):
        read_at = time.time_ns()
        # A device is asked for before it is opened: opening one can act on it.
        if not modes.S_ISREG(mode := os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return Skipped(path, Reason.SYMLINK if modes.S_ISLNK(mode) else Reason.SPECIAL)
        descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            before = os.fstat(descriptor)
            if not modes.S_ISREG(before.st_mode):
                return Skipped(path, Reason.SPECIAL)
            if before.st_size > limit:
                return Skipped(path, Reason.TOO_LARGE, f"{before.st_size} bytes")
            data = _content(descriptor, before.st_size)
            after = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if len(data) == after.st_size and _stamp(before) == _stamp(after):
            return Read(stat_of(path, after), data, xxhash.xxh3_128_digest(data), read_at)
    return Skipped(path, Reason.UNREADABLE, "it kept changing while it was read")


def _content(descriptor: int, size: int) -> bytes:
    """Read what there should be; a byte more is asked for, so that less than that is all there is."""
    piece = os.read(descriptor, size + 1)
    pieces, left = [piece], size - len(piece)
    while left > 0 and (piece := os.read(descriptor, left + 1)):
        pieces.append(piece)
        left -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _stamp(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _told(path: str, error: OSError) -> Skipped:
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return Skipped(path, Reason.VANISHED)
    if error.errno == errno.ELOOP:
        return Skipped(path, Reason.SYMLINK)
    return Skipped(path, Reason.UNREADABLE, os.strerror(error.errno or 0))
