"""Watching exactly the directories that the rules let in, whatever becomes of them.

A directory is watched first and listed then: what is made in between is either listed or reported, or both. Doing so
again is harmless, as the same inode gives the same watch; so after lost events the whole tree is gone through once
more, and what is not met on the way is dropped. Nothing is ever removed in order to be added again.
"""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH114

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Protocol

from indexer.watch.bookkeeping import Book
from indexer.watch.homes import Homes
from indexer.watch.inotify import CREATE, DELETE, MOVED_FROM, MOVED_TO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from indexer.scan.ignore import Rules
    from indexer.watch.batch import Dirt
    from indexer.watch.bookkeeping import Node

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR})
_ARRIVED = CREATE | MOVED_TO
_LEFT = DELETE | MOVED_FROM
_DOT = ord(".")


class Watches(Protocol):
    """What adds and removes single watches."""

    def add(self, directory: bytes) -> int:
        """Return the watch descriptor, or the negated errno."""

    def drop(self, wd: int) -> None:
        """Let go of a descriptor that no directory of the tree has any more."""


class Tree:
    """The watched directories below a root. Paths are bytes relative to it, without a slash at their ends.

    ``failed`` holds the directories that have no watch and the reason; nothing below them is watched.
    """

    def __init__(self, rules: Rules, watches: Watches, stop: Callable[[], bool]) -> None:
        self.rules = rules
        self.book = Book()
        self.homes = Homes(rules.root)
        self.failed: dict[bytes, str] = {}
        self.unwatchable: Mapping[bytes, str] = {}  # mount points, and why
        self.knotted = False  # the book contradicts the disk: go through all of it again
        self.new: list[bytes] = []  # directories that were not watched before
        self.left: list[bytes] = []  # places that a watched directory turned out to have left
        self.met_rules = False  # a file that changes the rules was met on the way
        self._watches = watches
        self._stop = stop

    # --- going through

    def arm(self) -> None:
        """Watch all that should be, and nothing else."""
        self.knotted = False
        self.failed = {}
        self._go(None, b"", b"")

    def _go(self, parent: Node | None, name: bytes, path: bytes) -> None:
        """Watch a directory and all below it that the rules let in; drop what is not met on the way."""
        pending = [(parent, name, path)]
        while pending and not self._stop():
            parent, name, path = pending.pop()
            if parent is not None and not self.book.holds(parent):
                continue
            node = self._watch(parent, name, path)
            if node is None:
                continue
            inner = self._list(path)
            for gone in node.kids.keys() - set(inner):
                self.drop(node.kids[gone])
            prefix = path + b"/" if path else b""
            pending += [(node, name, prefix + name) for name in inner]

    def _watch(self, parent: Node | None, name: bytes, path: bytes) -> Node | None:
        """Add the watch and enter it into the book; None when there is none to be had."""
        refused = self.unwatchable.get(path, "")
        wd = -errno.EOPNOTSUPP if refused else self._watches.add(self.rules.root + path)
        if self.failed:
            self.failed.pop(path, None)
        if wd < 0:
            sitting = self.book.root if parent is None else parent.kids.get(name)
            if sitting is not None:
                self.drop(sitting)
            if -wd not in _ABSENT:
                self._fail(path, -wd, refused)
            return None
        old = self.book.by_wd.get(wd)
        if parent is None:
            return self._root(wd, old)
        if (
            old is not None
            and (old.parent is not parent or old.name != name)
            and self._stays(old, parent, path)
        ):
            return None
        if old is None:
            self.new.append(path)
        elif old.parent is not parent or old.name != name:
            self.left.append(old.path())
        node, displaced = self.book.put(wd, parent, name)
        for gone in displaced:
            self._watches.drop(gone)
        return node

    def _root(self, wd: int, old: Node | None) -> Node:
        root = self.book.root
        if root is not None and root is old:
            return root
        if root is not None:
            self.drop(root)
        return self.book.set_root(wd)

    def _stays(self, old: Node, parent: Node, path: bytes) -> bool:
        """Tell whether a directory that is known at another place has to be left there."""
        if parent.is_below(old):
            # Moved below where the book has it, while the book was behind.
            self.knotted = True
            return True
        try:
            one, other = os.lstat(self.rules.root + old.path()), os.lstat(self.rules.root + path)
        except OSError:
            return False
        if os.path.samestat(one, other):  # a bind mount: events come for one of the places alone
            self._fail(path, 0, f"it is the same directory as {os.fsdecode(old.path()) or 'the root'}")
            return True
        return False

    def _list(self, path: bytes) -> list[bytes]:
        """Return the names of the directories inside that should be watched."""
        names = []
        try:
            with os.scandir(self.rules.root + path) as entries:
                for entry in entries:
                    if entry.name[0] == _DOT and self.rules.governs(os.fsdecode(entry.name)):
                        self.met_rules = True
                        if entry.name == b".git" and path not in self.homes:
                            self.homes.note(path)
                    if entry.is_dir(follow_symlinks=False):
                        names.append(entry.name)
        except OSError as error:
            if error.errno not in _ABSENT:
                self._fail(path, error.errno or 0, "")
            return []
        prefix = os.fsdecode(path + b"/" if path else b"")
        wanted = self.rules.directory
        return [name for name in names if wanted(prefix + os.fsdecode(name))]

    def _fail(self, path: bytes, number: int, why: str) -> None:
        words = [errno.errorcode.get(number, ""), why or os.strerror(number)]
        if number == errno.ENOSPC:
            words[1] = "the limit fs.inotify.max_user_watches is reached"
        self.failed[path] = ": ".join(filter(None, words))

    def drop(self, node: Node) -> None:
        """Stop watching a directory and all below it."""
        if self.failed:
            path = node.path()
            self._forgive(path)
        for wd in self.book.cut(node):
            self._watches.drop(wd)

    def _forgive(self, path: bytes) -> None:
        prefix = path + b"/" if path else b""
        for failed in [known for known in self.failed if known == path or known.startswith(prefix)]:
            del self.failed[failed]

    def retry(self) -> None:
        """Try again to watch what has no watch, until the limit stops it."""
        for path in sorted(self.failed):
            parent = self._find(path)
            if not path:
                self._go(None, b"", b"")
            elif parent is None:
                del self.failed[path]
            else:
                self._go(parent, path[path.rfind(b"/") + 1 :], path)
            if self.failed.get(path, "").startswith("ENOSPC"):
                return

    def _find(self, path: bytes) -> Node | None:
        """Return the node of the directory that a path lies in."""
        node = self.book.root
        for name in path.split(b"/")[:-1]:
            if node is None:
                return None
            node = node.kids.get(name)
        return node

    # --- what is reported

    def change(self, events: Sequence[tuple[Node, bytes, int]], dirt: Dirt) -> None:
        """Take in what is reported of directories: the one they lie in, their name, all event bits that were seen.

        What is at a place now is what counts, and not the order of events. Arrivals go first, so that a directory
        that is moved within the tree keeps its watches.
        """
        self.met_rules = False
        self.rules.forget(*(os.fsdecode(_join(node.path(), name)) for node, name, _ in events))
        for node, name, mask in events:
            if not mask & _LEFT and self.book.holds(node):
                self._change(node, name, mask, dirt)
        for node, name, mask in reversed(events):  # a tree is deleted from its leaves: its top first
            if mask & _LEFT and self.book.holds(node):
                self._change(node, name, mask, dirt)
        dirt.trees.update(map(os.fsdecode, self.left))
        self.new, self.left = [], []
        if self.met_rules:
            dirt.rules_changed = True

    def _change(self, parent: Node, name: bytes, mask: int, dirt: Dirt) -> None:
        path = _join(parent.path(), name)
        wanted = self.rules.directory(os.fsdecode(path))
        kid = parent.kids.get(name)
        # A link in the place of a directory hides from the rules what was there.
        if wanted or kid is not None or (mask & _LEFT and os.path.islink(self.rules.root + path)):
            dirt.trees.add(os.fsdecode(path))
        if kid is not None and (mask & _LEFT or not wanted):
            self.drop(kid)
        if self.failed and mask & _LEFT:
            self._forgive(path)
        if wanted and (mask & (_LEFT | _ARRIVED) or kid is None or self._fails_below(path)):
            self._go(parent, name, path)

    def _fails_below(self, path: bytes) -> bool:
        prefix = path + b"/"
        return any(failed.startswith(prefix) for failed in self.failed)


def _join(directory: bytes, name: bytes) -> bytes:
    return directory + b"/" + name if directory else name
