"""From rows to hits: what is shown is read from the file, and only if its bytes are still those that were indexed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from indexer.keys import keys_of
from indexer.types import Hit, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from indexer.search.corpus import Corpus
    from indexer.types import Chunk

    ReadText = Callable[[str], bytes | None]

_MOST_COPIES = 100
_LINE_END = re.compile(rb"\r\n|\r|\n")


def first_run(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return the first of a chunk's spans, with those that follow it without a line in between."""
    if len(spans) == 1:
        return tuple(spans)
    end = 1
    while end < len(spans) and spans[end].start_line <= spans[end - 1].end_line + 1:
        end += 1
    return tuple(spans[:end])


class Ranked(NamedTuple):
    """A row that is shown, its score, and where it stands in its file."""

    row: int
    score: float
    spans: tuple[Span, ...]

    @property
    def run(self) -> tuple[Span, ...]:
        """The first spans that lie together: what is shown."""
        return first_run(self.spans)


class Reader:
    """Reads the files of one answer, each once. ``read_text`` gives a file's text form, None when it is gone."""

    def __init__(self, corpus: Corpus, read_text: ReadText) -> None:
        self.corpus = corpus
        self._read = read_text
        self._files: dict[str, bytes | None] = {}

    def text(self, path: str) -> bytes | None:
        """Return a file's text form, None when it cannot be had."""
        if path not in self._files:
            self._files[path] = self._read(path)
        return self._files[path]

    def is_current(self, row: int) -> bool:
        """Tell whether the bytes at the row's spans are those that were indexed."""
        return self.are_current([row])[0]

    def are_current(self, rows: Sequence[int]) -> list[bool]:
        """`is_current` of many rows, several times as fast as one by one."""
        return self.hold(rows, [self.corpus.snapshot.spans(row) for row in rows])

    def hold(self, rows: Sequence[int], spans: Sequence[tuple[Span, ...]]) -> list[bool]:
        """`are_current` of rows whose spans are known."""
        if not rows:
            return []
        texts = [self.text(self.corpus.path(row)) or b"" for row in rows]
        keys = keys_of(
            [b"".join(text[s.start : s.end] for s in own) for text, own in zip(texts, spans, strict=True)]
        )
        found: list[bool] = (self.corpus.snapshot.find_contents(keys) == self.corpus.content[rows]).tolist()
        return found

    def line(self, path: str, line: int) -> str:
        """Return one line of a file."""
        lines = _LINE_END.split(self.text(path) or b"", line)
        return lines[line - 1].decode("utf-8", "replace") if line <= len(lines) else ""

    def count_lines(self, path: str) -> int:
        """Count the lines of a file; the empty one behind its last line end is one."""
        return len(_LINE_END.split(self.text(path) or b""))

    def shown(self, path: str, run: Sequence[Span]) -> str:
        """Return the text of a run of spans, from the start of its first line where only blanks stand before it."""
        text = self.text(path) or b""
        start = run[0].start
        margin = start - len(text[:start].rstrip(b" \t"))
        if margin == start or text[start - margin - 1 : start - margin] in {b"\n", b"\r"}:
            start -= margin
        return text[start : run[-1].end].decode("utf-8", "replace")


def hits(corpus: Corpus, reader: Reader, ranked: Sequence[Ranked], among: NDArray[np.bool_]) -> list[Hit]:
    """Show rows with their scores: each with the other places of the same content, and its text if that is current.

    What has changed since it was indexed is marked stale and has no text.
    """
    rows = [one.row for one in ranked]
    current = reader.hold(rows, [one.spans for one in ranked])
    copies = _copies(corpus, rows, among)
    return [
        _hit(reader, one, others, is_current=is_current)
        for one, others, is_current in zip(ranked, copies, current, strict=True)
    ]


def _hit(reader: Reader, ranked: Ranked, copies: tuple[tuple[str, int], ...], *, is_current: bool) -> Hit:
    row, score, spans = ranked
    run = first_run(spans)
    kind, symbol, scope, language = reader.corpus.snapshot.names_of(row)
    path = reader.corpus.path(row)
    text = reader.shown(path, run) if is_current else ""
    lines = run[0].start_line, run[-1].end_line
    return Hit(path, *lines, symbol, scope, kind, language, score, text, not is_current, copies)


def definition_hits(reader: Reader, scored: Sequence[tuple[int, float]]) -> list[Hit]:
    """Show definitions with their scores, each from its own line on, and that line as its text."""
    current = reader.are_current([row for row, _ in scored])
    return [
        _definition_hit(reader, row, score, is_current=is_current)
        for (row, score), is_current in zip(scored, current, strict=True)
    ]


def _definition_hit(reader: Reader, row: int, score: float, *, is_current: bool) -> Hit:
    chunk = reader.corpus.snapshot.chunk(row)
    path = reader.corpus.path(row)
    text = reader.line(path, chunk.line) if is_current else ""
    lines = (chunk.line, max(chunk.line, first_run(chunk.spans)[-1].end_line))
    return replace(line_hit(path, chunk, lines, text, stale=not is_current), score=score)


def line_hit(
    path: str, chunk: Chunk | None, lines: tuple[int, int], text: str, *, stale: bool = False
) -> Hit:
    """Show some lines of a file, under the name of the chunk they lie in."""
    first, last = lines
    if chunk is None:
        return Hit(path, first, last, "", "", "", "", 1.0, text, stale)
    return Hit(path, first, last, chunk.symbol, chunk.scope, chunk.kind, chunk.language, 1.0, text, stale)


def _copies(
    corpus: Corpus, rows: Sequence[int], among: NDArray[np.bool_]
) -> list[tuple[tuple[str, int], ...]]:
    """Find the other places of some rows' contents."""
    copies: list[tuple[tuple[str, int], ...]] = []
    for row, alike in zip(rows, corpus.rows_alike(rows), strict=True):
        others = [other for other in alike if other != row and among[other]][:_MOST_COPIES]
        copies.append(
            tuple((corpus.path(other), corpus.snapshot.spans(other)[0].start_line) for other in others)
        )
    return copies
