"""Where the daemon of a root is to be found: a socket, a lock and a log in a directory that only its owner can enter.

The names come from a hash of the root, so that a socket's path stays far below the 107 bytes that ``bind`` takes,
whatever the root's own length. ``.indexer/daemon.json`` names the socket for programs that do not know the hash. It
lies in the repository, so it is read with distrust: nothing outside our own directory is ever connected to.

The standard library alone, since a question to a running daemon imports nothing else.
"""

# Paths are strings here: a question to a running daemon counts its milliseconds.
# ruff: noqa: PTH102, PTH104, PTH108, PTH111, PTH112, PTH116, PTH120, PTH123

from __future__ import annotations

import contextlib
import json
import os
import stat as modes

from indexer.errors import DaemonError, RootError
from indexer.plainly import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

INDEX_NAME = ".indexer"  # as `indexer.scan.root` has it, which costs another library to load
ANNOUNCEMENT = "daemon.json"
# Some systems take 104 bytes, Linux 108, the closing NUL included.
LONGEST_SOCKET = 100
_KEY_BYTES = 10
_LONGEST_NAME = len("/indexer/") + 2 * _KEY_BYTES + len(".sock")
_MOST_BYTES = 4096


class Place(NamedTuple):
    """The files of one root's daemon. ``root`` is absolute, its symbolic links resolved."""

    root: str
    directory: str
    key: str

    @property
    def socket(self) -> str:
        """The Unix socket."""
        return f"{self.directory}/{self.key}.sock"

    @property
    def lock(self) -> str:
        """Locked by the daemon for as long as it lives; it holds the root's path, for people."""
        return f"{self.directory}/{self.key}.lock"

    @property
    def starting(self) -> str:
        """Locked by whoever starts the daemon, so that one of many does."""
        return f"{self.directory}/{self.key}.starting"

    @property
    def runs(self) -> str:
        """When the daemon was started without having ended well since."""
        return f"{self.directory}/{self.key}.runs"

    @property
    def log(self) -> str:
        """The log of a daemon in the background."""
        return f"{self.directory}/{self.key}.log"


class Announcement(NamedTuple):
    """What ``.indexer/daemon.json`` says; ``pid`` is for people and never signalled."""

    socket: str
    pid: int
    protocol: int
    version: str


def supported() -> bool:
    """Tell whether this platform has what the daemon stands on: Unix sockets and ``flock``."""
    return os.name == "posix"


def require_support() -> None:
    """Raise `DaemonError` where there can be no daemon."""
    if not supported():
        raise DaemonError(
            "the daemon needs a Unix socket, which this platform lacks; every other command works without it"
        )


def runtime_dir() -> str:
    """Return the directory for sockets, locks and logs, whether or not it is there yet.

    ``$XDG_RUNTIME_DIR`` counts if it is ours and short enough. A process that lacks the variable (cron, sudo) finds
    the same directory where the login manager has put it.
    """
    user = os.geteuid()
    for base in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"):
        if (
            len(os.fsencode(base)) + _LONGEST_NAME <= LONGEST_SOCKET
            and base.startswith("/")
            and _is_mine(base)
        ):
            return f"{base.rstrip('/')}/indexer"
    return f"/tmp/indexer-{user}"  # noqa: S108  (checked to be ours alone before anything in it is used)


def _is_mine(directory: str) -> bool:
    try:
        found = os.stat(directory)
    except OSError:
        return False
    return modes.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def make_runtime_dir() -> str:
    """Return `runtime_dir`, made if need be. Raises `DaemonError` when it is not ours alone."""
    directory = runtime_dir()
    try:
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, 0o700)
    except OSError as error:
        raise DaemonError(
            f"{directory}: cannot be made ({error.strerror}); set XDG_RUNTIME_DIR to a directory of yours"
        ) from error
    check_runtime_dir(directory)
    return directory


def check_runtime_dir(directory: str) -> bool:
    """Tell whether the directory is there. Raises `DaemonError` when it is and others can write or look into it."""
    try:
        found = os.lstat(directory)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DaemonError(f"{directory}: cannot be opened ({error.strerror})") from error
    if not modes.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise DaemonError(
            f"{directory} is not a directory of yours; remove it, or set XDG_RUNTIME_DIR to one that is"
        )
    if found.st_mode & 0o077:
        raise DaemonError(f"{directory} is open to other users; chmod 700 it if nobody has meddled with it")
    return True


def place_of(root: str | os.PathLike[str]) -> Place:
    """Return the place of a root's daemon. ``root`` is resolved. Raises `DaemonError` when the root is not there.

    Device and inode are hashed too: containers that share a ``/tmp`` may hold different roots under one path.
    """
    # Here, since a client that finds what is announced needs none. By itself, since `hashlib` loads OpenSSL beside it.
    try:
        from _blake2 import blake2b
    except ImportError:  # another Python than CPython
        from hashlib import blake2b

    path = os.fspath(root)
    try:
        found = os.stat(path)
    except OSError as error:
        raise DaemonError(
            f"{path}: cannot be opened ({error.strerror}); name a folder that is there"
        ) from error
    identity = os.fsencode(path) + f"\0{found.st_dev}:{found.st_ino}".encode()
    key = blake2b(identity, digest_size=_KEY_BYTES).hexdigest()
    return Place(path, runtime_dir(), key)


def roots_above(start: str | os.PathLike[str], *, any_root: bool = False) -> list[str]:
    """Return the folders that may be the root of ``start``, innermost first, up to the first with an index of ours.

    One of them is what `indexer.scan.root.find_root` finds. Resolved; empty when ``start`` is not there.
    """
    try:
        here = os.path.realpath(start, strict=True)
    except OSError:
        return []
    if not os.path.isdir(here):
        here = os.path.dirname(here)
    too_wide = set() if any_root else {"/", os.path.realpath(os.path.expanduser("~"))}
    found = []
    while True:
        if here not in too_wide:
            found.append(here)
            if _has_our_index(here):
                return found
        above = os.path.dirname(here)
        if above == here:
            return found
        here = above


def _has_our_index(folder: str) -> bool:
    try:
        return check_index(f"{folder}/{INDEX_NAME}")
    except RootError:
        return False


def place_by_path(root: str) -> Place | None:
    """Return the place of a daemon whose root is not there any more, found by the path in its lock file."""
    directory = runtime_dir()
    if check_runtime_dir(directory):
        for known, path in roots_known(directory):
            if known == root:
                return Place(root, directory, path.rpartition("/")[2].removesuffix(".lock"))
    return None


def roots_known(directory: str) -> list[tuple[str, str]]:
    """The roots that ever had a daemon by this directory, each with the path of its lock file."""
    paths = [f"{directory}/{name}" for name in sorted(os.listdir(directory)) if name.endswith(".lock")]
    return [(os.fsdecode(_read_own(path)), path) for path in paths]


def _read_own(path: str) -> bytes:
    """Read a small file of ours; empty when there is none. It is opened once, and what was opened is checked."""
    # Without O_NONBLOCK a planted pipe would be waited for.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise DaemonError(f"{path}: cannot be read ({error.strerror}); remove it") from error
    try:
        found = os.fstat(descriptor)
        if not modes.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size > _MOST_BYTES:
            raise DaemonError(f"{path} is not a small file of yours; remove it")
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


# --- what stands in the index


def announce(index_dir: str | os.PathLike[str], announcement: Announcement) -> None:
    """Write ``daemon.json``, whole or not at all, readable by its owner alone. Raises `OSError`, `RootError`."""
    folder = os.fspath(index_dir)
    check_index(folder)
    fresh = f"{folder}/{ANNOUNCEMENT}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(fresh)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(json.dumps(announcement._asdict()).encode() + b"\n")
    os.rename(fresh, f"{folder}/{ANNOUNCEMENT}")


def withdraw(index_dir: str | os.PathLike[str], announcement: Announcement) -> None:
    """Remove ``daemon.json``, if it still says what was announced."""
    with contextlib.suppress(OSError, DaemonError, RootError):
        if read_announcement(index_dir) == announcement:
            os.unlink(f"{os.fspath(index_dir)}/{ANNOUNCEMENT}")


def check_index(folder: str) -> bool:
    """Tell whether the index is there. Raises `RootError` when it is a link, no folder, or another user's."""
    try:
        found = os.lstat(folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise RootError(f"{folder}: cannot be opened ({error.strerror})") from error
    if modes.S_ISLNK(found.st_mode):
        raise RootError(f"{folder} is a symbolic link, which could lead anywhere; remove it")
    if not modes.S_ISDIR(found.st_mode):
        raise RootError(f"{folder} is not a folder; remove it")
    if found.st_uid != os.geteuid():
        raise RootError(f"{folder} belongs to another user; remove it")
    return True


def read_announcement(index_dir: str | os.PathLike[str]) -> Announcement | None:
    """Return what ``daemon.json`` says, or None without one.

    Raises `RootError` when the index itself is not ours, and `DaemonError` when the file cannot be: a link, another
    user's, malformed, or naming a socket that is not in our own directory.
    """
    folder = os.fspath(index_dir)
    if not check_index(folder):
        return None
    path = f"{folder}/{ANNOUNCEMENT}"
    data = _read_own(path)
    if not data:
        return None
    announcement = _parsed(data)
    if announcement is None:
        raise DaemonError(f"{path} is not what a daemon writes; remove it")
    if not _in_our_directory(announcement.socket):
        raise DaemonError(
            f"{path} names a socket outside {runtime_dir()}, which is not trusted; remove the file, or set "
            "XDG_RUNTIME_DIR as it was when the daemon was started"
        )
    return announcement


def _parsed(data: bytes) -> Announcement | None:
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found: list[Any] = [value.get(name) for name in Announcement._fields]
    kinds = (str, int, int, str)
    if all(type(item) is kind for item, kind in zip(found, kinds, strict=True)):
        return Announcement(*found)
    return None


def _in_our_directory(socket: str) -> bool:
    directory, _, name = socket.rpartition("/")
    key, _, kind = name.partition(".")
    return (
        directory == runtime_dir()
        and kind == "sock"
        and len(key) == 2 * _KEY_BYTES
        and not set(key) - set("0123456789abcdef")
    )


def is_our_socket(path: str) -> bool:
    """Tell whether there is a socket of ours at a path; whether somebody answers there is another question."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return modes.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()
