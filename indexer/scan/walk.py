"""The walk: one look at every file of the tree, without opening any.

Inside a git work tree git lists what is there, and all that is left to do is one ``lstat`` a file; while git looks
for untracked files, the tracked ones are looked at already. Outside git the directories are read here.
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH116

from __future__ import annotations

import errno
import os
import stat as modes
from functools import partial

from indexer.files import FileStat, Reason, Skipped, stat_of
from indexer.plainly import TYPE_CHECKING
from indexer.scan import git
from indexer.scan.early import KIND, REGULAR, Early, decoded, is_as_known, look_of, plain
from indexer.scan.early import look as look_early
from indexer.scan.ignore import IGNORE_FILE, Rules
from indexer.scan.names import NEVER_ENTERED, reason_by_name
from indexer.scan.nested import Level, matches
from indexer.scan.seen import Scan
from indexer.scan.tree import Folder, Repository, Tree
from indexer.scan.trees import way_to

if TYPE_CHECKING:
    from typing import Protocol

    from indexer.files import Stats
    from indexer.settings import ScanSettings

    class Knowledge(Protocol):
        """What is known of the files before they are looked at."""

        def stats(self) -> Stats | None:
            """Say it; None when nothing is. Asked for once git is on its way."""

        def halfway(self) -> None:
            """Half of all that is known was looked at: git has little left to do, so that a processor is free."""


# A root that cannot be listed can still be looked into.
_SEARCH = getattr(os, "O_PATH", os.O_RDONLY)
_INDEX = b".indexer"


def walk(
    root: str | os.PathLike[str],
    rules: Rules,
    settings: ScanSettings,
    known: Knowledge | None = None,
) -> Scan:
    """Look at every file that ``rules`` let in, below the root they were loaded for.

    Never follows a symbolic link. A directory that cannot be read is told in ``unknown``, and the rest goes on. With
    what is ``known`` of the files, git need not say first which there are, and the scan may be found to be the ``same``.
    """
    assert os.path.realpath(os.fsencode(root)).rstrip(b"/") + b"/" == rules.root
    descriptor = os.open(rules.root, _SEARCH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Relative to the root: on the way down to it there are as many directories again as below.
        walker = _Walker(rules, settings, descriptor, known)
        walker.tree(rules.tree, b"")
    finally:
        os.close(descriptor)
    return walker.result()


def classify(path: str, stat: os.stat_result, settings: ScanSettings) -> FileStat | Skipped:
    """Judge a file that the rules let in by its kind, name and size."""
    mode = stat.st_mode
    if mode & KIND != REGULAR:
        return Skipped(path, Reason.SYMLINK if modes.S_ISLNK(mode) else Reason.SPECIAL)
    if reason := reason_by_name(path, secrets=settings.secrets):
        return Skipped(path, reason)
    if stat.st_size > settings.max_file_bytes:
        return Skipped(path, Reason.TOO_LARGE, f"{stat.st_size} bytes")
    return stat_of(path, stat)


def look(rules: Rules, path: str, settings: ScanSettings) -> FileStat | Skipped | None:
    """Look at one path as the walk would; None when it is ignored, a directory, or not there.

    Reason "unreadable" means that nothing is known: what was known of it is not gone.
    """
    if not rules.file(path):
        return None
    try:
        stat = os.lstat(rules.root + os.fsencode(path))
    except OSError as error:
        return None if _is_absence(error) else Skipped(path, Reason.UNREADABLE, os.strerror(error.errno or 0))
    return None if modes.S_ISDIR(stat.st_mode) else classify(path, stat, settings)


def _is_there(directory: bytes) -> bool:
    """Tell whether a directory exists, even one that may not be looked into, or whose path is too long."""
    try:
        os.lstat(directory.rstrip(b"/"))
    except OSError as error:
        return not _is_absence(error)
    return True


def _is_absence(error: OSError) -> bool:
    return error.errno in {errno.ENOENT, errno.ENOTDIR}


class _Walker:
    """The state of one walk. Paths are bytes below the root; directories end with a slash."""

    def __init__(
        self,
        rules: Rules,
        settings: ScanSettings,
        root: int,
        known: Knowledge | None,
    ) -> None:
        self.rules = rules
        self.settings = settings
        self.lstat = partial(os.lstat, dir_fd=root)
        self.exists = partial(os.access, mode=os.F_OK, dir_fd=root)
        self.known = known
        self.scan = Scan()
        self.unknown: set[bytes] = set()
        self.runs = 0  # sorted runs in ``scan.files``
        self.device = os.stat(rules.root).st_dev
        # Directories on the way: our own rules for what is in them, None for those that are out or no directory.
        self.levels: dict[bytes, Level] = {b"": rules.own.level(b"")}
        self.devices: dict[bytes, int] = {b"": self.device}

    def result(self) -> Scan:
        """Return what was seen, sorted."""
        self.scan.put_in_order(self.unknown, files=self.runs > 1)
        self.scan.notes = self.rules.notes + self.scan.notes
        return self.scan

    def tree(self, tree: Tree, top: bytes) -> None:
        """Look at a whole tree whose top lies at ``top`` below the root, and at those nested in it."""
        pending = [(tree, top)]
        while pending:
            here, place = pending.pop()
            inner = self._by_git(here, place) if isinstance(here, Repository) else self._by_hand(here, place)
            for directory in inner:
                pending.append((self.rules.nested(directory).tree, directory))  # noqa: PERF401

    def _by_git(self, tree: Repository, top: bytes) -> list[bytes]:
        """Look at what git lists; return the nested repositories in it."""
        listing = git.list_files(tree.top)
        try:
            known = None if top else self.known
            expected = None if known is None else known.stats()
            names = [top + name for name in tree.tracked_names] if expected is None else expected.names
            early = look_early(self.lstat, names, None if known is None else known.halfway)
        finally:
            answer = listing.finish()
        if answer.code != 0:
            self.scan.notes.append(
                f"git cannot list {os.fsdecode(top) or 'the root'}, so tracked files in ignored folders are left "
                f"out: {answer.complaint}"
            )
            return self._by_hand(Folder(tree.top), top)
        listed = answer.out.split(b"\0")[:-1]
        if expected is not None:
            if not answer.err and self._as_known(listed, early, expected):
                self.scan.same = True
                return []
            self.scan.files.clear()  # all of it is looked at again, in the order of paths
            self.scan.skipped.clear()
        # Two sorted runs, which `sorted` merges in no time; what is unmerged in git's index is there more than once.
        names = sorted(dict.fromkeys(filter(None, listed)))
        nested = self._take(top, names, dict(early.plain(self.settings)))
        if answer.err:
            # A directory or an ignore file that git could not read. Its wording is not ours to parse.
            self._find_unreadable(top)
            self._find_unopened(tree, top, answer.err)
        return nested

    def _as_known(self, listed: list[bytes], early: Early, known: Stats) -> bool:
        """Tell whether the root's tree is what is known of it, and nothing else; note what else git lists."""
        rules = self.rules
        if not is_as_known(early, known, self.settings):
            return False
        others = set(listed)
        count = len(others)
        others.difference_update(known.names)
        if len(others) + len(known.names) != count:  # git does not list all that is known
            return False
        levels = self._enter_all({name.rpartition(b"/")[0] for name in known.names})
        if None in levels.values():
            return False
        if rules.narrows_by_settings or any(levels.values()):
            narrowed = (
                name for name in known.names if rules.narrows_by_settings or levels[name.rpartition(b"/")[0]]
            )
            if not all(rules.narrowed_in(name, is_directory=False) for name in narrowed):
                return False
        if any(
            name.partition(b"/")[0] == _INDEX for name in others
        ):  # which git tracks, if only as a submodule
            return False
        nested = self._take(b"", sorted(others), {})
        return not (nested or self.scan.files or self.unknown or self.scan.mounts)

    def _take(self, top: bytes, names: list[bytes], early: dict[bytes, FileStat]) -> list[bytes]:
        """Judge listed names, sorted and relative to ``top``; return the nested repositories among them."""
        nested: list[bytes] = []
        self.runs += 1
        directory, level, filtered = b"?", None, False
        names = [top + name for name in names] if top else names
        for name, path in zip(names, decoded(names), strict=True):
            folder, _, base = name.rpartition(b"/")
            if folder != directory:
                directory = folder
                level = self._enter(folder + b"/" if folder else b"")
                filtered = bool(level) or self.rules.narrows_by_settings
            if level is None:
                continue
            if not base:
                nested += self._nested(name)
            elif filtered and not self.rules.narrowed_in(name, is_directory=False):
                continue
            elif name in early:
                self.scan.files.append(early[name])
            elif base not in NEVER_ENTERED:
                nested += self._look(name, path)
        return nested

    def _look(self, name: bytes, path: str) -> list[bytes]:
        """Look at one name that was not looked at early; return it if it is a nested repository."""
        stat = self._lstat(name)
        if stat is None:
            return []
        if modes.S_ISDIR(stat.st_mode):
            return self._nested(name + b"/")
        verdict = plain(name, path, look_of(stat), self.settings) or classify(path, stat, self.settings)
        if isinstance(verdict, FileStat):
            self.scan.files.append(verdict)
        else:
            self.scan.skipped.append(verdict)
        return []

    def _nested(self, directory: bytes) -> list[bytes]:
        """Return a directory that git listed, if it is a nested repository, or a submodule that is checked out."""
        place = self.rules.place(directory)
        if place is None or place.depth != len(directory) or self._enter(directory) is None:
            return []
        return [directory]

    def _lstat(self, path: bytes) -> os.stat_result | None:
        try:
            return self.lstat(path)
        except OSError as error:
            if error.errno == errno.EACCES:
                self.unknown.add(path[: path.rfind(b"/") + 1])
            elif not _is_absence(error):
                self.unknown.add(path)
            return None

    def _enter(self, directory: bytes, *, bare: bool = False) -> Level:
        """Return our own rules for a directory's entries; None when it is out, a link, or no longer there.

        ``bare``: it is known that it has no ignore file of ours.
        """
        levels = self.levels
        known, unknown = way_to(directory, levels)
        level = levels[known]
        for inner in unknown:
            level = None if level is None else self._step(inner, bare=bare and inner == directory)
            levels[inner] = level
        return level

    def _enter_all(self, folders: set[bytes]) -> dict[bytes, Level]:
        """Do as `_enter` does for many directories, here without their slashes; at once where they are all plain."""
        within: set[bytes] = set()
        for folder in folders:
            here = folder
            while here and here not in within:
                within.add(here)
                here = here.rpartition(b"/")[0]
        if self.rules.exclude is None and self.levels == {b"": ()} and self._are_plain(within):
            return dict.fromkeys(folders, ())
        return {folder: self._enter(folder and folder + b"/") for folder in folders}

    def _are_plain(self, folders: set[bytes]) -> bool:
        """Tell whether all are directories of the root's file system, without an ignore file of ours.

        If they are, that is noted of them.
        """
        directories = [folder + b"/" for folder in folders]
        parts = b"/" + b"/".join(directories)
        if any(b"/%b/" % name in parts for name in NEVER_ENTERED):
            return False
        try:
            # Without the slash: one that has become a link is no directory.
            looks = map(self.lstat, folders)
            kinds = {(seen.st_mode & KIND, seen.st_dev) for seen in looks}
        except OSError:
            return False
        if not kinds <= {(modes.S_IFDIR, self.device)} or any(
            map(self.exists, (directory + IGNORE_FILE for directory in directories))
        ):
            return False
        self.devices |= dict.fromkeys(directories, self.device)
        self.levels |= dict.fromkeys(directories, ())
        return True

    def _step(self, directory: bytes, *, bare: bool) -> Level:
        outer = directory[: directory.rfind(b"/", 0, -1) + 1]
        if directory[len(outer) : -1] in NEVER_ENTERED:
            return None
        stat = self._lstat(directory[:-1])
        if stat is None or not modes.S_ISDIR(stat.st_mode):
            return None
        self.devices[directory] = stat.st_dev
        if stat.st_dev != self.devices[outer]:
            self.scan.mounts.append(os.fsdecode(directory[:-1]))
        exclude = self.rules.exclude
        if exclude is not None and exclude.level(directory) is None:
            return None
        return self.rules.own.level(directory, bare=bare or not self.exists(directory + IGNORE_FILE))

    def _by_hand(self, tree: Folder, top: bytes) -> list[bytes]:
        """Read the directories of a tree that git does not list; return the nested repositories in it."""
        nested: list[bytes] = []
        files: list[bytes] = []
        pending = [top]
        while pending:
            directory = pending.pop()
            entries = self._entries(directory)
            if entries is None:
                continue
            if b".git" in entries and directory != top:
                place = self.rules.place(directory)
                if place is None or place.depth == len(directory):
                    nested += [] if place is None else [directory]
                    continue
            if self._enter(directory, bare=IGNORE_FILE not in entries) is None:
                continue
            inner = directory[len(top) :]
            level = tree.ignore_files.level(inner, bare=b".gitignore" not in entries)
            for name, is_directory in entries.items():
                if level is None or name in NEVER_ENTERED:
                    continue
                if level and matches(level, inner + name, is_directory=is_directory):
                    continue
                if is_directory:
                    pending.append(directory + name + b"/")
                else:
                    files.append(inner + name)
        self._take(top, sorted(files), {})
        return nested

    def _entries(self, directory: bytes) -> dict[bytes, bool] | None:
        """Return the names in a directory, with whether each is a directory; None when it cannot be read."""
        try:
            with os.scandir(self.rules.root + directory) as entries:
                return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError as error:
            if not _is_absence(error):
                self.unknown.add(directory)
            return None

    def _find_unreadable(self, top: bytes) -> None:
        """Find the directories that git could not read, by trying each that it would have entered."""
        pending = [top]
        while pending:
            directory = pending.pop()
            entries = self._entries(directory) or {}
            inner = [directory + name for name, is_directory in entries.items() if is_directory]
            pending += [name + b"/" for name in inner if self.rules.directory(os.fsdecode(name))]

    def _find_unopened(self, tree: Repository, top: bytes, complaints: bytes) -> None:
        """Take git at its word about directories that it could not open although they open here.

        It keeps one descriptor open for each level, so that a deep tree takes more than a process may have: what lies
        below is missing from its list, and is not gone.
        """
        for name in git.unopened(complaints):
            inner = name.removeprefix(tree.where.prefix)
            if inner and _is_there(tree.top + inner):
                self.unknown.add(top + inner)
            elif not self.unknown:
                self.unknown.add(top)
