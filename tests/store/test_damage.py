"""Damage of every kind: noticed, set aside, told, mended by the next run; a reader never gets garbage."""

from __future__ import annotations

import random
import shutil
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
import xxhash

from indexer.errors import StoreError
from indexer.store import Writer, commit, open_snapshot, verify
from indexer.store.disk import DISK
from indexer.store.format import ARRAYS, FORMAT, MANIFEST, PREVIOUS, Counts
from indexer.store.manifest import decode, encode
from indexer.store.segment import open_segment, write
from indexer.store.tables import Tables, widened
from tests.store.samples import IDENTITY, QuickDisk, build, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from indexer.store.dump import Dump
    from indexer.store.tables import Array

FILES = {f"d/{number}": b"alpha %d\nbeta QuerySet\ngamma %d x\n" % (number, number) for number in range(6)}


@pytest.fixture(params=["file", "folder"])
def index(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two segments: six files, then one of them changed and one removed."""
    monkeypatch.setattr(commit, "FOLD_BYTES", 1 if request.param == "folder" else 1 << 22)
    directory = build(root, FILES)
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        put(writer, "d/1", b"changed\n")
        writer.remove_file("d/2")
        writer.commit()
    return directory


def wanted() -> dict[str, bytes]:
    return {**{path: data for path, data in FILES.items() if path != "d/2"}, "d/1": b"changed\n"}


def mend(directory: Path) -> tuple[str, ...]:
    """What a reindex does: hold what is known against the tree, and add the difference."""
    root = directory.parent
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        for path in writer.snapshot.known()[0].keys() - wanted().keys():
            writer.remove_file(path)
        for path, data in wanted().items():
            put(writer, path, data)
        writer.commit()
        return writer.notes


def good(scratch: Path) -> Dump:
    return open_snapshot(build(scratch / "good", wanted())).tables()


def data_files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file() and path.name != ".gitignore")


def read_all(directory: Path) -> Dump | None:
    """Everything a reader may ask, or None when it is told that the index is damaged."""
    try:
        snapshot = open_snapshot(directory, IDENTITY)
        snapshot.postings(1)
        return snapshot.tables()
    except StoreError:
        return None


def test_any_flipped_byte_is_noticed_and_mended(index: Path, scratch: Path) -> None:
    draw = random.Random(3)
    want = good(scratch)
    before = scratch / "before"
    shutil.copytree(index, before)
    for path in data_files(before):
        for _ in range(2):
            shutil.rmtree(index)
            shutil.copytree(before, index)
            target = index / path.relative_to(before)
            data = bytearray(target.read_bytes())
            at = draw.randrange(len(data))
            data[at] ^= 1 << draw.randrange(8)
            target.write_bytes(data)
            first = verify(index)
            notes = mend(index)
            if path.name in {MANIFEST, PREVIOUS} and not first:
                continue  # white space, or the previous manifest, which `verify` does not read
            assert notes, f"{path.name}: byte {at}"
            assert first, path.name
            assert open_snapshot(index, IDENTITY).tables() == want
            assert verify(index) == []
            assert not [one for one in index.iterdir() if one.name.startswith("bad-")]
            assert mend(index) == (), "it does not come again"


def test_any_file_cut_short_or_missing_is_noticed_by_a_reader(index: Path, scratch: Path) -> None:
    want = good(scratch)
    before = scratch / "before"
    shutil.copytree(index, before)
    for path in data_files(before):
        for kind in ("missing", "empty", "cut"):
            shutil.rmtree(index)
            shutil.copytree(before, index)
            target = index / path.relative_to(before)
            data = target.read_bytes()
            target.unlink()
            if kind != "missing":
                target.write_bytes(data[: len(data) // 2] if kind == "cut" else b"")
            seen = read_all(index)
            if path.name == PREVIOUS:
                assert seen == want
            elif path.name == MANIFEST:
                assert seen is not None, "the previous generation answers"
                assert seen != want
            else:
                assert seen is None
            mend(index)
            assert open_snapshot(index, IDENTITY).tables() == want


def test_a_damaged_segment_costs_only_what_came_after_it(index: Path) -> None:
    old = open_snapshot(index)
    newest = index / old.stack.segments[-1].entry.name
    target = newest if newest.is_file() else newest / "bindings.npy"
    data = bytearray(target.read_bytes())
    data[-1] ^= 1
    target.write_bytes(data)
    with Writer(index.parent, index, IDENTITY, disk=QuickDisk()) as writer:
        assert len(writer.notes) == 1
        assert target.name in writer.notes[0]
        assert writer.snapshot.paths == sorted(FILES), "the generation before"
        assert (index / f"bad-{newest.name}").exists(), "set aside, to be looked at"
        writer.commit()
        assert writer.snapshot.epoch != old.epoch
    assert open_snapshot(index).paths == sorted(FILES)
    assert open_snapshot(index).epoch != old.epoch


def test_after_a_merge_the_previous_generation_is_the_better_one(root: Path) -> None:
    directory = build(root, FILES)
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        put(writer, "more", b"more\n")
        writer.compact()
    only = directory / open_snapshot(directory).stack.segments[0].entry.name
    only.write_bytes(only.read_bytes()[:-1] + b"\xff")
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        assert writer.notes
        assert writer.snapshot.paths == sorted(FILES)
        put(writer, "more", b"more\n")
        writer.commit()
    assert open_snapshot(directory).paths == sorted([*FILES, "more"])
    assert verify(directory) == []


def test_a_killed_repair_does_not_loop(index: Path) -> None:
    """The writer dies between setting aside and its commit, again and again."""
    first = index / open_snapshot(index).stack.segments[0].entry.name
    shutil.rmtree(first) if first.is_dir() else first.unlink()
    for _ in range(3):
        with Writer(index.parent, index, IDENTITY, disk=QuickDisk()) as writer:
            assert writer.notes
            assert writer.snapshot.known() == ({}, set())
    mend(index)
    assert open_snapshot(index).paths == sorted(wanted())


def test_a_reader_of_the_previous_manifest_tells_another_epoch(index: Path) -> None:
    now = open_snapshot(index)
    (index / MANIFEST).write_bytes(b"{}")
    before = open_snapshot(index)
    assert before.generation == now.generation - 1
    assert before.epoch != now.epoch
    assert open_snapshot(index).epoch == before.epoch, "the same for every reader"
    assert mend(index)
    after = open_snapshot(index)
    assert after.epoch not in {now.epoch, before.epoch}
    assert after.generation > before.generation


def test_both_manifests_damaged(index: Path, scratch: Path) -> None:
    (index / MANIFEST).write_bytes(b"\xff\xfe")
    (index / PREVIOUS).write_bytes(b"[]")
    with pytest.raises(StoreError, match=r"manifest.json: .*reindex"):
        open_snapshot(index)
    assert len(mend(index)) == 2
    assert open_snapshot(index).tables() == good(scratch)


def test_another_format_is_not_ours_to_read(index: Path, scratch: Path) -> None:
    (index / MANIFEST).write_bytes(b'{"format": %d, "new": 1}' % (FORMAT + 1))
    with pytest.raises(StoreError, match=rf"format {FORMAT + 1}, this version reads {FORMAT}"):
        open_snapshot(index)
    mend(index)
    assert open_snapshot(index).tables() == good(scratch)


# --- arrays with good checksums and bad values: a writer's fault, or somebody's joke


def _at(place: int, value: int) -> Callable[[Array], Array]:
    def change(array: Array) -> Array:
        changed = array.copy()
        changed[..., place] = value
        return changed

    return change


_last = partial(_at, -1)


BAD: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "wrong dtype": ("scales", lambda a: a.astype(np.float64)),
    "short column": ("scales", lambda a: a[:-1]),
    "wrong rows": ("files", lambda a: a[:-1]),
    "wrong dim": ("vectors", lambda a: a[:, :-1]),
    "offsets descend": ("place_offsets", lambda a: np.append(a[-2::-1], a[-1])),
    "half a place": ("places", lambda a: np.append(a[:-1], a[-1] | 0x80)),
    "too few numbers for a place": ("places", lambda a: np.append(a[:1] | 0x80, a[1:])),
    "owner": ("base_owners", _last(1 << 31)),
    "owners descend": ("base_owners", lambda a: a[::-1].copy()),
    "offsets beyond": ("string_offsets", _last(1 << 31)),
    "offsets not from 0": ("body_offsets", lambda a: a + 1),
    "string id": ("imports", _last(1 << 31)),
    "content id": ("bindings", lambda a: np.full_like(a, 0xFFFFFFF0)),
    "block id": ("files", lambda a: np.full_like(a, 0xFFFFFFFE)),
    "row in an index": ("content_rows", _last(1 << 31)),
    "row twice in an index": ("string_rows", np.zeros_like),
    "keys descend": ("content_keys", lambda a: a[:, ::-1].copy()),
    "terms descend": ("body_terms", lambda a: a[::-1].copy()),
    "row in postings": ("body_rows", _last(0xFFFF)),
    "row in name postings": ("name_rows", _last(0xFFFF)),
    "mark before no row": ("body_counts", _last(0)),
    "term without rows": ("body_offsets", _at(1, 0)),
    "parent": ("numbers", lambda a: np.full_like(a, 7)),
}


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("what", BAD)
def test_malformed_arrays(root: Path, monkeypatch: pytest.MonkeyPatch, what: str, folder: bool) -> None:
    name, change = BAD[what]
    monkeypatch.setattr(commit, "FOLD_BYTES", 1 if folder else 1 << 22)
    directory = build(root, FILES)
    manifest = decode((directory / MANIFEST).read_bytes(), "")
    entry = manifest.segments[0]
    good_tables = open_segment(DISK, directory, entry, Counts(), 4, verify=True).tables
    wide = {key: widened(key, array) for key, array in good_tables.arrays().items()}
    bad = Tables.of({**wide, name: change(wide[name])})
    path = directory / entry.name
    shutil.rmtree(path) if folder else path.unlink()
    written = write(QuickDisk(), directory, entry.name, bad)
    entry = entry._replace(size=written.size, checksum=written.checksum)
    (directory / MANIFEST).write_bytes(encode(manifest._replace(segments=(entry,))))
    with pytest.raises(StoreError, match=name):
        everything(directory)
    assert mend(directory)
    assert open_snapshot(directory).paths == sorted(wanted())


def everything(directory: Path) -> None:
    """A reader that looks at all there is."""
    problems = verify(directory)
    snapshot = open_snapshot(directory)
    _ = snapshot.rows, snapshot.known(), snapshot.live
    for prefix in ("body", "name"):
        for tables in snapshot.stack.tables:
            for term in getattr(tables, prefix + "_terms").tolist():
                snapshot.stack.postings(prefix, term)
    snapshot.tables()
    raise StoreError("; ".join(problems) or "nothing was noticed")


def test_the_table_of_arrays_is_read_typed(root: Path) -> None:
    directory = build(root, FILES)
    manifest = decode((directory / MANIFEST).read_bytes(), "")
    entry = manifest.segments[0]
    path = directory / entry.name
    whole = path.read_bytes()
    for old, new in (
        (b'"shape":[', b'"shape":"'),
        (b'"format":%d' % FORMAT, b'"format":9'),
        (b"vectors", b"victors"),
        (b'"at":', b'"ax":'),
    ):
        body = whole[24:].replace(old, new, 1)
        path.write_bytes(whole[:8] + xxhash.xxh3_128_digest(body) + body)
        changed = entry._replace(checksum=xxhash.xxh3_128_hexdigest(body))
        (directory / MANIFEST).write_bytes(encode(manifest._replace(segments=(changed,))))
        with pytest.raises(StoreError, match="table of arrays"):
            open_snapshot(directory)


def test_every_array_of_the_format_is_a_column_of_the_tables() -> None:
    assert list(ARRAYS) == list(Tables.__slots__)
