"""The parts by themselves: arrays on disk, postings, tiers, retention, the cost of a commit."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.keys import keys_of, split_digests
from indexer.store import Writer, commit, open_snapshot, postings, retention, tiers
from indexer.store.pieces import npy_header
from indexer.store.tables import find_keys, sort_keys, take_ragged
from indexer.tokens import TermCounts
from tests.store.replay import Recorder
from tests.store.samples import IDENTITY, QuickDisk, build, put

if TYPE_CHECKING:
    from pathlib import Path

# --- arrays


@given(
    st.sampled_from(["<u1", "<u2", "<u4", "<u8", "<i8", "<f4"]), st.lists(st.integers(0, 10**9), max_size=3)
)
def test_our_npy_head_is_numpys(dtype: str, shape: list[int]) -> None:
    head = npy_header(dtype, tuple(shape))
    wanted = io.BytesIO()
    fields = {"descr": dtype, "fortran_order": False, "shape": tuple(shape)}
    np.lib.format.write_array_header_1_0(wanted, fields)
    read = io.BytesIO(head)
    assert np.lib.format.read_magic(read) == (1, 0)
    assert np.lib.format.read_array_header_1_0(read) == (tuple(shape), False, np.dtype(dtype))
    assert len(head) % 64 == 0
    assert read.tell() == len(head)
    assert len(head) <= len(wanted.getvalue())


def test_numpy_reads_what_we_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "FOLD_BYTES", 1)
    directory = build(root, {"a": b"one two\nthree\n"})
    segment = open_snapshot(directory).stack.segments[0]
    for name, array in segment.tables.arrays().items():
        read = np.load(directory / segment.entry.name / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        assert read.dtype == array.dtype
        assert np.array_equal(read, array)


def test_numpy_reads_the_arrays_inside_a_small_segment(root: Path) -> None:
    directory = build(root, {"a": b"one two\nthree\n"})
    segment = open_snapshot(directory).stack.segments[0]
    data = (directory / segment.entry.name).read_bytes()
    table = json.loads(data[32 : 32 + int.from_bytes(data[24:32], "little")])
    for name, array in segment.tables.arrays().items():
        at = table["arrays"][name]["at"]
        assert at % 64 == 0
        assert np.array_equal(np.load(io.BytesIO(data[at:]), allow_pickle=False), array)


def test_arrays_of_a_segment_cannot_be_written_to(root: Path) -> None:
    snapshot = open_snapshot(build(root, {"a": b"one two\n"}))
    assert not any(array.flags.writeable for array in snapshot.stack.tables[0].arrays().values())


# --- keys and ragged arrays


def test_keys_that_share_their_first_half_are_told_apart() -> None:
    keys = np.array([[5, 3], [5, 1], [2, 9], [5, 2], [7, 0]], np.uint64)
    ordered, rows = sort_keys(keys)
    assert ordered.T.tolist() == [[2, 9], [5, 1], [5, 2], [5, 3], [7, 0]]
    wanted = np.array([[5, 2], [5, 4], [5, 3], [7, 0], [7, 1], [9, 9], [0, 0], [5, 1]], np.uint64)
    assert find_keys(ordered, rows, wanted).tolist() == [3, -1, 0, 4, -1, -1, -1, 1]
    assert find_keys(ordered[:, :0], rows[:0], wanted).tolist() == [-1] * 8


def test_a_key_is_the_digest_in_two_halves() -> None:
    assert split_digests([bytes(range(16))]).tolist() == [[0x0001020304050607, 0x08090A0B0C0D0E0F]]
    assert keys_of([]).shape == (0, 2)


def test_taking_ragged_rows() -> None:
    offsets = np.array([0, 2, 2, 5], np.int64)
    taken, index = take_ragged(offsets, np.array([2, 1, 0, 2]))
    assert taken.tolist() == [0, 3, 3, 5, 8]
    assert index.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]


# --- postings

Texts = list[dict[int, int]]
TEXTS = st.lists(
    st.dictionaries(st.integers(0, 2**64 - 1) | st.integers(0, 9), st.integers(1, 300), max_size=5),
    max_size=8,
)


def counts_of(texts: Texts) -> TermCounts:
    ordered = [sorted(text.items()) for text in texts]
    offsets = np.cumsum([0, *map(len, ordered)]).astype(np.int64)
    flat = [pair for text in ordered for pair in text]
    return TermCounts(
        offsets, np.array([t for t, _ in flat], np.uint64), np.array([c for _, c in flat], np.uint16)
    )


def plain(one: postings.Postings) -> dict[int, list[tuple[int, int]]]:
    pairs = list(zip(one.rows.tolist(), one.counts.tolist(), strict=True))
    ends = one.offsets.tolist()
    return {term: pairs[ends[at] : ends[at + 1]] for at, term in enumerate(one.terms.tolist())}


def naive(texts: Texts) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for row, text in enumerate(texts):
        for term, count in text.items():
            found.setdefault(term, []).append((row, min(count, 255)))
    return dict(sorted(found.items()))


@given(TEXTS)
def test_inverting_and_back(texts: Texts) -> None:
    counts = counts_of(texts)
    inverted = postings.invert(counts)
    assert plain(inverted) == naive(texts)
    assert list(plain(inverted)) == sorted(plain(inverted))
    offsets, terms, often = postings.revert(inverted, len(texts))
    assert offsets.tolist() == counts.offsets.tolist()
    assert terms.tolist() == counts.terms.tolist()
    assert often.tolist() == np.minimum(counts.counts, 255).tolist()


def test_terms_that_share_their_upper_bits() -> None:
    near = (1 << 63) + np.arange(7, dtype=np.uint64)[::-1]
    texts = [{int(term): 1} for term in near] * 2
    assert plain(postings.invert(counts_of(texts))) == naive(texts)


@given(
    st.lists(TEXTS, min_size=1, max_size=4), st.randoms(use_true_random=False), st.sampled_from([1, 2, 1000])
)
def test_merging_is_inverting_the_whole(parts: list[Texts], draw: random.Random, at_once: int) -> None:
    total = sum(map(len, parts))
    stays = [draw.random() < 0.7 for _ in range(total)]
    mapping = np.full(total, 0xFFFFFFFF, np.uint32)
    mapping[stays] = np.arange(sum(stays), dtype=np.uint32)
    first, pieces = 0, []
    for part in parts:
        pieces.append(postings.renumber(postings.invert(counts_of(part)), mapping[first : first + len(part)]))
        first += len(part)
    whole = [
        text for text, stay in zip([text for part in parts for text in part], stays, strict=True) if stay
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_AT_ONCE", at_once)
        assert plain(postings.merge(pieces)) == naive(whole)


def test_a_merge_takes_little_more_memory_than_what_it_makes() -> None:
    terms = np.arange(50_000, dtype=np.uint64)
    count = 40  # a term in each part
    parts = [
        postings.Postings(
            terms,
            np.arange(len(terms) + 1) * count,
            np.tile(np.arange(count, dtype=np.uint32) + first, len(terms)),
            np.ones(count * len(terms), np.uint8),
        )
        for first in (0, count)
    ]
    tracemalloc.start()
    try:
        merged = postings.merge(parts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert merged.rows.tolist() == list(range(2 * count)) * len(terms)
    assert peak < 1.6 * sum(array.nbytes for array in merged)


# --- tiers, verify


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9), st.randoms(use_true_random=False))
def test_pieces_stay_few_and_bytes_are_seldom_rewritten(base: int, draw: random.Random) -> None:
    sizes = [base] if base else []
    written = new_bytes = 0
    for _ in range(600):
        new = draw.choice([1, 10, 10, 10, 50]) * 1000
        start = tiers.plan(sizes, new)
        merged = new + sum(sizes[start:])
        sizes = [*sizes[:start], merged]
        written += merged
        new_bytes += new
        assert sum(size < tiers.FULL for size in sizes) <= tiers.MOST_PIECES
    if base > 10**8:
        assert sizes[0] == base, "small commits never rewrite a large base"
    assert written - base <= 12 * new_bytes


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([1, 5, 10, 25, 50, 90, 150, 300]), min_size=1, max_size=200))
def test_a_merge_is_never_larger_than_memory_should_hold(commits: list[int]) -> None:
    """Commits of megabytes, as a large tree's first run makes them; the pieces are few for what they hold."""
    sizes: list[int] = []
    for new in (mega << 20 for mega in commits):
        start = tiers.plan(sizes, new)
        merged = new + sum(sizes[start:])
        assert start == len(sizes) or merged <= tiers.LARGEST
        sizes = [*sizes[:start], merged]
        full = sum(size >= tiers.FULL for size in sizes)
        assert len(sizes) - full <= (full + 1) * tiers.MOST_PIECES, [size >> 20 for size in sizes]


def test_a_small_commit_never_rewrites_a_large_piece() -> None:
    """As in a large store: pieces of every size, the last ones as large as pieces get, then one save after the other."""
    sizes = [size << 20 for size in (100, 78, 58, 61, 61, 52, 90, 207, 215)]
    before, written = list(sizes), 0
    for _ in range(100):
        start = tiers.plan(sizes, 8000)
        written += 8000 + sum(sizes[start:])
        sizes = [*sizes[:start], 8000 + sum(sizes[start:])]
    assert sizes[: len(before)] == before
    assert len(sizes) - len(before) <= tiers.MOST_PIECES
    assert written <= 12 * 100 * 8000


# --- what a commit costs


def test_a_small_commit_is_four_syncs(root: Path) -> None:
    disk = Recorder()
    with Writer(root, root / ".indexer", IDENTITY, disk=disk) as writer:
        for number in range(3):
            put(writer, f"f{number}", b"word %d\n" % number)
            disk.operations.clear()
            writer.commit()
    done = Counter(one.what for one in disk.operations)
    assert done == {"write": 2, "sync": 4, "rename": 3, "link": 1}
    order = [(one.what, one.path.name.split("-")[0]) for one in disk.operations if one.what == "sync"]
    assert [name for _, name in order] == ["tmp", "tmp", ".indexer", ".indexer"]


def test_a_merging_commit_costs_no_more_syncs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MOST_PIECES", 2)
    disk = Recorder()
    with Writer(root, root / ".indexer", IDENTITY, disk=disk) as writer:
        for number in range(6):
            put(writer, f"f{number}", b"word %d\n" % number)
            disk.operations.clear()
            writer.commit()
            assert sum(one.what == "sync" for one in disk.operations) == 4


# --- what is kept


def used(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def test_a_thousand_edits_of_one_function_stay_small(root: Path) -> None:
    """Of a file with 30 chunks one is edited, again and again: rows and disk are bounded."""
    lines = [b"function_%d does something with x%d" % (n, n) for n in range(30)]
    largest = rows = 0
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
        for other in range(20):
            put(writer, f"other{other}", b"\n".join(b"other_%d_%d body" % (other, n) for n in range(30)))
        for edit in range(1000):
            lines[7] = b"function_7 edited for the %dth time" % edit
            assert put(writer, "edited", b"\n".join(lines)) <= 30
            writer.commit()
            largest = max(largest, used(root / ".indexer"))
            rows = max(rows, writer.snapshot.stack.total.bindings)
        snapshot = writer.snapshot
    assert len(snapshot.rows.file) == 21 * 30
    # The live ones, and those of the last `KEEP_GENERATIONS` commits and of pieces that no merge has met yet.
    assert rows < 21 * 30 + 2 * (retention.KEEP_GENERATIONS + 8) * 30
    assert snapshot.content_count < 21 * 30 + 2 * (retention.KEEP_GENERATIONS + 8)
    assert largest < 2_000_000


def test_what_was_unbound_a_while_ago_is_kept_and_then_dropped(root: Path) -> None:
    with Writer(root, root / ".indexer", IDENTITY, keep_generations=3, disk=QuickDisk()) as writer:
        put(writer, "a", b"old text\n")
        writer.commit()
        put(writer, "a", b"new text\n")
        writer.commit()
        for number in range(2):
            put(writer, "b", b"%d\n" % number)
            writer.compact()
        assert not writer.missing(keys_of([b"old text"]))[0]
        assert put(writer, "a", b"old text\n") == 0
        assert put(writer, "a", b"new text\n") == 0
        for number in range(4):
            put(writer, "b", b"again %d\n" % number)
            writer.compact()
        assert writer.missing(keys_of([b"old text"]))[0]


def test_no_more_unbound_than_bound(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three generations of ten rows are unbound, five rows are bound: the latest unbound ones stay."""
    monkeypatch.setattr(retention, "FLOOR", 11)
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
        for version in range(3):
            put(writer, "a", b"\n".join(b"version_%d line_%d" % (version, n) for n in range(10)))
            writer.commit()
        put(writer, "a", b"\n".join(b"last line_%d" % n for n in range(5)))
        writer.compact()
        assert writer.snapshot.stack.total.bindings == 15
        kept = [not writer.missing(keys_of([b"version_%d line_9" % version]))[0] for version in range(3)]
        assert kept == [False, False, True]
        assert writer.snapshot.content_count == 16, "eleven of them unbound"


def test_a_mass_removal_is_compacted_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Removals are tiny commits, but what they leave behind is scanned by every question: it must go."""
    monkeypatch.setattr(retention, "FLOOR", 10)
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
        for number in range(100):
            put(writer, f"f{number:03}", b"\n".join(b"f%d line_%d" % (number, n) for n in range(5)))
        writer.commit()
        for number in range(90):
            writer.remove_file(f"f{number:03}")
        writer.commit()
        assert len(writer.snapshot.rows.file) == 50
        assert writer.snapshot.stack.total.bindings <= 100
        assert writer.snapshot.stack.total.files == 10, "no removal is left at the base"


def test_the_same_history_gives_the_same_bytes(root: Path, scratch: Path) -> None:
    """But for the random part of a name."""
    names = ["b", "a", "d/c"]
    made = []
    for top in (root, scratch):
        directory = build(top, {name: name.encode() + b" one two\nthree\n" for name in names})
        made.append(open_snapshot(directory).stack.segments[0].entry.checksum)
    assert made[0] == made[1]
