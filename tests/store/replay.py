"""A recorded run of the store's file operations, and what a crash after any of them may leave on the disk.

After ``kill -9`` all operations so far have happened, and the one under way by half. After a power cut only what was
synced is certain: of the names in a directory any subset of the changes since its last sync may have arrived, and of
a file's bytes since its last sync all, none or half.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from indexer.store.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from indexer.store.disk import Buffer

T = TypeVar("T")
Tree = dict[str, "bytes | None"]  # path -> bytes, None for a directory
_FEW = 7


class Operation(NamedTuple):
    """One change or sync: what, on which path, with which other path or bytes."""

    what: str
    path: Path
    other: Path | None = None
    data: bytes = b""


class Recorder(Disk):
    """The real disk; keeps what was done to it. Operations that failed are not among them."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def make_directory(self, path: Path) -> None:
        super().make_directory(path)
        self.operations.append(Operation("make", path))

    def write(self, path: Path, parts: Sequence[Buffer]) -> None:
        super().write(path, parts)
        self.operations.append(Operation("write", path, data=b"".join(bytes(part) for part in parts)))

    def sync(self, path: Path) -> None:
        self.operations.append(Operation("sync", path))

    def sync_directory(self, path: Path) -> None:
        self.operations.append(Operation("sync", path))

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self.operations.append(Operation("rename", old, new))

    def link(self, old: Path, new: Path) -> None:
        super().link(old, new)
        self.operations.append(Operation("link", old, new))

    def remove(self, path: Path) -> None:
        super().remove(path)
        self.operations.append(Operation("remove", path))

    def remove_directory(self, path: Path) -> None:
        super().remove_directory(path)
        self.operations.append(Operation("remove", path))


@dataclass(eq=False)
class File:
    """A file's bytes, and whether they are synced."""

    data: bytes
    synced: bool = False


@dataclass(eq=False)
class Directory:
    """Names now, names as last synced, and the changes in between: (name that goes, name that comes, to what)."""

    now: dict[str, File | Directory] = field(default_factory=dict)
    synced: dict[str, File | Directory] = field(default_factory=dict)
    changes: list[tuple[str, str, File | Directory | None]] = field(default_factory=list)

    def change(self, gone: str, name: str, node: File | Directory | None) -> None:
        self.changes.append((gone, name, node))
        _change(self.now, gone, name, node)


def _change(names: dict[str, File | Directory], gone: str, name: str, node: File | Directory | None) -> None:
    names.pop(gone, None)
    if node is not None:
        names[name] = node


_Names = dict[str, File | Directory]


class World:
    """What a disk holds after some of the operations below ``top``."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.tree = Directory()

    def _folder(self, path: Path) -> Directory:
        node: File | Directory = self.tree
        for part in path.relative_to(self.top).parts:
            assert isinstance(node, Directory)
            node = node.now[part]
        assert isinstance(node, Directory)
        return node

    def apply(self, operation: Operation, part: float = 1.0) -> None:
        """Go on by one operation; of a write this part of its bytes."""
        what, path, other, data = operation
        if what == "nothing":
            return
        if what == "sync":
            self._sync(path)
            return
        folder = self._folder(path.parent)
        if what == "make":
            folder.change("", path.name, Directory())
        elif what == "write":
            folder.change("", path.name, File(data[: int(len(data) * part)]))
        elif what == "remove":
            folder.change(path.name, "", None)
        else:
            assert other is not None
            assert other.parent == path.parent
            folder.change(path.name if what == "rename" else "", other.name, folder.now[path.name])

    def _sync(self, path: Path) -> None:
        node = self.tree if path == self.top else self._folder(path.parent).now[path.name]
        if isinstance(node, File):
            node.synced = True
        else:
            node.synced = dict(node.now)
            node.changes.clear()

    # --- what may be left

    def killed(self) -> Tree:
        """Tree after ``kill -9``."""
        return _listing(self.tree, lambda folder: folder.now, lambda file: file.data)

    def power_cut(self, main: Path, *, every: bool = False) -> Iterator[Tree]:
        """Trees after a power cut: which changes of names arrived, and how much of the bytes that were not synced.

        Of the changes in ``main`` many subsets are tried, with ``every`` all of them while they are few; of those in
        each other directory none and all.
        """
        names = main.relative_to(self.top).parts
        folder = self._folder(main) if not names or names[0] in self.tree.now else self.tree
        for pick in _picks(len(folder.changes), every=every):
            for keep, others in ((_nothing, False), (_half, True), (_nothing, True), (_everything, True)):

                def arrived(one: Directory, pick: list[int] = pick, others: bool = others) -> _Names:
                    if one is not folder:
                        return one.now if others else one.synced
                    return _arrived(one, pick)

                def data(file: File, keep: Callable[[bytes], bytes] = keep) -> bytes:
                    return file.data if file.synced else keep(file.data)

                yield _listing(self.tree, arrived, data)


def _nothing(data: bytes) -> bytes:
    return data[:0]


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _everything(data: bytes) -> bytes:
    return data


def _picks(count: int, *, every: bool) -> list[list[int]]:
    """Subsets of the changes: every prefix, every one missing, every one alone; with ``every`` all, while they are few."""
    if every and count <= _FEW:
        return [[at for at in range(count) if bits >> at & 1] for bits in range(1 << count)]
    whole = list(range(count))
    some = [whole[:end] for end in range(count + 1)]
    some += [[at for at in whole if at != out] for out in whole]
    some += [[at] for at in whole]
    return [list(pick) for pick in dict.fromkeys(map(tuple, some))]


def _arrived(folder: Directory, pick: list[int]) -> _Names:
    names = dict(folder.synced)
    for at in pick:
        _change(names, *folder.changes[at])
    return names


def _listing(
    folder: Directory,
    names: Callable[[Directory], _Names],
    data: Callable[[File], bytes],
    prefix: str = "",
) -> Tree:
    found: Tree = {}
    for name, node in names(folder).items():
        if isinstance(node, File):
            found[prefix + name] = data(node)
        else:
            found[prefix + name] = None
            found |= _listing(node, names, data, prefix + name + "/")
    return found


def lay_out(tree: Tree, top: Path) -> None:
    """Make a tree for real."""
    top.mkdir(parents=True)
    for path, data in sorted(tree.items()):
        if data is None:
            (top / path).mkdir()
        else:
            (top / path).write_bytes(data)
