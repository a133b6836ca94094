"""Chunks as columns: nothing of a chunk or a file is lost, whatever stands beside it."""

from __future__ import annotations

import dataclasses
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from indexer.columns import NO_PARENT, Columns, Row, columns_of
from indexer.types import Chunk, FileChunks, Span

NUMBERS = st.integers(0, 2**32 - 2)
NAMES = st.sampled_from(["", "a", "b.c", "中文", "python", "method"])
PAIRS = st.tuples(NUMBERS, NUMBERS)
CHUNKS = st.builds(
    Chunk,
    kind=NAMES,
    symbol=NAMES,
    scope=NAMES,
    language=NAMES,
    spans=st.lists(st.builds(Span, NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=3).map(tuple),
    line=NUMBERS,
    signature=PAIRS,
    docstring=PAIRS,
    parent=st.integers(-1, 5),
    part=NUMBERS,
    bases=st.lists(NAMES, max_size=3).map(tuple),
)
FILES = st.builds(
    FileChunks,
    chunks=st.lists(CHUNKS, max_size=4).map(tuple),
    imports=st.lists(NAMES, max_size=3).map(tuple),
    fallback=NAMES,
)


def files_of(columns: Columns) -> list[FileChunks]:
    names = columns.strings
    spans, bases, imports = (
        iter(columns.spans.tolist()),
        iter(columns.bases.tolist()),
        iter(columns.imports.tolist()),
    )
    rows = zip(columns.chunks.tolist(), columns.span_sizes.tolist(), columns.base_sizes.tolist(), strict=True)
    found = []
    for size, fallback, count in zip(
        columns.sizes.tolist(), columns.fallbacks.tolist(), columns.import_sizes.tolist(), strict=True
    ):
        chunks = tuple(
            Chunk(
                kind=names[row[Row.KIND]],
                symbol=names[row[Row.SYMBOL]],
                scope=names[row[Row.SCOPE]],
                language=names[row[Row.LANGUAGE]],
                spans=tuple(Span(*span) for span in islice(spans, many)),
                line=row[Row.LINE],
                signature=(row[Row.SIGNATURE_START], row[Row.SIGNATURE_END]),
                docstring=(row[Row.DOCSTRING_START], row[Row.DOCSTRING_END]),
                parent=-1 if row[Row.PARENT] == NO_PARENT else row[Row.PARENT],
                part=row[Row.PART],
                bases=tuple(names[word] for word in islice(bases, few)),
            )
            for row, many, few in islice(rows, size)
        )
        found.append(
            FileChunks(chunks, tuple(names[word] for word in islice(imports, count)), names[fallback])
        )
    return found


def test_every_field_of_a_chunk_is_tried() -> None:
    assert set(CHUNKS.wrapped_strategy.kwargs) == {field.name for field in dataclasses.fields(Chunk)}  # type: ignore[attr-defined]


@given(st.lists(FILES, max_size=4))
def test_nothing_is_lost(files: list[FileChunks]) -> None:
    columns = columns_of(files)
    assert files_of(columns) == files
    assert len(set(columns.strings)) == len(columns.strings)
