"""What goes in comes out: files, rows, contents, names; reuse; checkpoints, fresh starts, identities."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indexer import tokens
from indexer.errors import NotIndexedError, StoreError
from indexer.keys import keys_of
from indexer.store import Writer, open_snapshot
from indexer.store.format import MANIFEST, NEXT, PREVIOUS
from indexer.store.pending import quantise
from indexer.types import FileRecord, FileStat
from tests.store.samples import (
    IDENTITY,
    QuickDisk,
    add_block,
    build,
    cut,
    digest,
    put,
    record_of,
    stat_of,
    vectors_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store import Identity, Snapshot

FILES = {
    "b.toy": b"beta one two\n\ngamma three\n",
    "a.toy": b"alpha QuerySet filter\nbeta one two\n",
    "dir/c.toy": b"delta\n",
    "empty.bin": b"",
}


def writer(root: Path, identity: Identity = IDENTITY, *, fresh: bool = False) -> Writer:
    return Writer(root, root / ".indexer", identity, fresh=fresh, disk=QuickDisk())


def term(text: str) -> int:
    return int(tokens.hash_terms([text])[0])


def texts_with(snapshot: Snapshot, word: str) -> set[str]:
    """Symbols of the rows whose content holds a term."""
    ids, _ = snapshot.postings(term(word))
    rows = np.flatnonzero(np.isin(snapshot.rows.content, ids))
    return {snapshot.chunk(row).symbol for row in rows.tolist()}


def test_round_trip(root: Path) -> None:
    snapshot = open_snapshot(build(root, FILES), IDENTITY)
    known, racy = snapshot.known()
    assert known == {path: stat_of(path, data) for path, data in FILES.items()}
    assert racy == {path for path, data in FILES.items() if data and len(data) % 5 == 0}
    assert snapshot.paths == sorted(FILES)
    for path, data in FILES.items():
        want = (
            record_of(path, data) if data else FileRecord(stat_of(path, b""), reason="binary", detail="empty")
        )
        assert snapshot.record(path) == want
        at = snapshot.file_of(path)
        assert at is not None
        rows = range(*snapshot.files.first_row[at : at + 2].tolist())
        assert tuple(map(snapshot.chunk, rows)) == cut(data)[0].chunks
        assert tuple(map(snapshot.spans, rows)) == tuple(chunk.spans for chunk in cut(data)[0].chunks)
        assert snapshot.imports(at) == cut(data)[0].imports
        assert [snapshot.string(number) for number in snapshot.path[rows].tolist()] == [path] * len(rows)
    assert snapshot.record("nothing") is None
    assert snapshot.file_of("nothing") is None
    assert snapshot.generation == 1
    assert snapshot.complete


def test_rows_are_in_canonical_order_and_know_their_parent(root: Path) -> None:
    snapshot = open_snapshot(build(root, FILES))
    rows = snapshot.rows
    order = [(snapshot.paths[f], snapshot.spans(r)[0].start) for r, f in enumerate(rows.file.tolist())]
    assert order == sorted(order)
    assert [snapshot.string(number) for number in snapshot.symbol.tolist()] == [
        "alpha",
        "beta",
        "beta",
        "gamma",
        "delta",
    ]
    assert [snapshot.parent(row) for row in range(len(rows.file))] == [-1, 0, -1, 2, -1]


def test_one_content_for_equal_texts(root: Path) -> None:
    snapshot = open_snapshot(build(root, FILES))
    assert snapshot.content_count == 4
    assert len(snapshot.rows.content) == 5
    assert texts_with(snapshot, "queryset") == {"alpha"}
    assert texts_with(snapshot, "three") == {"gamma"}
    assert texts_with(snapshot, "nowhere") == set()
    assert snapshot.content_length[snapshot.rows.content].tolist() == [
        int(tokens.count_terms([text]).counts.sum())
        for text in (b"alpha QuerySet filter", b"beta one two", b"beta one two", b"gamma three", b"delta")
    ]


def test_names_have_their_own_postings(root: Path) -> None:
    snapshot = open_snapshot(build(root, FILES))
    ids, counts = snapshot.stack.postings("name", term("toy"))
    found = {
        snapshot.string(number): count for number, count in zip(ids.tolist(), counts.tolist(), strict=True)
    }
    assert found == {"Toy": 1, "toy": 1, "a.toy": 1, "b.toy": 1, "dir/c.toy": 1}
    path = snapshot.string_id("dir/c.toy")
    assert path is not None
    assert snapshot.string_length[path] == int(tokens.count_terms([b"dir/c.toy"]).counts.sum())


def test_vectors_come_back_within_half_a_step(root: Path) -> None:
    snapshot = open_snapshot(build(root, FILES))
    for first, vectors, scales in snapshot.vectors():
        assert first == 0
        assert vectors.dtype == np.int8
        assert vectors.flags.writeable is False
        given = vectors_of([b"beta one two", b"gamma three"])
        step = np.abs(given).max(axis=1) / 127
        # Contents stand in the order in which they came.
        assert np.abs(vectors[:2] * scales[:2, None] - given).max() <= step.max() / 2 * 1.001


def test_quantising_is_symmetric_and_rounds_to_even() -> None:
    vectors = np.array([[127, 0.5, 1.5, -127], [0, 0, 0, 0], [-1, 1, 0.5, 0]], np.float32)
    small, scales = quantise(vectors)
    assert small.tolist() == [[127, 0, 2, -127], [0, 0, 0, 0], [-127, 127, 64, 0]]
    assert scales.tolist() == [1.0, 0.0, np.float32(1) / np.float32(127)]
    with pytest.raises(ValueError, match="not finite"):
        quantise(np.array([[np.nan]], np.float32))


def test_without_vectors(root: Path) -> None:
    identity = IDENTITY._replace(embedder="none", dim=0)
    snapshot = open_snapshot(build(root, FILES, identity), identity)
    assert [vectors.shape for _, vectors, _ in snapshot.vectors()] == [(4, 0)]
    assert snapshot.tables().rows


def test_nothing_is_made_twice(root: Path) -> None:
    """A touch, a rename, a copy, a switch and back, an inserted line: none embeds."""
    with writer(root) as w:
        assert put(w, "a", b"one\ntwo\n") == 2
        w.commit()
        assert put(w, "a", b"one\ntwo\nthree\n") == 1
        w.commit()
        assert put(w, "a", b"one\ntwo\n") == 0
        assert put(w, "copy", b"one\ntwo\n") == 0
        w.remove_file("a")
        assert w.commit() == 3
        assert put(w, "copy", b"\none\n two\n"[:5]) == 0
        w.commit()
        assert w.snapshot.paths == ["copy"]


def test_an_empty_commit_writes_nothing(root: Path) -> None:
    with writer(root) as w:
        assert w.commit() == 1
        before = sorted((p.name, p.stat().st_mtime_ns) for p in (root / ".indexer").iterdir())
        assert w.commit() == 1
        assert before == sorted((p.name, p.stat().st_mtime_ns) for p in (root / ".indexer").iterdir())
    snapshot = open_snapshot(root / ".indexer", IDENTITY)
    assert snapshot.known() == ({}, set())
    assert len(snapshot.rows.file) == 0
    assert snapshot.postings(1)[0].tolist() == []
    assert snapshot.tables().rows == ()


def test_only_live_contents_answer(root: Path) -> None:
    with writer(root) as w:
        put(w, "a", b"old word\nkept word\n")
        w.commit()
        put(w, "a", b"kept word\nnew word\n")
        w.commit()
        assert len(w.snapshot.postings(term("word"))[0]) == 2
        assert texts_with(w.snapshot, "word") == {"kept", "new"}
        assert w.snapshot.content_count == 3
        w.remove_file("a")
        w.commit()
        assert len(w.snapshot.postings(term("word"))[0]) == 0
        assert w.snapshot.known() == ({}, set())


def test_the_last_word_on_a_path_counts(root: Path) -> None:
    with writer(root) as w:
        put(w, "a", b"one\n")
        w.remove_file("a")
        w.remove_file("never")
        put(w, "b", b"one\n")
        put(w, "b", b"two\n")
        w.commit()
        assert w.snapshot.paths == ["b"]
        assert w.snapshot.string(int(w.snapshot.symbol[0])) == "two"


def test_paths_that_are_not_utf8_sort_by_their_bytes(root: Path) -> None:
    names = [
        os.fsdecode(name)
        for name in (b"\xff\xfe", b"\x80z", "é".encode(), "\U0001f600".encode(), b"z", b"a\nb")
    ]
    snapshot = open_snapshot(build(root, {name: name.encode(errors="replace") + b" x" for name in names}))
    assert snapshot.paths == sorted(names, key=os.fsencode)
    assert set(snapshot.known()[0]) == set(names)
    assert all(snapshot.record(name) for name in names)


def test_wrong_calls_are_refused(root: Path) -> None:
    with writer(root) as w:
        keys = keys_of([b"one"])
        with pytest.raises(ValueError, match="rows of terms"):
            w.add_contents(keys, tokens.count_terms([b"one", b"two"]), vectors_of([b"one"]))
        with pytest.raises(ValueError, match="shape"):
            w.add_contents(keys, tokens.count_terms([b"one"]), vectors_of([b"one"], 3))
        with pytest.raises(ValueError, match="known contents"):
            add_block(w, (digest(b"one"), "toy"), cut(b"one")[0], keys)
        with pytest.raises(ValueError, match="no block"):
            w.put_file(record_of("a", b"one"), 0)
        w.add_contents(keys, tokens.count_terms([b"one"]), vectors_of([b"one"]))
        chunks = cut(b"one\none")[0]
        two = keys_of([b"one", b"one"])
        with pytest.raises(ValueError, match="order"):
            add_block(w, (digest(b"x"), "toy"), replace(chunks, chunks=chunks.chunks[::-1]), two)
        lost = replace(chunks.chunks[0], parent=2)
        with pytest.raises(ValueError, match="parent"):
            add_block(w, (digest(b"x"), "toy"), replace(chunks, chunks=(lost,) * 2), two)
        with pytest.raises(ValueError, match="hash"):
            w.put_file(FileRecord(FileStat("a", 0, 0, 0, 0), b"short"), None)


def test_private_and_ignored(root: Path) -> None:
    build(root, FILES)
    directory = root / ".indexer"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert (directory / ".gitignore").read_text() == "*\n"
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}


def test_the_index_may_stand_elsewhere(root: Path, tmp_path: Path) -> None:
    with Writer(root, tmp_path / "deep" / "er" / "index", IDENTITY, disk=QuickDisk()) as w:
        put(w, "a", b"one\n")
        w.commit()
    assert open_snapshot(tmp_path / "deep" / "er" / "index").paths == ["a"]
    assert list(root.iterdir()) == []


def test_no_index(root: Path) -> None:
    with pytest.raises(NotIndexedError, match="indexer reindex"):
        open_snapshot(root / ".indexer")
    (root / ".indexer").mkdir()
    with pytest.raises(NotIndexedError):
        open_snapshot(root / ".indexer")


@pytest.mark.parametrize(
    ("part", "value"),
    [("embedder", "static"), ("dim", 5), ("embedder_version", "2"), ("tokenizer", "t2"), ("chunker", "c2")],
)
def test_another_identity_is_refused_by_readers_and_rebuilt_by_the_writer(
    root: Path, part: str, value: str | int
) -> None:
    directory = build(root, FILES)
    other = IDENTITY._replace(**{part: value})  # type: ignore[arg-type]  # one of the fields, of its own type
    with pytest.raises(StoreError, match=rf"{part} is .*reindex"):
        open_snapshot(directory, other)
    with writer(root, other) as w:
        assert part in w.fresh
        assert w.snapshot.known() == ({}, set())
        put(w, "a", b"one\n")
        w.commit(complete=False)
        assert open_snapshot(directory, IDENTITY).paths == sorted(FILES), "the old generation answers"
    with writer(root, other) as w:
        assert w.fresh
        assert w.snapshot.paths == ["a"], "an unfinished run goes on"
        put(w, "b", b"two\n")
        generation = w.commit()
        assert generation > 2
    assert open_snapshot(directory, other).paths == ["a", "b"]
    assert not (directory / NEXT).exists()
    with writer(root, other) as w:
        assert not w.fresh


def test_fresh_starts_from_nothing_and_the_old_generation_answers(root: Path) -> None:
    directory = build(root, FILES)
    old = open_snapshot(directory)
    with writer(root, fresh=True) as w:
        assert w.fresh
        assert w.missing(keys_of([b"delta"])).tolist() == [True]
        put(w, "n", b"new\n")
        assert open_snapshot(directory).paths == sorted(FILES)
        w.commit()
    new = open_snapshot(directory)
    assert new.paths == ["n"]
    assert new.generation > old.generation
    assert new.epoch != old.epoch
    assert old.tables().rows, "a snapshot is readable for as long as it is held"


def test_an_abandoned_fresh_run_is_swept(root: Path) -> None:
    directory = build(root, FILES)
    with writer(root, fresh=True) as w:
        put(w, "n", b"new\n")
        w.commit(complete=False)
    with writer(root) as w:
        assert not w.fresh
        put(w, "m", b"more\n")
        w.commit()
    assert sorted(p.name for p in directory.iterdir() if p.name.startswith("manifest")) == [
        MANIFEST,
        PREVIOUS,
    ]
    named = {entry.entry.name for entry in open_snapshot(directory).stack.segments}
    assert {p.name for p in directory.iterdir() if p.name.startswith("g0")} == named


def test_a_checkpoint_of_the_first_run_is_continued(root: Path) -> None:
    with writer(root) as w:
        put(w, "a", b"one\n")
        w.commit(complete=False)
    snapshot = open_snapshot(root / ".indexer")
    assert not snapshot.complete
    with writer(root) as w:
        assert not w.fresh
        assert put(w, "b", b"one\n") == 0
        w.commit()
    assert open_snapshot(root / ".indexer").complete
    assert open_snapshot(root / ".indexer").paths == ["a", "b"]


def test_a_reader_shares_segments_with_the_generation_before(root: Path) -> None:
    directory = build(root, FILES)
    first = open_snapshot(directory)
    with writer(root) as w:
        put(w, "x", b"one\n")
        w.commit()
    second = open_snapshot(directory, previous=first)
    assert second.stack.segments[0] is first.stack.segments[0]
    assert second.epoch == first.epoch
    assert second.generation == first.generation + 1


def test_a_held_snapshot_outlives_merges(root: Path) -> None:
    directory = build(root, {f"f{i}": b"word %d\n" % i for i in range(50)})
    held = open_snapshot(directory)
    before = held.tables()
    with writer(root) as w:
        for i in range(20):
            put(w, "f1", b"changed %d\n" % i)
            w.commit()
        w.compact()
    assert held.tables() == before


def test_a_commit_of_nothing_restores_an_index_that_was_cleaned_away(root: Path) -> None:
    directory = build(root, {"a": b"alpha\n"})
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        before = open_snapshot(directory).tables()
        shutil.rmtree(directory)
        generation = writer.commit()
        assert open_snapshot(directory).tables() == before
        assert writer.commit() == generation, "once"
