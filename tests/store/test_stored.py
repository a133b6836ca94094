"""What takes fewer bytes on disk than in memory: postings, places, narrow arrays, beginnings of keys."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.errors import StoreError
from indexer.keys import keys_of
from indexer.store import Writer, open_snapshot, packed, places, postings, tables, verify
from indexer.store.format import ARRAYS
from indexer.store.tables import Tables
from indexer.types import Span
from tests.store.samples import IDENTITY, QuickDisk, build, put
from tests.store.test_parts import plain

if TYPE_CHECKING:
    from pathlib import Path


def test_a_segment_that_is_too_large_for_its_offsets_is_refused(root: Path) -> None:
    arrays = open_snapshot(build(root, {"a": b"one two\n"})).stack.tables[0].arrays()
    with pytest.raises(StoreError, match=r"4294967295 body_rows, .* 4294967296"):
        Tables.of({**arrays, "body_offsets": np.array([0, 1 << 32])})


# --- postings


def held(terms: dict[int, list[tuple[int, int]]]) -> postings.Postings:
    """Undo `plain`."""
    pairs = [pair for of_term in terms.values() for pair in of_term]
    return postings.Postings(
        np.array(list(terms), np.uint64),
        np.cumsum([0, *map(len, terms.values())]).astype(np.int64),
        np.array([row for row, _ in pairs], np.uint32),
        np.array([count for _, count in pairs], np.uint8),
    )


def _of_rows(limit: int) -> st.SearchStrategy[dict[int, list[tuple[int, int]]]]:
    rows = st.integers(0, limit - 1) | st.sampled_from([0, 0xFFFF, 1 << 16, 3 << 16]).filter(
        lambda row: row < limit
    )
    of_term = st.dictionaries(rows, st.integers(1, 255), min_size=1, max_size=6)
    return st.lists(of_term, max_size=6).map(
        lambda terms: {at: list(one.items()) for at, one in enumerate(terms)}
    )


@settings(deadline=None)
@given(
    st.sampled_from([1 << 16, 1 << 18, 0xFFFFFFFF]).flatmap(_of_rows),
    st.sampled_from([1, 2, 1000]),
    st.data(),
)
def test_packed_postings_are_read_as_they_were(
    terms: dict[int, list[tuple[int, int]]], at_once: int, data: st.DataObject
) -> None:
    """In whatever order the rows of a term come, of one page or of many; all terms at once, and some."""
    want = {term: sorted(pairs) for term, pairs in terms.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_AT_ONCE", at_once)
        one = packed.pack(held(terms))
        again = plain(packed.unpack(one))
    assert {term: sorted(pairs) for term, pairs in again.items()} == want
    some = data.draw(st.lists(st.sampled_from(sorted(terms)), max_size=4)) if terms else []
    read = one.read(np.array(some, np.int64))
    pairs = list(zip(read.rows.tolist(), read.counts.tolist(), strict=True))
    found = [sorted(pairs[a:b]) for a, b in pairwise(read.cut.tolist())]
    assert found == [want[term] for term in some]


def test_marks_that_are_far_apart_are_left_out_as_others_are() -> None:
    want = {1: [(row, 1 + row % 7) for row in range(0, 300_000, 100)], 2: [(70_000, 2)]}
    one = packed.pack(held(want))
    assert int((one.counts == 0).sum()) == 5
    assert plain(packed.unpack(one)) == want
    assert one.read(np.array([1, 0])).rows.tolist() == [70_000, *range(0, 300_000, 100)]


def test_packed_postings_stand_as_the_format_says() -> None:
    one = packed.pack(held({5: [(7, 1), (131077, 3)], 6: [(65536, 255)]}))
    assert one.rows.tolist() == [7, 2, 5, 1, 0]
    assert one.counts.tolist() == [1, 0, 3, 0, 255]
    assert one.offsets.tolist() == [0, 3, 5]


def test_a_segment_of_many_pages_says_the_same(
    root: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"d/{n}": b"alpha %d\nbeta QuerySet\ngamma d%d x\n" % (n, n) for n in range(12)}
    want = open_snapshot(build(scratch, files))
    monkeypatch.setattr(packed, "PAGE_BITS", 2)
    directory = build(root, files)
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        put(writer, "e", b"alpha beta gamma")
        writer.commit()
        writer.remove_file("e")
        writer.compact()
    found = open_snapshot(directory)
    assert (found.stack.tables[0].body_counts == 0).any()
    assert found.tables() == want.tables()
    assert verify(directory) == []


# --- places

U32 = st.integers(0, 0xFFFFFFFF) | st.integers(0, 300)
EXTENT = st.tuples(U32, U32) | st.just((0, 0))
SPANS = st.lists(st.builds(Span, U32, U32, U32, U32), min_size=1, max_size=4).map(tuple)


@settings(deadline=None)
@given(st.lists(st.builds(places.Place, SPANS, EXTENT, EXTENT), max_size=5))
def test_places_are_read_as_they_were(want: list[places.Place]) -> None:
    extents = np.array([one.signature + one.docstring for one in want], np.uint32).reshape(-1, 4)
    spans = np.array([span for one in want for span in one.spans], np.uint32).reshape(-1, 4)
    offsets, data = places.encode(
        np.ascontiguousarray(extents.T),
        np.ascontiguousarray(spans.T),
        np.array([len(one.spans) for one in want], np.uint32),
    )
    raw = data.tobytes()
    assert [places.decode(raw[a:b]) for a, b in pairwise(offsets.tolist())] == want


def test_a_place_stands_as_the_format_says() -> None:
    """A function of two spans from byte 1000 and line 31 on, with a docstring."""
    extents = np.array([[1000], [1010], [1015], [1035]], np.uint32)
    spans = np.array([[1000, 1100], [1050, 1101], [31, 33], [32, 33]], np.uint32)
    offsets, data = places.encode(extents, spans, np.array([2], np.uint32))
    head = [1, 20, 11, 40]
    assert data.tolist() == [*head, 2000 & 0x7F | 0x80, 2000 >> 7, 100, 62, 2, 100, 2, 2, 0]
    assert offsets.tolist() == [0, len(data)]


@pytest.mark.parametrize("data", [b"", bytes(4), bytes(9), b"\x80" * 8])
def test_what_is_no_place_is_told(data: bytes) -> None:
    with pytest.raises(StoreError, match="places"):
        places.decode(data)


# --- narrow arrays and keys


def test_arrays_are_as_narrow_as_their_values_let_them(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a": b"one two three\nfour\n", "b": b"\n" * 299 + b"five\n", "c": b"\n" * 69_999 + b"six\n"}
    widths = []
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
        for path, data in files.items():
            put(writer, path, data)
            writer.commit()
            widths.append(writer.snapshot.stack.tables[-1].numbers.dtype.itemsize)
        assert widths == [1, 2, 4]
        assert writer.snapshot.line.tolist() == [1, 2, 300, 70_000]
        assert all(
            writer.snapshot.stack.column(name).dtype == np.dtype(layout.dtype)
            for name, layout in ARRAYS.items()
            if layout.narrow
        )
        before = writer.snapshot.tables()
        writer.compact()
        assert writer.snapshot.stack.tables[0].numbers.dtype.itemsize == 4
    assert open_snapshot(root / ".indexer").tables() == before
    assert verify(root / ".indexer") == []


def test_strings_whose_keys_begin_alike_are_told_apart(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bit or two of the keys, nearly all do."""
    for module in ("pending", "tables"):
        monkeypatch.setattr(f"indexer.store.{module}.PREFIX_SHIFT", 62)
    files = {f"d/{n}": b"alpha%d b c\n" % n for n in range(30)}
    snapshot = open_snapshot(build(root, files))
    assert [snapshot.string_id(path) for path in files] == [
        int(number)
        for number in snapshot.files.path[np.array([snapshot.paths.index(path) for path in files])]
    ]
    assert snapshot.string_id("d/30") is None
    keys = keys_of([b"d/7", b"nothing", b"alpha7", b"d/7"])
    found = tables.find_strings(snapshot.stack.tables[0], keys).tolist()
    assert [found[1], found[0] == found[3]] == [-1, True]
    assert [snapshot.string(found[0]), snapshot.string(found[2])] == ["d/7", "alpha7"]
