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
    resolver = known.resolver
    asked = resolver.ask(snapshot, changed)
    kept = known.ballots[:, ~np.isin(known.ballots[0], changed)]
    ballots = np.concatenate((kept, asked.ballots), axis=1)
    roots = resolver.roots(ballots[1])
    if (
        roots != known.roots
    ):  # a few changed imports can change what all others mean, though they hardly ever do
        return _all(snapshot, sources, resolver)
    kept = known.edges[~np.isin(known.edges // len(sources.paths), changed)]
    return _Made(sources, resolver, ballots, roots, np.sort(np.append(kept, resolver.edges(asked, roots))))


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
