"""A snapshot's rows as the numbers that ranking needs: how often a term stands in each row and file, and lengths.

Everything counts *live* rows, as whole numbers, in the canonical order of rows: the ids of strings and contents,
which depend on history, only ever serve to look something up.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from indexer import tokens
from indexer.search.places import places_of

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.search.query import Term
    from indexer.store import Snapshot
    from indexer.types import Span


class Found(NamedTuple):
    """Rows (or files) that hold a term, ascending, and how often each does."""

    at: I64
    often: F64


class TermRows(NamedTuple):
    """Where one term stands: in rows' bodies, symbols and scopes, and in files' paths."""

    body: Found
    symbol: Found
    scope: Found
    path: Found


class Words(NamedTuple):
    """The terms of some texts: each term and its text (t,), the number of different terms of each text (n,)."""

    terms: NDArray[np.uint64]
    owner: I64
    sizes: F64

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.sizes)


def _words(texts: Sequence[bytes]) -> Words:
    offsets, terms, _ = tokens.count_terms(texts)
    sizes = np.diff(offsets)
    return Words(terms, np.repeat(np.arange(len(texts)), sizes), np.maximum(sizes, 1).astype(np.float64))


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


class _Inverse:
    """From the values of a column of ids back to the rows that have them."""

    def __init__(self, column: NDArray[Any], values: int) -> None:
        self._rows = np.argsort(column, kind="stable")
        self._offsets = np.zeros(values + 1, np.int64)
        np.cumsum(np.bincount(column, minlength=values), out=self._offsets[1:])

    def find(self, ids: NDArray[Any], counts: NDArray[Any]) -> Found:
        starts = self._offsets[ids]
        lengths = self._offsets[ids.astype(np.int64) + 1] - starts
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        rows = self._rows[np.arange(total) + np.repeat(starts - ends + lengths, lengths)]
        return Found(rows, np.repeat(counts, lengths).astype(np.float64))


def _relative(lengths: NDArray[Any]) -> F64:
    """Divide by the average, which is a quotient of whole numbers and so the same whatever the history."""
    average = float(lengths.sum()) / max(len(lengths), 1) or 1.0
    relative: F64 = lengths / average
    return relative


class Corpus:
    """A view of one snapshot; columns are made when first needed and kept with it. Threads may share one."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.file: NDArray[np.int64] = snapshot.rows.file.astype(np.int64)
        self.content = snapshot.rows.content
        self.rows = len(self.file)
        self.files = len(snapshot.files.path)
        self._places: dict[int, int] = {}
        self._string_ids: dict[str, int] = {}
        self._spans_of: tuple[int, list[tuple[int, Span]]] = (-1, [])

    @classmethod
    def of(cls, snapshot: Snapshot | Corpus) -> Corpus:
        """Return the view of a snapshot, or the one that is given."""
        return snapshot if isinstance(snapshot, Corpus) else cls(snapshot)

    @cached_property
    def row_length(self) -> F64:
        """Terms in each row's body, as multiples of the average."""
        return _relative(self._terms)

    @cached_property
    def file_length(self) -> F64:
        """Terms in the bodies of each file's rows, as multiples of the average."""
        return _relative(np.bincount(self.file, self._terms, self.files))

    @cached_property
    def file_name_length(self) -> F64:
        """Terms in the symbols of each file's rows, as multiples of the average."""
        lengths = self.snapshot.string_length[self.snapshot.symbol]
        return _relative(np.bincount(self.file, lengths, self.files))

    @cached_property
    def _terms(self) -> F64:
        return self.snapshot.content_length[self.content].astype(np.float64)

    @cached_property
    def indexed(self) -> NDArray[np.bool_]:
        """Files that have rows."""
        present = np.zeros(self.files, np.bool_)
        present[self.file] = True
        return present

    @cached_property
    def _string_bytes(self) -> I64:
        """Bytes of each string; 0 for strings that are no live row's symbol."""
        sizes = np.zeros(self.snapshot.string_count, np.int64)
        symbols = self.snapshot.symbol
        if len(symbols):
            sizes[symbols] = self.snapshot.string_size[symbols]
        return sizes

    def symbols_like(self, whole: int, size: int) -> list[int]:
        """Symbols of live rows that hold a term and are of about ``size`` bytes (underscores may add some)."""
        ids, _ = self.snapshot.name_postings(whole)
        sizes = self._string_bytes[ids]
        return sorted(ids[(sizes >= size) & (sizes <= size + 4)].tolist())

    def rows_with_symbols(self, symbols: Sequence[int]) -> I64:
        """Rows whose symbol is one of these strings, ascending."""
        return np.sort(self._symbols.find(np.array(symbols, np.int64), np.ones(len(symbols))).at)

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

    def path(self, row: int) -> str:
        """Path of a row's file."""
        path: str = self.snapshot.paths[self.file[row]]
        return path

    def files_called(self, wanted: str) -> list[int]:
        """Files whose path is ``wanted`` or ends with it after a ``/``, letters' case aside."""
        end = "/" + wanted
        same = self._files_by_name.get(wanted.rpartition("/")[2], [])
        return [file for file in same if ("/" + self.snapshot.paths[file].lower()).endswith(end)]

    @cached_property
    def _files_by_name(self) -> dict[str, list[int]]:
        files: dict[str, list[int]] = {}
        for file, path in enumerate(self.snapshot.paths):
            files.setdefault(path.rpartition("/")[2].lower(), []).append(file)
        return files

    def rarest(self, terms: Sequence[Term], most: int = 48) -> Sequence[Term]:
        """Return the terms, or of very many (a pasted file) those that the fewest contents hold."""
        if len(terms) <= most:
            return terms
        held = [(self.holding(term.hash) or self.rows, at) for at, term in enumerate(terms)]
        return [terms[at] for at in sorted(at for _, at in sorted(held)[:most])]

    def holding(self, term: int) -> int:
        """Count the contents that hold a term."""
        return len(self.snapshot.postings(term)[0])

    def term(self, term: int) -> TermRows:
        """Find one term everywhere."""
        body = self._contents.find(*self.snapshot.postings(term))
        names = self.snapshot.name_postings(term)
        return TermRows(body, self._symbols.find(*names), self._scopes.find(*names), self._paths.find(*names))

    @cached_property
    def _contents(self) -> _Inverse:
        return _Inverse(self.content, self.snapshot.content_count)

    @cached_property
    def _symbols(self) -> _Inverse:
        return _Inverse(self.snapshot.symbol, self.snapshot.string_count)

    @cached_property
    def _scopes(self) -> _Inverse:
        return _Inverse(self.snapshot.scope, self.snapshot.string_count)

    @cached_property
    def _paths(self) -> _Inverse:
        return _Inverse(self.snapshot.files.path, self.snapshot.string_count)

    def to_files(self, rows: Found) -> F64:
        """Add up counts of rows by file (f,)."""
        return np.bincount(self.file[rows.at], rows.often, self.files).astype(np.float64)

    def to_rows(self, files: Found) -> Found:
        """Give the rows of files what the files have."""
        return self._rows_of_files.find(files.at, files.often)

    @cached_property
    def _rows_of_files(self) -> _Inverse:
        return _Inverse(self.file, self.files)

    def rows_of(self, file: int) -> range:
        """Return the rows of a file."""
        first = self.snapshot.files.first_row
        return range(int(first[file]), int(first[file + 1]))

    def places(self, files: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Kind of place (bits of `places.Place`) of each of the given files."""
        paths = self.snapshot.paths
        for file in files.tolist():
            if file not in self._places:
                self._places[file] = places_of(paths[file])
        return np.array([self._places[file] for file in files.tolist()], np.uint8)

    @cached_property
    def stem_words(self) -> Words:
        """Terms of the files' names, without their suffixes."""
        names = [_bytes(path).rpartition(b"/")[2] for path in self.snapshot.paths]
        return _words([name.lstrip(b".").split(b".")[0] for name in names])

    @cached_property
    def folder_words(self) -> Words:
        """Terms of the folders' paths; ``folder`` tells each file's."""
        return _words(list(self._folders))

    @cached_property
    def folder(self) -> I64:
        """Each file's folder, as a place in `folder_words`."""
        folders = self._folders
        return np.array([folders[_bytes(path).rpartition(b"/")[0]] for path in self.snapshot.paths], np.int64)

    @cached_property
    def _folders(self) -> dict[bytes, int]:
        unique = dict.fromkeys(_bytes(path).rpartition(b"/")[0] for path in self.snapshot.paths)
        return {folder: at for at, folder in enumerate(unique)}
