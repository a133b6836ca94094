"""A snapshot's rows as the numbers that ranking needs: how often a term stands in each row and file, and lengths.

Everything counts *live* rows, as whole numbers, in the canonical order of rows: the ids of strings and contents,
which depend on history, only ever serve to look something up.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.search.columns import F64, I64, Inverse, LaterInverse, average, sums
from indexer.search.imports import ImportGraph
from indexer.search.tree import TreeColumns
from indexer.search.uses import type_uses
from indexer.store import Held
from indexer.store.tables import take_ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.file_graph import FileGraph
    from indexer.search.query import Term
    from indexer.store import Snapshot
    from indexer.store.since import Edits
    from indexer.types import Span

MOST_TERMS = 48  # of a question's terms that are looked at
_MINOR = 0.1  # of all files: a language with fewer is not what the repository is written in


class Grown(NamedTuple):
    """The view of an earlier snapshot, and what has changed since: see `indexer.store.since`."""

    trunk: Corpus
    files: Edits
    rows: Edits


class Corpus:
    """A view of one snapshot; columns are made when first needed and kept with it. Threads may share one.

    ``before``, the view of an earlier generation, lends what has not changed.
    """

    def __init__(self, snapshot: Snapshot, before: Corpus | None = None) -> None:
        self.snapshot = snapshot
        self.grown = _grown(snapshot, before)
        self.file, self.content = _columns(snapshot, self.grown)
        self.rows = len(self.file)
        self.files = len(snapshot.files.path)
        self.tree: TreeColumns = TreeColumns.of(snapshot.paths, before.tree if before else None)
        self._string_ids: dict[str, int] = {}
        self._spans_of: tuple[int, list[tuple[int, Span]]] = (-1, [])
        self._imports_before = before.made_imports if before else None

    @classmethod
    def of(cls, snapshot: Snapshot | Corpus) -> Corpus:
        """Return the view of a snapshot, or the one that is given."""
        return snapshot if isinstance(snapshot, Corpus) else cls(snapshot)

    @property
    def made_imports(self) -> ImportGraph | None:
        """The graph of imports, if anybody has asked for it, or the one that it would be made from."""
        made: ImportGraph | None = self.__dict__.get("imports", self._imports_before)
        return made

    @cached_property
    def imports(self) -> ImportGraph:
        """Which file imports which."""
        graph, self._imports_before = ImportGraph(self.snapshot, self._imports_before), None
        return graph

    @cached_property
    def graph(self) -> FileGraph:
        """Which file depends on which: by imports, and where files need none by the types they name."""
        uses = type_uses(self.snapshot)
        return self.imports.joined(uses) if len(uses.edges) else self.imports

    # --- lengths

    @cached_property
    def row_terms(self) -> NDArray[np.uint32]:
        """Terms in each row's body."""
        if self.grown is None:
            return self.snapshot.content_length[self.content]
        fresh = self.content[self.grown.rows.fresh]
        lengths = self.snapshot.stack.gather("contents", "content_lengths", fresh)
        return self.grown.rows.splice(self.grown.trunk.row_terms, lengths)

    @cached_property
    def _row_average(self) -> float:
        return average(self.row_terms)

    def row_length(self, rows: I64) -> F64:
        """Terms in the bodies of some rows (n,), as multiples of the average of all."""
        return self.row_terms[rows] / self._row_average

    @cached_property
    def file_name_terms(self) -> F64:
        """Terms in the symbols of each file's rows (f,)."""
        if self.grown is None:
            return sums(self.file, self.snapshot.string_length[self.snapshot.symbol], self.files)
        files, rows = self.grown.files.fresh, self.grown.rows.fresh
        lengths = self.snapshot.lengths_of(self.snapshot.symbol[rows].astype(np.int64))
        fresh = sums(files.searchsorted(self.file[rows]), lengths, len(files))
        return self.grown.files.splice(self.grown.trunk.file_name_terms, fresh)

    @cached_property
    def _file_name_average(self) -> float:
        return average(self.file_name_terms)

    def file_name_length(self, files: I64) -> F64:
        """Terms in the symbols of some files' rows (n,), as multiples of the average of all."""
        return self.file_name_terms[files] / self._file_name_average

    # --- files

    @cached_property
    def indexed(self) -> I64:
        """Files that have rows, ascending."""
        return np.flatnonzero(self.has_rows)

    @cached_property
    def first_of_indexed(self) -> I64:
        """First row of each file that has rows."""
        return self.snapshot.files.first_row[self.indexed]

    @cached_property
    def rows_held(self) -> F64:
        """How many rows each file (f,) has, at least 1: what a sum is divided by."""
        return np.maximum(np.diff(self.snapshot.files.first_row), 1).astype(np.float64)

    @cached_property
    def has_rows(self) -> NDArray[np.bool_]:
        """Whether each file (f,) has rows."""
        return np.diff(self.snapshot.files.first_row) > 0

    def best_of_files(self, rows: F64) -> F64:
        """Return the highest of each file's rows (f,); 0 for a file without any."""
        column = np.zeros(self.files)
        if len(self.indexed):
            column[self.indexed] = np.maximum.reduceat(rows, self.first_of_indexed)
        return column

    def sums_of_files(self, rows: F64) -> F64:
        """Add up each file's rows (f,)."""
        column = np.zeros(self.files)
        if len(self.indexed):
            column[self.indexed] = np.add.reduceat(rows, self.first_of_indexed)
        return column

    def best_of_some(self, rows: I64, values: F64) -> F64:
        """Return the highest value (n,) of some rows (n,) by file (f,); 0 for a file without any of them."""
        column = np.zeros(self.files)
        np.maximum.at(column, self.file[rows], values)
        return column

    @cached_property
    def is_minor(self) -> NDArray[np.bool_]:
        """Files (f,) in a language that few files of the tree are in."""
        languages = self.snapshot.files.language
        if self.grown and np.array_equal(languages, self.grown.trunk.snapshot.files.language):
            return self.grown.trunk.is_minor
        _, language = np.unique(languages, return_inverse=True)
        share = np.bincount(language) / max(self.files, 1)
        minor: NDArray[np.bool_] = share[language] < _MINOR
        return minor

    def rows_of(self, file: int) -> range:
        """Return the rows of a file."""
        first = self.snapshot.files.first_row
        return range(int(first[file]), int(first[file + 1]))

    def rows_of_files(self, files: I64) -> I64:
        """Return the rows of some files (n,), in the order of the files."""
        first = self.snapshot.files.first_row
        return take_ragged(first, files)[1]

    def path(self, row: int) -> str:
        """Path of a row's file."""
        path: str = self.snapshot.paths[self.file[row]]
        return path

    def row_at(self, file: int, at: int) -> int | None:
        """Row that holds a byte of a file; of several (parts overlap) the one that starts last. None in a gap."""
        holding = [(span.start, row) for row, span in self._spans(file) if span.start <= at < span.end]
        return max(holding)[1] if holding else None

    def row_near_line(self, file: int, line: int) -> int | None:
        """Row at a line of a file, the smallest if several; else the nearest, rather above. None without any row."""
        near = [
            (
                max(span.start_line - line, line - span.end_line, 0),
                span.start_line > line,
                span.end_line - span.start_line,
                row,
            )
            for row, span in self._spans(file)
        ]
        return min(near)[-1] if near else None

    def _spans(self, file: int) -> list[tuple[int, Span]]:
        """Spans of all rows of a file; those of the file asked for last are kept."""
        last, spans = self._spans_of
        if last != file:
            spans = [(row, span) for row in self.rows_of(file) for span in self.snapshot.spans(row)]
            self._spans_of = (file, spans)
        return spans

    # --- symbols

    def symbol_size(self, strings: I64) -> I64:
        """Bytes of some strings (n,); 0 for those that are no live row's symbol."""
        held = self.symbol.holds(strings)
        sizes = np.zeros(len(strings), np.int64)
        sizes[held] = self.snapshot.stack.sizes("strings", "string_offsets", strings[held])
        return sizes

    def rows_with_symbols(self, symbols: Sequence[int]) -> I64:
        """Rows whose symbol is one of these strings, ascending."""
        return np.sort(self.symbol.find(np.array(symbols, np.int64))[0])

    def string_id(self, text: str) -> int:
        """Return the id of a string, -1 if it is nowhere; remembered, for the few that are asked for again and again."""
        if text not in self._string_ids:
            number = self.snapshot.string_id(text)
            self._string_ids[text] = -1 if number is None else number
        return self._string_ids[text]

    @cached_property
    def symbols(self) -> list[tuple[int, str]]:
        """Symbols of live rows: string id and text."""
        numbers = np.unique(self.snapshot.symbol)
        named = zip(numbers.tolist(), self.snapshot.strings(numbers), strict=True)
        return [(number, text) for number, text in named if text]

    # --- terms

    def rarest(self, terms: Sequence[Term], most: int = MOST_TERMS) -> Sequence[Term]:
        """Return the terms, or of very many (a pasted file) those that the fewest contents hold."""
        if len(terms) <= most:
            return terms
        held = self.holding(np.array([term.hash for term in terms], np.uint64))
        rarest = np.argsort(np.where(held, held, self.rows), kind="stable")[:most]
        return [terms[at] for at in np.sort(rarest).tolist()]

    def holding(self, terms: NDArray[np.uint64]) -> I64:
        """Count the live contents that hold each of some terms (n,)."""
        held = self.snapshot.holding(terms)
        return np.bincount(held.place[self.contents.holds(held.ids)], minlength=len(terms))

    def names(self, terms: NDArray[np.uint64]) -> Held:
        """Strings (symbols, scopes, paths, whatever has a name) that hold each of some terms (n,), by place."""
        return by_place(self.snapshot.names_holding(terms))

    def bodies(self, terms: NDArray[np.uint64]) -> Held:
        """Rows whose body holds each of some terms (n,), by place."""
        # Bound or not: contents that no row has are left out here.
        return self.contents.pass_on(by_place(self.snapshot.holding(terms)))

    def rows_alike(self, rows: Sequence[int]) -> list[list[int]]:
        """Rows that have the same content as each of some rows, that one among them, ascending."""
        found, of = self.contents.find(self.content[rows])
        alike: list[list[int]] = [[] for _ in rows]
        for row, at in zip(found.tolist(), of.tolist(), strict=True):
            alike[at].append(row)
        return list(map(sorted, alike))

    @cached_property
    def contents(self) -> Inverse:
        """From contents to the rows that have them."""
        if self.grown:
            return LaterInverse(self.grown.trunk.contents, self.grown.rows, self.content)
        return Inverse(self.content, self.snapshot.content_count)

    @cached_property
    def symbol(self) -> Inverse:
        """From strings to the rows of which they are the symbol."""
        if self.grown:
            return LaterInverse(self.grown.trunk.symbol, self.grown.rows, self.snapshot.symbol)
        return Inverse(self.snapshot.symbol, self.snapshot.string_count)

    @cached_property
    def scope(self) -> Inverse:
        """From strings to the rows of which they are the scope."""
        if self.grown:
            return LaterInverse(self.grown.trunk.scope, self.grown.rows, self.snapshot.scope)
        return Inverse(self.snapshot.scope, self.snapshot.string_count)

    @cached_property
    def files_by_path(self) -> Inverse:
        """From strings to the files of which they are the path."""
        if self.grown:
            return LaterInverse(self.grown.trunk.files_by_path, self.grown.files, self.snapshot.files.path)
        return Inverse(self.snapshot.files.path, self.snapshot.string_count)

    def in_rows(self, held: Held) -> Held:
        """Pass on what some files hold, by place, to their rows; by place too."""
        cut, rows = take_ragged(self.snapshot.files.first_row, held.ids)
        lengths = cut[1:] - cut[:-1]
        return Held(held.place.repeat(lengths), rows, held.often.repeat(lengths))


def _grown(snapshot: Snapshot, before: Corpus | None) -> Grown | None:
    """Find the view that the snapshot's columns are spliced from, if ``before`` or its own trunk is one of that."""
    trunk = before.grown.trunk if before and before.grown else before
    if trunk is None or snapshot.since is None or trunk.snapshot is not snapshot.since.trunk:
        return None
    return Grown(trunk, snapshot.since.files, snapshot.since.rows)


def _columns(snapshot: Snapshot, grown: Grown | None) -> tuple[I64, I64]:
    """File and content of each row, in numpy's own index type, which is the quick one.

    Made with each generation, whether or not anybody asks: of a million rows a copy takes a millisecond.
    """
    if grown is None or not grown.files.in_place:
        return snapshot.rows.file.astype(np.int64), snapshot.rows.content.astype(np.int64)
    splice, fresh = grown.rows.splice, snapshot.fresh
    return splice(grown.trunk.file, fresh.file), splice(grown.trunk.content, fresh.content)


def by_place(held: Held) -> Held:
    """Sort by place, unless it is so already; what stands at one place keeps its order."""
    if not np.count_nonzero(held.place[1:] < held.place[:-1]):
        return held
    order = held.place.argsort(kind="stable")
    return Held(held.place[order], held.ids[order], held.often[order])
