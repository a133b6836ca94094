"""Which file imports which: the imports of all live files, resolved to files of the tree.

A graph says nothing that its snapshot does not: the same paths, languages and imports give the same edges. Its successor
takes over what has not changed: as long as no file comes or goes, only files with new content are looked at, and what
an import means, once found out, is kept with the tree that it was found in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.search.file_graph import FileGraph
from indexer.search.import_languages import number_of
from indexer.search.import_meaning import Resolver
from indexer.store.format import NONE, Flag
from indexer.store.tables import take_ragged

if TYPE_CHECKING:
    from indexer.search.columns import I64
    from indexer.search.import_meaning import Roots
    from indexer.store import Snapshot


class ImportGraph(FileGraph):
    """The imports of a snapshot; ``made`` is what the next graph may take over."""

    def __init__(self, snapshot: Snapshot, before: ImportGraph | None = None) -> None:
        """Resolve the imports of a snapshot; ``before``, the graph of an earlier one, makes that quick."""
        sources = _Sources(snapshot)
        known = before.made if before is not None and before.made.sources.same_tree(sources) else None
        self.made: _Made = _more(snapshot, sources, known) if known else _all(snapshot, sources)
        if before is not None and self.made.edges is before.made.edges:
            vars(self).update(vars(before) | {"made": self.made})  # with all that was made of the edges
        else:
            super().__init__(self.made.edges, len(sources.paths))


class _Made(NamedTuple):
    """A graph, and what went into it: edges (e,) as importer * f + imported, ascending; ballots (2, b)."""

    sources: _Sources
    resolver: Resolver
    ballots: I64
    roots: Roots
    edges: I64


def _all(snapshot: Snapshot, sources: _Sources, resolver: Resolver | None = None) -> _Made:
    resolver = resolver or Resolver(sources.paths, sources.language)
    asked = resolver.ask(snapshot, np.arange(len(sources.paths)))
    roots = resolver.roots(asked.ballots[1])
    return _Made(sources, resolver, asked.ballots, roots, np.sort(resolver.edges(asked, roots)))


def _more(snapshot: Snapshot, sources: _Sources, known: _Made) -> _Made:
    """The graph of a snapshot of the same tree, in which some files have other contents."""
    changed = sources.changed(known.sources)
    if not len(changed):
        return known._replace(sources=sources)
    resolver, files = known.resolver, len(sources.paths)
    asked = resolver.ask(snapshot, changed)
    is_changed = np.zeros(files, np.bool_)
    is_changed[changed] = True
    of_changed = is_changed[known.ballots[0]]
    edges = resolver.edges(asked, known.roots)
    before = take_ragged(np.searchsorted(known.edges, np.arange(files + 1) * files), changed)[1]
    if np.array_equal(known.ballots[:, of_changed], asked.ballots) and np.array_equal(
        known.edges[before], edges
    ):
        return known._replace(sources=sources)  # nearly always: what is saved seldom imports anything new
    ballots = np.concatenate((known.ballots[:, ~of_changed], asked.ballots), axis=1)
    roots = resolver.roots(ballots[1])
    if (
        roots != known.roots
    ):  # a few changed imports can change what all others mean, though they hardly ever do
        return _all(snapshot, sources, resolver)
    return _Made(sources, resolver, ballots, roots, np.sort(np.append(np.delete(known.edges, before), edges)))


class _Sources:
    """What the edges of a snapshot depend on: the tree (paths and languages), and the content of each file."""

    def __init__(self, snapshot: Snapshot) -> None:
        files = snapshot.files
        names, language = np.unique(files.language, return_inverse=True)
        numbers = [number_of(name) for name in snapshot.strings(names)]
        self.paths = snapshot.paths
        self.language: I64 = np.array(numbers, np.int64)[language]
        self._chunker = snapshot.identity.chunker
        self._content = files.content_hash
        self._cut = ((files.flags & Flag.HASHED) != 0) & (files.block != NONE)

    def same_tree(self, other: _Sources) -> bool:
        """Whether the same files are there, and cut by the same rules."""
        return (
            self._chunker == other._chunker
            and self.paths == other.paths
            and np.array_equal(self.language, other.language)
        )

    def changed(self, other: _Sources) -> I64:
        """Files whose imports may not be what they were, given that the trees are the same."""
        same = (self._content == other._content).all(axis=1)
        return np.flatnonzero(~(same & self._cut & other._cut))
