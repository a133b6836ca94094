"""A snapshot's rows as the numbers that ranking needs: how often a term stands in each row and file, and lengths.

Everything counts *live* rows, as whole numbers, in the canonical order of rows: the ids of strings and contents,
which depend on history, only ever serve to look something up.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.search.columns import F64, I64, Found, Inverse, relative
from indexer.search.imports import ImportGraph
from indexer.search.tree import TreeColumns
from indexer.search.uses import type_uses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.file_graph import FileGraph
    from indexer.search.query import Term
    from indexer.store import Snapshot
    from indexer.types import Span

_MINOR = 0.1  # of all files: a language with fewer is not what the repository is written in


class Names(NamedTuple):
    """Strings (symbols, scopes, paths, whatever has a name) that hold a term, and how often each does."""

    strings: NDArray[np.uint32]
    often: NDArray[np.uint16]


class Corpus:
    """A view of one snapshot; columns are made when first needed and kept with it. Threads may share one.

    ``before``, the view of the generation before, lends what has not changed.
    """

    def __init__(self, snapshot: Snapshot, before: Corpus | None = None) -> None:
        self.snapshot = snapshot
        self.file: NDArray[np.int64] = snapshot.rows.file.astype(np.int64)
        self.content = snapshot.rows.content
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
    def row_length(self) -> F64:
        """Terms in each row's body, as multiples of the average."""
        return relative(self.snapshot.content_length[self.content].astype(np.float64))

    @cached_property
    def file_name_length(self) -> F64:
        """Terms in the symbols of each file's rows, as multiples of the average."""
        lengths = self.snapshot.string_length[self.snapshot.symbol]
        return relative(np.bincount(self.file, lengths, self.files))

    # --- files

    @cached_property
    def indexed(self) -> I64:
        """Files that have rows, ascending."""
        return np.flatnonzero(np.diff(self.snapshot.files.first_row))

    def best_of_files(self, rows: F64) -> F64:
        """Return the highest of each file's rows (f,); 0 for a file without any."""
        return self._by_file(np.maximum, rows)

    def sums_of_files(self, rows: F64) -> F64:
        """Add up each file's rows (f,)."""
        return self._by_file(np.add, rows)

    def best_of_some(self, rows: I64, values: F64) -> F64:
        """Return the highest value (n,) of some rows (n,) by file (f,); 0 for a file without any of them."""
        column = np.zeros(self.files)
        np.maximum.at(column, self.file[rows], values)
        return column

    def _by_file(self, reduce: np.ufunc, rows: F64) -> F64:
        column = np.zeros(self.files)
        if len(self.indexed):
            column[self.indexed] = reduce.reduceat(rows, self.snapshot.files.first_row[self.indexed])
        return column

    @cached_property
    def is_minor(self) -> NDArray[np.bool_]:
        """Files (f,) in a language that few files of the tree are in."""
        language = self.snapshot.files.language
        share = np.bincount(language) / max(self.files, 1)
        minor: NDArray[np.bool_] = share[language] < _MINOR
        return minor

    def rows_of(self, file: int) -> range:
        """Return the rows of a file."""
        first = self.snapshot.files.first_row
        return range(int(first[file]), int(first[file + 1]))

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

    @cached_property
    def _string_bytes(self) -> I64:
        """Bytes of each string; 0 for strings that are no live row's symbol."""
        sizes = np.zeros(self.snapshot.string_count, np.int64)
        symbols = self.snapshot.symbol
        if len(symbols):
            sizes[symbols] = self.snapshot.string_size[symbols]
        return sizes

    def symbols_like(self, names: Names, size: int) -> list[int]:
        """Those of some strings that are symbols and of about ``size`` bytes (underscores may add some)."""
        sizes = self._string_bytes[names.strings]
        return sorted(names.strings[(sizes >= size) & (sizes <= size + 4)].tolist())

    def symbols_among(self, names: Names) -> NDArray[np.uint32]:
        """Those of some strings that are symbols of live rows."""
        symbols: NDArray[np.uint32] = names.strings[self._string_bytes[names.strings] > 0]
        return symbols

    def rows_with_symbols(self, symbols: Sequence[int]) -> I64:
        """Rows whose symbol is one of these strings, ascending."""
        return np.sort(self.symbol.find(np.array(symbols, np.int64), np.ones(len(symbols))).at)

    def string_id(self, text: str) -> int:
        """Return the id of a string, -1 if it is nowhere; remembered, for the few that are asked for again and again."""
        if text not in self._string_ids:
            number = self.snapshot.string_id(text)
            self._string_ids[text] = -1 if number is None else number
        return self._string_ids[text]

    @cached_property
    def symbols(self) -> list[tuple[int, str]]:
        """Symbols of live rows: string id and text."""
        numbers = np.flatnonzero(self._string_bytes).tolist()
        return [(number, self.snapshot.string(number)) for number in numbers]

    # --- terms

    def rarest(self, terms: Sequence[Term], most: int = 48) -> Sequence[Term]:
        """Return the terms, or of very many (a pasted file) those that the fewest contents hold."""
        if len(terms) <= most:
            return terms
        held = [(self.holding(term.hash) or self.rows, at) for at, term in enumerate(terms)]
        return [terms[at] for at in sorted(at for _, at in sorted(held)[:most])]

    def holding(self, term: int) -> int:
        """Count the contents that hold a term."""
        return len(self.snapshot.postings(term)[0])

    def names(self, term: int) -> Names:
        """Strings that hold a term."""
        return Names(*self.snapshot.name_postings(term))

    def bodies(self, term: int) -> Found:
        """Rows whose body holds a term."""
        # Bound or not: contents that no row has are left out here.
        return self._contents.find(*self.snapshot.stack.postings("body", term))

    def rows_alike(self, row: int) -> list[int]:
        """Rows that have the same content as a row, that one among them, ascending."""
        found = self._contents.find(self.content[row : row + 1], np.ones(1))
        return sorted(found.at.tolist())

    @cached_property
    def _contents(self) -> Inverse:
        return Inverse(self.content, self.snapshot.content_count)

    @cached_property
    def symbol(self) -> Inverse:
        """From strings to the rows of which they are the symbol."""
        return Inverse(self.snapshot.symbol, self.snapshot.string_count)

    @cached_property
    def scope(self) -> Inverse:
        """From strings to the rows of which they are the scope."""
        return Inverse(self.snapshot.scope, self.snapshot.string_count)

    @cached_property
    def files_by_path(self) -> Inverse:
        """From strings to the files of which they are the path."""
        return Inverse(self.snapshot.files.path, self.snapshot.string_count)

    def to_rows(self, files: Found) -> Found:
        """Give the rows of files what the files have."""
        return self._rows_of_files.find(files.at, files.often)

    @cached_property
    def _rows_of_files(self) -> Inverse:
        return Inverse(self.file, self.files)
