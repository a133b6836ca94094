"""What a look at files comes to: part of the vocabulary of `indexer.types`, and all that a run needs that finds nothing.

Apart from the rest because such a run is short, and each dataclass takes a millisecond to make.
"""

from __future__ import annotations

from indexer.plainly import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import os
    from array import array

LATEST = (1 << 63) - 1  # of the times that the index can hold: nanoseconds, until the year 2262


class FileStat(NamedTuple):
    """What ``lstat`` tells of one file; two equal ones mean "not touched" (but for the racy case)."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


def stat_of(path: str, stat: os.stat_result) -> FileStat:
    """Return what the index keeps of a stat. A time that it cannot hold becomes the last, or the first, that it can."""
    mtime, ctime = (max(-LATEST, min(time, LATEST)) for time in (stat.st_mtime_ns, stat.st_ctime_ns))
    return FileStat(path, stat.st_size, mtime, ctime, stat.st_ino)


class Stats(NamedTuple):
    """The same of many files, column by column; names are the paths' bytes, below the root."""

    names: list[bytes]
    sizes: array[int]
    mtimes_ns: array[int]
    ctimes_ns: array[int]
    inodes: array[int]


class Skipped(NamedTuple):
    """A file or directory that is left out, and the reason, as a word of `Reason`."""

    path: str
    reason: str
    detail: str = ""


class Reason:
    """Why something is not indexed. Plain strings: they are stored, and printed by ``status``."""

    TOO_LARGE = "too-large"
    BINARY = "binary"
    SECRET = "secret"  # noqa: S105  (a word, not a password)
    SYMLINK = "symlink"
    SPECIAL = "special-file"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    ENCODING = "encoding"
    MINIFIED = "minified"
    CRASHED = "parser-crashed"
    TIMEOUT = "timeout"
    MOUNT = "mount-point"  # no file, and nothing left out: a directory in which another file system begins
