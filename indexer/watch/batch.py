"""What the watch tells: batches of what is dirty, and how the watching itself is doing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from indexer.scan.trees import outermost, outside

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERYTHING = frozenset({""})
GIT = ".git"


@dataclass(frozen=True, slots=True)
class Batch:
    """What is dirty since the batch before. Paths are relative to the root, as in `indexer.types`.

    ``paths`` are files (temporary names and such that are gone again among them), ``trees`` directories whose whole
    sub-tree is dirty (the empty path: everything). ``rescan`` says why everything has to be scanned; then ``trees``
    holds the empty path alone. ``rules_changed``: load the rules anew, give them to `Watch.set_rules`, then scan.
    ``.git`` among the paths: git has written its index, and these rules are none the worse for it; whoever goes by
    rules of his own asks them (`Rules.changed`).
    ``root_gone`` says that the root is not there, and why; nothing is known then, and a batch with ``rescan`` follows
    when it is back. ``cookies`` are the questions that this batch, with those before it, answers.
    """

    paths: frozenset[str] = frozenset()
    trees: frozenset[str] = frozenset()
    rescan: str = ""
    rules_changed: bool = False
    cookies: frozenset[int] = frozenset()
    root_gone: str = ""


@dataclass(frozen=True, slots=True)
class WatchState:
    """How changes are noticed. ``mode``: "inotify", "stock" (the platform's own observer) or "polling".

    ``directories`` have a watch. ``rearms`` counts how often all of it was watched anew. ``failed`` maps what has no
    watch to the reason (the errno's name first, if there is one). ``problems`` are lines for the user.
    """

    mode: str
    directories: int = 0
    rearms: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    root_gone: str = ""


class Dirt:
    """What gathers for the next batch."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.trees: set[str] = set()
        self.rescan = ""
        self.rules_changed = False
        self.root_gone = ""
        self.cookies: set[int] = set()

    def everything(self, why: str) -> None:
        """Have all of it scanned, by rules that are loaded anew: they may have changed unseen. The first reason stays."""
        self.rescan = self.rescan or why
        self.rules_changed = True

    def batch(self) -> Batch | None:
        """Return it as a batch, each thing named once; None when there is nothing to tell."""
        news = self.rescan or self.root_gone or self.rules_changed
        if not (self.paths or self.trees or self.cookies or news):
            return None
        if self.rescan:
            paths, trees = frozenset[str](), EVERYTHING
        else:
            trees = outermost(self.trees)
            paths = frozenset(outside(self.paths, trees))
        return Batch(paths, trees, self.rescan, self.rules_changed, frozenset(self.cookies), self.root_gone)
