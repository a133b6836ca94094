"""Which file uses which type, in languages whose files see each other without an import: its text names it.

The files of a Go package or of a Swift module need no import of each other, so that what they depend on
is in their text alone. A file uses another if one of its chunks holds the name of a type that the other defines, as a
whole identifier. Names of one word say nothing (``Status`` is a word as well), nor do those that many files define.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.search.file_graph import FileGraph, unique
from indexer.store.tables import take_ragged
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.search.columns import I64
    from indexer.store import Snapshot
    from indexer.store.tables import U32, U64, Bool

_LANGUAGES = ("go", "swift")
_TYPES = (Kind.CLASS, Kind.INTERFACE, Kind.STRUCT, Kind.ENUM, Kind.TRAIT, Kind.TYPE)
_FEW = 3  # files that define a name: beyond that it is anybody's


def type_uses(snapshot: Snapshot) -> FileGraph:
    """Edges from each file of such a language to those of the same language that define what it names."""
    files = len(snapshot.paths)
    rows = _definitions(snapshot)
    if not len(rows):
        return FileGraph(np.zeros(0, np.int64), files)
    file = snapshot.rows.file.astype(np.int64)
    symbols, symbol = np.unique(snapshot.symbol[rows], return_inverse=True)
    name, definer = np.divmod(unique(symbol * files + file[rows]), files)
    terms = _terms(snapshot.strings(symbols), np.bincount(name, minlength=len(symbols)) <= _FEW)
    holding = snapshot.holding(terms)
    held, row = _rows_of(snapshot.rows.content, snapshot.content_count, holding.ids)
    used, user = np.divmod(unique(holding.place[held] * files + file[row]), files)
    pair, at = take_ragged(np.searchsorted(name, np.arange(len(symbols) + 1)), used)
    importer, imported = np.repeat(user, np.diff(pair)), definer[at]
    language = snapshot.files.language
    kept = (importer != imported) & (language[importer] == language[imported])
    return FileGraph(unique((importer * files + imported)[kept]), files)


def _definitions(snapshot: Snapshot) -> I64:
    """Rows that define a type."""
    languages = [number for name in _LANGUAGES if (number := snapshot.string_id(name)) is not None]
    if not languages:
        return np.zeros(0, np.int64)
    kinds = [number for kind in _TYPES if (number := snapshot.string_id(kind)) is not None]
    in_language = np.isin(snapshot.language, languages)
    return np.flatnonzero(in_language & np.isin(snapshot.kind, kinds) & (snapshot.part == 0))


def _terms(names: Sequence[str], telling: Bool) -> U64:
    """The term (n,) of each whole name; 0, which no term is likely to be, for a name of one word or not telling."""
    terms = [tokens.terms_of(name) for name in names]
    hashes = tokens.hash_terms([each[-1] if each else "" for each in terms])
    return np.where(telling & np.array([len(each) > 1 for each in terms]), hashes, 0).astype(np.uint64)


def _rows_of(column: U32, contents: int, wanted: I64) -> tuple[I64, I64]:
    """Rows that have the wanted contents, and for each the place of its content among these."""
    order = np.argsort(column, kind="stable")
    offsets = np.searchsorted(column[order], np.arange(contents + 1))
    cut, at = take_ragged(offsets, wanted)
    return np.repeat(np.arange(len(wanted)), np.diff(cut)), order[at]
