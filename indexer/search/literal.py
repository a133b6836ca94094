"""Exact text: files narrowed by the postings, every occurrence verified in the file.

A word inside the text, with something that is no part of a word on both sides, stands in the file as that word, so its
terms are in the file's postings; the words at the text's ends may be pieces of longer ones and say nothing. (A Han
character is a term by itself wherever it stands, so those count everywhere.) Files that were skipped are not looked at.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.chunk.spans import Lines
from indexer.errors import QueryError
from indexer.search import show
from indexer.search.corpus import Corpus
from indexer.search.filters import allowed_rows
from indexer.search.found import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from indexer.search.query import Request
    from indexer.store import Snapshot
    from indexer.types import Hit, Span

_RUN = re.compile(rb"[0-9A-Za-z_\x80-\xff]+")
_HAN = re.compile("[\u4e00-\u9fff]")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_SHOWN = 400  # bytes of a line on each side of an occurrence: a line may be megabytes long


def literal(
    snapshot: Snapshot | Corpus, request: Request, *, read_text: Callable[[str], bytes | None]
) -> Found:
    """Return the first k occurrences of ``request.query``, as it stands, by path and place.

    Each is one hit: its line, and the symbol of the chunk around it. ``start_line`` to ``end_line`` are the lines that the
    occurrence touches. `QueryError` when the text cannot be in any file.
    """
    corpus = Corpus.of(snapshot)
    wanted = request.query.encode("utf-8", "surrogateescape")
    if b"\0" in wanted:
        raise QueryError("literal: a file with a NUL byte is binary and not indexed")
    reader = show.Reader(corpus, read_text)
    among, notes = allowed_rows(corpus, request, reader)
    found = (
        hit
        for file in _candidates(corpus, wanted, among)
        for hit in _in_file(corpus, reader, file, wanted, among)
    )
    return Found("literal", list(islice(found, request.k)), notes=tuple(notes))


def known_terms(wanted: bytes) -> list[str]:
    """Return terms that every file with this text must hold."""
    terms: dict[str, None] = {}
    for found in _RUN.finditer(wanted):
        if found.start() > 0 and found.end() < len(wanted):
            terms |= dict.fromkeys(tokens.terms_of(found.group()))
        else:
            terms |= dict.fromkeys(_HAN.findall(found.group().decode("utf-8", "replace")))
    return list(terms)


def _candidates(corpus: Corpus, wanted: bytes, among: NDArray[np.bool_]) -> list[int]:
    files = np.zeros(corpus.files, np.bool_)
    files[corpus.file[among]] = True
    for term in tokens.hash_terms(known_terms(wanted)).tolist():
        holding = np.zeros(corpus.files, np.bool_)
        contents = np.zeros(corpus.snapshot.content_count, np.bool_)
        contents[corpus.snapshot.postings(term)[0]] = True
        holding[corpus.file[contents[corpus.content]]] = True
        files &= holding
    return np.flatnonzero(files).tolist()


def _in_file(
    corpus: Corpus, reader: show.Reader, file: int, wanted: bytes, among: NDArray[np.bool_]
) -> Iterator[Hit]:
    path = corpus.snapshot.paths[file]
    text = reader.text(path) or b""
    at = text.find(wanted)
    lines = Lines(text) if at >= 0 else None
    while at >= 0 and lines is not None:
        row = corpus.row_at(file, at)
        if row is None or among[row]:
            where = lines.span(at, at + len(wanted))
            yield _occurrence(reader, path, row, where)
        at = text.find(wanted, at + len(wanted))


def _occurrence(reader: show.Reader, path: str, row: int | None, where: Span) -> Hit:
    text = _around(reader.text(path) or b"", where)
    lines = (where.start_line, where.end_line)
    if row is None:
        return show.line_hit(path, None, lines, text)
    chunk = reader.corpus.snapshot.chunk(row)
    # The text is what is in the file now; only the name around it may be out of date.
    return show.line_hit(path, chunk, lines, text, stale=not reader.is_current(row))


def _around(text: bytes, where: Span) -> str:
    """Return the whole lines of an occurrence."""
    before, after = text[max(0, where.start - _SHOWN) : where.start], text[where.end : where.end + _SHOWN]
    head, tail = _LINE_END.split(before)[-1], _LINE_END.split(after)[0]
    return (head + text[where.start : where.end] + tail).decode("utf-8", "replace")
