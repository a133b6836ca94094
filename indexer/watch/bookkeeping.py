"""Which watch descriptor stands for which directory. No calls to the system: a tree of names, and a table.

A watch belongs to an inode and a name to a place, so a directory that is moved keeps its descriptor. The book is the
tree of places; a descriptor is at one place at most.
"""

from __future__ import annotations


class Node:
    """One watched directory. The root has no parent and an empty name."""

    __slots__ = ("kids", "name", "parent", "wd")

    def __init__(self, wd: int, parent: Node | None, name: bytes) -> None:
        self.wd = wd
        self.parent = parent
        self.name = name
        self.kids: dict[bytes, Node] = {}

    def path(self) -> bytes:
        """Return the path below the root, without a slash at its end; empty for the root."""
        parts = []
        node: Node | None = self
        while node is not None and node.parent is not None:
            parts.append(node.name)
            node = node.parent
        return b"/".join(reversed(parts))

    def is_below(self, other: Node) -> bool:
        """Tell whether this is the other one, or lies below it."""
        node: Node | None = self
        while node is not None:
            if node is other:
                return True
            node = node.parent
        return False


class Book:
    """All watched directories. Everything in ``by_wd`` can be reached from ``root``, and the other way round."""

    def __init__(self) -> None:
        self.by_wd: dict[int, Node] = {}
        self.root: Node | None = None

    def set_root(self, wd: int) -> Node:
        """Begin with a root."""
        self.root = Node(wd, None, b"")
        self.by_wd = {wd: self.root}
        return self.root

    def holds(self, node: Node) -> bool:
        """Tell whether a node is (still) part of the tree."""
        return self.by_wd.get(node.wd) is node

    def put(self, wd: int, parent: Node, name: bytes) -> tuple[Node, list[int]]:
        """Have a descriptor stand at a place, wherever it was; return its node, and the descriptors displaced by it.

        A node that was elsewhere comes with all that is below it. It must not be above the parent.
        """
        sitting = parent.kids.get(name)
        node = self.by_wd.get(wd)
        if node is not None and node is sitting:
            return node, []
        if node is None:
            node = self.by_wd[wd] = Node(wd, parent, name)
        else:
            self._leave(node)
            node.parent, node.name = parent, name
        displaced = [] if sitting is None or not self.holds(sitting) else self.cut(sitting)
        parent.kids[name] = node
        return node, displaced

    def cut(self, node: Node) -> list[int]:
        """Take a node out with all that is below it; return their descriptors."""
        self._leave(node)
        cut, pending = [], [node]
        while pending:
            here = pending.pop()
            pending += here.kids.values()
            cut.append(here.wd)
            del self.by_wd[here.wd]
        if node is self.root:
            self.root = None
        return cut

    @staticmethod
    def _leave(node: Node) -> None:
        if node.parent is not None and node.parent.kids.get(node.name) is node:
            del node.parent.kids[node.name]
