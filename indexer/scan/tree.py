"""One tree and its own rules: a git work tree, or a folder that git does not answer for."""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH110, PTH116, PTH118, PTH123

from __future__ import annotations

import os
import stat as modes
from functools import cached_property

from indexer.scan import git
from indexer.scan.nested import IgnoreFiles, load_patterns

# Modification time (ns), size, inode; None: not there.
Stamp = tuple[int, int, int] | None


def stamp(path: bytes) -> Stamp:
    """Return what changes when a file is written or replaced; None when it is not there."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


class _Stamped:
    """Files that something was read from, each with its stamp from just before."""

    def __init__(self) -> None:
        self._stamps: dict[bytes, Stamp] = {}

    def note(self, *paths: bytes) -> None:
        """Remember the files' state, to be called before they are read."""
        self._stamps |= {path: stamp(path) for path in paths}

    def changed(self) -> bool:
        """Tell whether one of them is not as it was."""
        return any(stamp(path) != before for path, before in self._stamps.items())


class Folder:
    """A folder without git, or with one that does not answer: its ``.gitignore`` files count all the same."""

    index_file = b""

    def __init__(self, top: bytes) -> None:
        self.top = top
        self._stamped = _Stamped()

    @cached_property
    def _global(self) -> bytes:
        return git.excludes_file(b"/")

    @cached_property
    def ignore_files(self) -> IgnoreFiles:
        """The rules, for a walk that takes them directory by directory."""
        paths = self.inputs()
        self._stamped.note(*paths)
        base = [load_patterns(path, follow=True) for path in paths]
        return IgnoreFiles(self.top, b".gitignore", base)

    def tracks(self, path: bytes) -> bool:  # noqa: ARG002  (nothing is tracked here)
        """Return False."""
        return False

    def tracks_below(self, directory: bytes) -> bool:  # noqa: ARG002
        """Return False."""
        return False

    def is_submodule(self, path: bytes) -> bool:  # noqa: ARG002
        """Return False."""
        return False

    def ignored(self, path: bytes, *, is_directory: bool) -> bool:
        """Tell whether a path is ignored."""
        return self.ignore_files.ignored(path, is_directory=is_directory)

    def forget(self, *directories: bytes) -> None:
        """Drop what is kept of directories and all below them."""
        self.ignore_files.forget(*directories)

    def inputs(self) -> tuple[bytes, ...]:
        """Return the global ignore file's path and that of ``.git/info/exclude``, should there be one."""
        return (self._global, os.path.join(self.top, b".git", b"info", b"exclude"))

    def changed(self) -> bool:
        """Tell whether one of the inputs is not as it was read."""
        return self._stamped.changed()

    def tracks_others(self) -> bool:
        """Return False."""
        return False


class Repository:
    """A git work tree, or the part of one below the root. Everything is read when it is first asked for.

    ``top`` is where paths begin; the work tree's own top lies above it when ``where.prefix`` is not empty.
    """

    def __init__(self, top: bytes, where: git.WorkTree) -> None:
        self.top = top
        self.where = where
        self._stamped = _Stamped()
        self._index_stamp: Stamp = None

    @cached_property
    def tracked_names(self) -> list[bytes]:
        """All paths of git's index below the top, in git's order."""
        self._stamped.note(self._head_file)
        return self._list_tracked()

    def _list_tracked(self) -> list[bytes]:
        self._index_stamp = stamp(self.index_file)  # before it is read
        return list(dict.fromkeys(git.list_tracked(self.top).finish().out.split(b"\0")[:-1]))

    @cached_property
    def _tracked(self) -> frozenset[bytes]:
        return frozenset(self.tracked_names)

    @cached_property
    def _tracked_above(self) -> frozenset[bytes]:
        """The directories that hold tracked paths, at any depth, with their slashes."""
        found: set[bytes] = set()
        for path in self.tracked_names:
            end = path.rfind(b"/")
            while end > 0 and (directory := path[: end + 1]) not in found:
                found.add(directory)
                end = path.rfind(b"/", 0, end)
        return frozenset(found)

    @cached_property
    def _submodules(self) -> frozenset[bytes]:
        return frozenset(git.submodules(self.top))

    @cached_property
    def _global(self) -> bytes:
        return git.excludes_file(self.top)

    @cached_property
    def _ignore_files(self) -> IgnoreFiles:
        self._stamped.note(self._global, *self._settings_files, *self._ignore_files_above)
        work_top = self.top[: len(self.top) - len(self.where.prefix)]
        paths = (self._global, os.path.join(self.where.common_dir, b"info", b"exclude"))
        return IgnoreFiles(work_top, b".gitignore", [load_patterns(path, follow=True) for path in paths])

    def tracks(self, path: bytes) -> bool:
        """Tell whether the index has the path, as a file or as a submodule."""
        return path in self._tracked

    def tracks_below(self, directory: bytes) -> bool:
        """Tell whether the index has anything below a directory."""
        return directory + b"/" in self._tracked_above

    def is_submodule(self, path: bytes) -> bool:
        """Tell whether the index has the path as a submodule."""
        return path in self._tracked and path in self._submodules

    def ignored(self, path: bytes, *, is_directory: bool) -> bool:
        """Tell whether git ignores a path that it does not track."""
        return self._ignore_files.ignored(self.where.prefix + path, is_directory=is_directory)

    @property
    def is_ignored(self) -> bool:
        """Whether the top itself lies in an ignored part of its work tree, with nothing tracked in it."""
        prefix = self.where.prefix
        return bool(prefix) and self._ignore_files.level(prefix) is None and not self.tracked_names

    def forget(self, *directories: bytes) -> None:
        """Drop what is kept of directories and all below them."""
        self._ignore_files.forget(*(self.where.prefix + directory for directory in directories))

    @property
    def index_file(self) -> bytes:
        """Where git keeps what is tracked, beside much else."""
        return os.path.join(self.where.git_dir, b"index")

    @property
    def _head_file(self) -> bytes:
        return os.path.join(self.where.git_dir, b"HEAD")

    @property
    def _settings_files(self) -> tuple[bytes, ...]:
        return (
            os.path.join(self.where.common_dir, b"config"),
            os.path.join(self.where.common_dir, b"info", b"exclude"),
        )

    def inputs(self) -> tuple[bytes, ...]:
        """Return the files of git that decide what is tracked and ignored, and ignore files above the top."""
        own = (self.index_file, self._head_file)
        return (self._global, *own, *self._settings_files, *self._ignore_files_above)

    @property
    def _ignore_files_above(self) -> tuple[bytes, ...]:
        parts = self.where.prefix.split(b"/")[:-1]
        work_top = self.top[: len(self.top) - len(self.where.prefix)]
        above = (b"".join(part + b"/" for part in parts[:count]) for count in range(len(parts)))
        return tuple(work_top + folder + b".gitignore" for folder in above)

    def changed(self) -> bool:
        """Tell whether one of the inputs is not as it was read; of git's index, whether it has other paths."""
        if self._stamped.changed():
            return True
        read = "tracked_names" in self.__dict__
        return read and stamp(self.index_file) != self._index_stamp and self.tracks_others()

    def tracks_others(self) -> bool:
        """Read git's index again, and tell whether it has other paths, or other submodules, than when it was read.

        Git writes it for many a reason that changes neither: each ``git status`` may, and each ``git commit`` does.
        """
        known = self.__dict__  # what was never asked for cannot be behind
        if "tracked_names" in known and self._list_tracked() != self.tracked_names:
            self._index_stamp = None  # and stays so
            return True
        return "_submodules" in known and frozenset(git.submodules(self.top)) != self._submodules


# What is ignored and tracked in a tree; paths are bytes relative to its ``top``, without a trailing slash.
Tree = Folder | Repository


def is_repository(directory: bytes) -> bool:
    """Tell whether git takes a directory (absolute, with its slash) for the top of a work tree."""
    dot_git = directory + b".git"
    try:
        mode = os.stat(dot_git).st_mode
        if modes.S_ISDIR(mode):
            return _is_git_dir(dot_git)
        return modes.S_ISREG(mode) and _is_git_dir(os.path.join(directory, _link_target(dot_git)))
    except OSError:
        return False


def _link_target(dot_git: bytes) -> bytes:
    with open(dot_git, "rb") as file:
        line = file.read(8192)
    if not line.startswith(b"gitdir: "):
        raise FileNotFoundError
    return line[8:].rstrip(b"\r\n")


def _is_git_dir(path: bytes) -> bool:
    """Tell whether a directory is a repository's; that of a further work tree names the one it shares."""
    shared = path
    if os.path.exists(os.path.join(path, b"commondir")):
        with open(os.path.join(path, b"commondir"), "rb") as file:
            shared = os.path.join(path, file.read(8192).rstrip(b"\r\n"))
    needed = ((path, b"HEAD"), (shared, b"objects"), (shared, b"refs"))
    return all(os.path.lexists(os.path.join(folder, name)) for folder, name in needed)


def open_tree(top: bytes, *, nested: bool = False) -> tuple[Tree, str]:
    """Return a directory's tree, and why git does not answer for it (empty when it does, or is not asked).

    A ``nested`` one has to be the top of its own work tree.
    """
    if not _has_git_above(top):
        return Folder(top), ""
    where = git.work_tree(top)
    if isinstance(where, git.Refusal):
        return Folder(top), where.why
    if nested and where.prefix:
        return Folder(top), "it is not the top of a work tree"
    repository = Repository(top, where)
    return (Folder(top), "") if repository.is_ignored else (repository, "")


def _has_git_above(top: bytes) -> bool:
    """Tell whether there is a ``.git`` here or above, so that git is worth a process."""
    here = top.rstrip(b"/")
    while here:
        if os.path.lexists(here + b"/.git"):
            return True
        here = here[: here.rfind(b"/")]
    return os.path.lexists(b"/.git")
