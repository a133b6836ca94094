"""inotify behind the `Source` door: the reader, the tree of watches, the files the rules hang on, and the root."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

from indexer.config import REPOSITORY_FILE
from indexer.watch.batch import GIT, WatchState
from indexer.watch.filesystem import Mounts, why_unwatchable
from indexer.watch.inotify import ATTRIB, CREATE, DELETE, DELETE_SELF, IGNORED, MOVE_SELF, UNMOUNT, Reader
from indexer.watch.inputs import Inputs
from indexer.watch.root import Identity, is_gone, look_at
from indexer.watch.source import UnwatchableError
from indexer.watch.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexer.scan.ignore import Rules
    from indexer.watch.batch import Dirt
    from indexer.watch.bookkeeping import Node
    from indexer.watch.cookie import Cookies
    from indexer.watch.inbox import Inbox, Taken

_FIRST_LOOK, _LAST_LOOK = 0.05, 2.0  # seconds between two looks for a root that is gone; the pause doubles
_OFTEN = 3  # times that the whole is gone through again, while the disk is moved about under it


class Native:
    """Watches a root by inotify. Raises `UnwatchableError` when it cannot be had, or does not tell all."""

    def __init__(
        self,
        rules: Rules,
        cookies: Cookies,
        inbox: Inbox,
        dirt: Dirt,
        *,
        poll_seconds: float,
        extra: Iterable[str],
    ) -> None:
        self._rules = rules
        self._cookies = cookies
        self._inbox = inbox
        self.poll_seconds = poll_seconds
        self._extra = tuple(extra)
        self._identity: Identity | None = None
        self.gone = ""
        self._rest, self._due = _FIRST_LOOK, 0.0
        self._told = False
        self._polled = time.monotonic()
        self._rearms = 0
        self._healed = ""
        self._reader = self._make_reader()
        self._open()
        if not self.gone:
            self._arm(dirt)

    # --- beginning, and beginning again

    def _make_reader(self) -> Reader:
        if why := why_unwatchable(self._rules.root):
            raise UnwatchableError(why)
        try:
            reader = Reader(self._inbox, self._cookies)
        except OSError as error:
            hint = "; raise fs.inotify.max_user_instances" if error.errno == errno.EMFILE else ""
            raise UnwatchableError(f"{error.strerror or error}{hint}") from error
        self._inbox.listen_to(reader)
        reader.start()
        self._cookies.attach(reader.add_followed)
        return reader

    def _open(self) -> None:
        """Begin with an empty book, and find the root or note that it is gone."""
        self._tree = Tree(self._rules, self, lambda: self._inbox.closed)
        self._inputs = Inputs(self._reader.add_followed)
        self._inbox.only = {}
        self._mounts = Mounts(self._rules.root)
        self._identity, why = look_at(self._rules.root)
        self.gone = is_gone(self._rules.root, why) if why else ""

    def _begin_again(self) -> None:
        self._release()
        self._reader = self._make_reader()
        self._open()
        self._rearms += 1

    def _release(self) -> None:
        self._cookies.attach(None)
        self._inbox.listen_to(None)
        self._reader.retire()
        self._mounts.close()

    def close(self) -> None:
        """Stop the thread and give everything back."""
        self._release()
        self._reader.join(5)

    def _arm(self, dirt: Dirt) -> None:
        """Watch all that should be."""
        self._tree.unwatchable = self._mounts.unwatchable()
        for _ in range(_OFTEN):
            self._tree.arm()
            if not self._tree.knotted:
                break
        self._place_inputs(dirt)

    def _place_inputs(self, dirt: Dirt) -> None:
        """Watch the files that the rules hang on; say so when these rules are behind by now."""
        homes = self._tree.homes
        self._let_go(self._inputs.place((*self._rules.inputs(), *self._extra, *homes.inputs())))
        if homes.ripened(self._rules):
            dirt.rules_changed = True

    def _let_go(self, wds: set[int]) -> None:
        known = self._tree.book.by_wd
        for wd in wds:
            if wd not in known:
                self._reader.remove(wd)
        self._inbox.only = {wd: names for wd, names in self._inputs.names.items() if wd not in known}

    # --- what the tree asks for

    def add(self, directory: bytes) -> int:
        """Watch a directory of the tree."""
        wd = self._reader.add(directory)
        if wd in self._inbox.only:
            # Before it is listed: from now on every name in it counts.
            self._inbox.only = {other: names for other, names in self._inbox.only.items() if other != wd}
        return wd

    def drop(self, wd: int) -> None:
        """Let go of a directory of the tree."""
        if wd not in self._inputs.names:
            self._reader.remove(wd)

    # --- the doors

    @property
    def rules(self) -> Rules:
        """The rules that it goes by."""
        return self._rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self._rules = self._tree.rules = rules

    def rearm(self, dirt: Dirt) -> None:
        """Go by the rules that were set; what is watched now and was not is dirty."""
        if self.gone:
            return
        tree = self._tree
        tree.new, tree.left = [], []
        self._arm(dirt)
        dirt.trees.update(map(os.fsdecode, (*tree.new, *tree.left)))
        if self._rules.changed():
            dirt.rules_changed = True

    def pause(self) -> float | None:
        """Return when it has to look by itself: soon while the root is gone, seldom when something has no watch."""
        if self.gone:
            return max(0.0, self._due - time.monotonic())
        if self._tree.failed:
            return max(0.0, self._polled + self.poll_seconds - time.monotonic())
        return None

    def state(self) -> WatchState:
        """Tell how it is doing."""
        failed = {os.fsdecode(path) or ".": why for path, why in list(self._tree.failed.items())}
        problems = [self.gone] if self.gone else []
        if failed:
            path, why = next(iter(failed.items()))
            problems.append(
                f"{len(failed)} folders have no watch, such as {path} ({why}); they are looked at every "
                f"{self.poll_seconds:g} seconds and before each answer"
            )
        if self._healed:
            problems.append(self._healed)
        mode = "polling" if "." in failed else "inotify"
        return WatchState(mode, len(self._tree.book.by_wd), self._rearms, failed, tuple(problems), self.gone)

    # --- looking

    def look(self, taken: Taken, dirt: Dirt) -> None:
        """Turn what came in into dirt."""
        if taken.trouble:
            dirt.rescan = dirt.rescan or taken.trouble
        if taken.ended:
            self._lost_thread(taken.ended, dirt)
        self._check_root(taken, dirt)
        if self.gone:
            return
        if taken.overflow:
            self._again("the kernel's queue of events overflowed", dirt)
        elif self._mounts.changed():
            self._again("a file system was mounted or unmounted", dirt)
        else:
            self._take(taken, dirt)
        if self._tree.knotted:
            self._again("directories were moved about faster than they could be followed", dirt)
        self._poll(taken, dirt)

    def _again(self, why: str, dirt: Dirt) -> None:
        """Go through everything once more, and have it scanned."""
        self._rearms += 1
        self._arm(dirt)
        dirt.everything(why)

    def _lost_thread(self, why: str, dirt: Dirt) -> None:
        self._begin_again()
        if not self.gone:
            self._arm(dirt)
        self._healed = f"the watching thread ended ({why}) and was started again"
        dirt.everything(self._healed)

    # --- the root

    def _check_root(self, taken: Taken, dirt: Dirt) -> None:
        """See whether the root is the one that is watched; if not, say so, and go on when there is one again."""
        if self.gone:
            self._look_for_root(taken, dirt)
            return
        identity, why = look_at(self._rules.root)
        signs = self._signs(taken)
        if identity == self._identity and not signs & IGNORED:
            return
        if identity is not None:
            why = "another folder is in its place"
        words = {UNMOUNT: "it was unmounted", DELETE_SELF: "it was deleted", MOVE_SELF: "it was renamed"}
        what = next((word for sign, word in words.items() if signs & sign), "")
        self._begin_again()
        self._rest, self._due = _FIRST_LOOK, 0.0
        self.gone = is_gone(self._rules.root, what, why)
        self._told = True
        dirt.root_gone = self.gone

    def _signs(self, taken: Taken) -> int:
        root = self._tree.book.root
        return 0 if root is None else taken.directories.get((root.wd, b""), 0)

    def _look_for_root(self, taken: Taken, dirt: Dirt) -> None:
        """See whether the root is back; that it is not is told once, and to whoever asks."""
        self._rest = min(self._rest * 2, _LAST_LOOK)
        self._due = time.monotonic() + self._rest
        identity, _ = look_at(self._rules.root)
        if identity is None:
            if taken.cookies or not self._told:
                dirt.root_gone = self.gone
            self._told = True
            return
        if why := why_unwatchable(self._rules.root):
            raise UnwatchableError(why)
        self._mounts.close()
        self._open()
        self._arm(dirt)
        dirt.everything("the root is back")

    # --- events

    def _take(self, taken: Taken, dirt: Dirt) -> None:
        self._see_inputs(taken, dirt)
        changes = self._changes(taken, dirt)
        if changes:
            self._tree.change(changes, dirt)
        self._files(taken, dirt)
        if dirt.rules_changed:
            self._place_inputs(dirt)

    def _see_inputs(self, taken: Taken, dirt: Dirt) -> None:
        """Note what happened to the files that the rules hang on, or to the directories they are in."""
        named = [(wd, name) for wd in self._inputs.names if wd in taken.files for name in taken.files[wd]]
        named += [key for key in taken.directories if key[0] in self._inputs.names]
        ended = any(not name and taken.directories[wd, name] & (IGNORED | MOVE_SELF) for wd, name in named)
        written = {path for wd, name in named for path in self._inputs.concerned(wd, name)}
        late = taken.cookies and (self._inputs.moved() or self._tree.homes.ripened(self._rules))
        if ended or late or any(map(self._rules.changed_by, written)):
            dirt.rules_changed = True
        elif written:
            dirt.paths.add(GIT)

    def _changes(self, taken: Taken, dirt: Dirt) -> list[tuple[Node, bytes, int]]:
        """Return what is reported of the directories of the tree, and judge what governs by its name."""
        by_wd = self._tree.book.by_wd
        changes: dict[tuple[Node, bytes], int] = {}
        for (wd, name), mask in taken.directories.items():
            node = by_wd.get(wd)
            if node is None:
                continue
            if name:
                if self._rules.governs(os.fsdecode(name)):
                    dirt.rules_changed = True
                    if name == b".git":
                        self._tree.homes.note(node.path())
                changes[node, name] = changes.get((node, name), 0) | mask
            elif mask & IGNORED and node.parent is not None:
                # The kernel has dropped the watch: deleted, or what was mounted here is gone.
                key = (node.parent, node.name)
                changes[key] = changes.get(key, 0) | DELETE | CREATE
            elif mask & ATTRIB and node.parent is None:
                dirt.rescan = dirt.rescan or "the rights of the root were changed"
        return [(node, name, mask) for (node, name), mask in changes.items()]

    def _files(self, taken: Taken, dirt: Dirt) -> None:
        """Add the files that the rules let in."""
        by_wd, rules = self._tree.book.by_wd, self._rules
        for wd, names in taken.files.items():
            node = by_wd.get(wd)
            if node is None:
                continue
            directory = node.path()
            prefix = os.fsdecode(directory + b"/" if directory else b"")
            for name in map(os.fsdecode, names):
                if rules.governs(name) or prefix + name == REPOSITORY_FILE:
                    dirt.rules_changed = True
                    if name == ".git":
                        self._tree.homes.note(directory)
                if rules.file(prefix + name):
                    dirt.paths.add(prefix + name)

    # --- what has no watch

    def _poll(self, taken: Taken, dirt: Dirt) -> None:
        """Call dirty what has no watch, when somebody asks or it is time, and see whether it can have one by now."""
        failed = self._tree.failed
        if not failed:
            return
        due = time.monotonic() >= self._polled + self.poll_seconds
        if not (taken.cookies or due):
            return
        trees = list(map(os.fsdecode, failed))
        dirt.trees.update(trees)
        # Ignore files in there change unseen; whoever looks there reads them anew, and so do these rules.
        self._rules.forget(*trees)
        if due:
            self._polled = time.monotonic()
            self._tree.retry()
