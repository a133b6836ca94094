"""A disk that refuses, at any operation: one clear line, the old generation stands, and the commit can be repeated."""

from __future__ import annotations

import errno
import os
import re
import shutil
from typing import TYPE_CHECKING, TypeVar

import pytest

from indexer.errors import NotIndexedError, StoreError
from indexer.store import Writer, commit, open_snapshot, tiers, verify
from indexer.store.disk import VanishedError
from tests.store.refusing import CHANGES, FOR_EVER, Refusing
from tests.store.samples import IDENTITY, QuickDisk, build, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


T = TypeVar("T")


@pytest.fixture(autouse=True)
def few_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MOST_PIECES", 2)
    monkeypatch.setattr(tiers, "FEWEST", 2)


BEFORE = {"a": b"alpha one\nbeta\n", "b": b"gamma\n"}


def one_commit(root: Path, disk: Refusing, *, merging: bool) -> Writer:
    """A writer with changes pending on two segments (the next commit merges) or one."""
    writer = Writer(root, root / ".indexer", IDENTITY, disk=disk)
    put(writer, "a", BEFORE["a"])
    writer.commit()
    put(writer, "b", BEFORE["b"])
    writer.commit()
    if not merging:
        writer.compact()
    put(writer, "c", b"new\n")
    writer.remove_file("a")
    return writer


def changes_in_a_commit(root: Path, *, merging: bool) -> int:
    disk = Refusing()
    with one_commit(root, disk, merging=merging) as writer:
        disk.arm(0, -1, 0)
        writer.commit()
    return disk.count


def told(writer: Writer) -> str:
    """What a commit says when it fails; empty when it does not."""
    try:
        writer.commit()
    except StoreError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("fold", [1 << 22, 1], ids=["file", "folder"])
@pytest.mark.parametrize("merging", [False, True], ids=["small", "merging"])
@pytest.mark.parametrize(
    "refusal",
    [(errno.ENOSPC, False), (errno.EIO, False), (errno.EROFS, True), (errno.EIO, True)],
    ids=["full once", "failing once", "read-only for good", "failing for good"],
)
def test_refused_at_any_operation(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, fold: int, merging: bool, refusal: tuple[int, bool]
) -> None:
    error, lasting = refusal
    monkeypatch.setattr(commit, "FOLD_BYTES", fold)
    want_before = open_snapshot(build(scratch / "before", BEFORE)).tables()
    want_after = open_snapshot(build(scratch / "after", {"b": BEFORE["b"], "c": b"new\n"})).tables()
    (scratch / "count").mkdir(parents=True)
    total = changes_in_a_commit(scratch / "count", merging=merging)
    assert total >= 9
    for at in range(1, total + 1, 5 if total > 40 else 1):  # a folder is thirty times the same operation
        root = scratch / str(at)
        root.mkdir()
        disk = Refusing()
        with one_commit(root, disk, merging=merging) as writer:
            before = (writer.snapshot.epoch, writer.snapshot.generation)
            disk.arm(at, FOR_EVER if lasting else at, error)
            failed = told(writer)
            if failed:
                assert re.fullmatch(
                    rf"{re.escape(str(root / '.indexer'))}\S*: cannot \w+: {os.strerror(error)}(; .*set store\.dir to .+)?",
                    failed,
                )
            seen = open_snapshot(root / ".indexer")
            if not failed:
                # Refused when only removals were left, or where there is another way (no hard links).
                assert seen.tables() == want_after, disk.refused
            elif lasting and seen.generation == before[1] + 1:
                # Refused after the rename, and so was the way back: the new generation is whole.
                assert seen.tables() == want_after
            else:
                assert (seen.epoch, seen.generation) == before
                assert seen.tables() == want_before, disk.refused
            disk.arm(0, -1, 0)
            writer.commit()
        after = open_snapshot(root / ".indexer")
        assert after.tables() == want_after
        assert verify(root / ".indexer") == []
        assert not [name for name in os.listdir(root / ".indexer") if name.startswith("tmp-")]
        if failed:
            assert (after.epoch, after.generation) != (before[0], before[1] + 1), (
                "a number is never used twice"
            )
        shutil.rmtree(root)


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_interrupted_at_any_operation(scratch: Path, late: bool) -> None:
    """Ctrl-C before or after any operation of a commit: one of both generations, and the writer can go on."""

    class Interrupted(Refusing):
        def attempt(self, action: str, path: Path, call: Callable[[], T]) -> T:
            hit = False
            if action in CHANGES:
                self.count += 1
                hit = self.count == self.first
            if hit and not late:
                raise KeyboardInterrupt
            done = super().attempt("read", path, call)
            if hit:
                raise KeyboardInterrupt
            return done

    want_before = open_snapshot(build(scratch / "before", BEFORE)).tables()
    want_after = open_snapshot(build(scratch / "after", {"b": BEFORE["b"], "c": b"new\n"})).tables()
    (scratch / "count").mkdir(parents=True)
    total = changes_in_a_commit(scratch / "count", merging=True)
    for at in range(1, total + 1):
        root = scratch / str(at)
        root.mkdir()
        disk = Interrupted()
        with one_commit(root, disk, merging=True) as writer:
            disk.arm(at, at, 0)
            with pytest.raises(KeyboardInterrupt):
                writer.commit()
            disk.arm(0, -1, 0)
            seen = open_snapshot(root / ".indexer")
            assert seen.tables() in (want_before, want_after)
            writer.commit()
        after = open_snapshot(root / ".indexer")
        assert after.tables() == want_after
        assert verify(root / ".indexer") == []
        assert seen.tables() == want_after or (after.epoch, after.generation) != (seen.epoch, seen.generation)


def test_refused_when_the_writer_opens(root: Path) -> None:
    build(root, BEFORE)
    (root / ".indexer" / "g0000000009-00000000.seg").write_bytes(b"an orphan")
    disk = Refusing()
    disk.arm(1, 1, errno.EROFS)
    with pytest.raises(StoreError, match=r"g0000000009-00000000.seg: cannot remove: Read-only"):
        Writer(root, root / ".indexer", IDENTITY, disk=disk)
    disk.arm(0, -1, 0)
    Writer(root, root / ".indexer", IDENTITY, disk=disk).close()


def test_a_full_disk_gets_its_room_back(root: Path) -> None:
    """What a failed commit wrote is removed at once: a full disk must not stay full because of us."""
    disk = Refusing()
    with one_commit(root, disk, merging=True) as writer:
        names = sorted(os.listdir(root / ".indexer"))
        disk.arm(4, 4, errno.ENOSPC)  # the manifest's write; the segment stands
        with pytest.raises(StoreError, match=r"manifest.json: cannot write: No space left"):
            writer.commit()
        assert sorted(os.listdir(root / ".indexer")) == names


def test_no_hard_links(root: Path) -> None:
    class Plain(QuickDisk):
        def link(self, old: Path, new: Path) -> None:
            raise StoreError(f"{old}: cannot link {new}: {os.strerror(errno.EPERM)}")

    with Writer(root, root / ".indexer", IDENTITY, disk=Plain()) as writer:
        for number in range(3):
            put(writer, "a", b"text %d\n" % number)
            writer.commit()
    (root / ".indexer" / "manifest.json").unlink()
    assert open_snapshot(root / ".indexer").generation == 2


# --- the index goes away under a writer


def test_git_clean_under_a_writer(root: Path) -> None:
    """The tables are in memory or mapped: the commit writes all of them again."""
    build(root, BEFORE)
    directory = root / ".indexer"
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        put(writer, "c", b"one\n")
        writer.commit()
        held = open_snapshot(directory)
        shutil.rmtree(directory)
        with pytest.raises(NotIndexedError):
            open_snapshot(directory)
        put(writer, "d", b"two\n")
        writer.commit()
        snapshot = open_snapshot(directory)
        assert snapshot.paths == ["a", "b", "c", "d"]
        assert snapshot.epoch != held.epoch
        assert verify(directory) == []
        assert (directory / ".gitignore").exists()
        put(writer, "e", b"three\n")
        writer.commit()
    assert open_snapshot(directory).paths == ["a", "b", "c", "d", "e"]


def test_git_clean_under_a_writer_of_folders(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "FOLD_BYTES", 1)
    monkeypatch.setattr("indexer.store.disk.MAP_FROM", 1)
    test_git_clean_under_a_writer(root)


@pytest.mark.parametrize("half", ["manifest.json", "segment"])
def test_half_of_the_index_goes_away_under_a_writer(root: Path, half: str) -> None:
    build(root, BEFORE)
    directory = root / ".indexer"
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        name = (
            half if half.endswith("json") else next(p.name for p in directory.iterdir() if p.suffix == ".seg")
        )
        (directory / name).unlink()
        put(writer, "c", b"one\n")
        writer.commit()
    assert open_snapshot(directory).paths == ["a", "b", "c"]
    assert verify(directory) == []


def test_a_lost_manifest_and_a_full_disk(root: Path) -> None:
    """The previous generation answers; a commit that fails must not take its segments away."""
    build(root, BEFORE)
    directory = root / ".indexer"
    disk = Refusing()
    with Writer(root, directory, IDENTITY, disk=disk) as writer:
        put(writer, "c", b"one\n")
        writer.compact()
        (directory / "manifest.json").unlink()
        put(writer, "d", b"two\n")
        for at in range(1, 6):
            disk.arm(at, at, errno.ENOSPC)
            assert told(writer)
            assert open_snapshot(directory).paths == ["a", "b"]
            assert open_snapshot(directory).tables().rows
        disk.arm(0, -1, 0)
        writer.commit()
    assert open_snapshot(directory).paths == ["a", "b", "c", "d"]


def test_the_root_is_replaced_under_a_writer(root: Path) -> None:
    with Writer(root, root / ".indexer", IDENTITY, disk=QuickDisk()) as writer:
        put(writer, "a", b"one\n")
        root.rename(root.with_name("moved"))
        with pytest.raises(StoreError, match="went away"):
            writer.commit()
        root.mkdir()
        with pytest.raises(StoreError, match="replaced"):
            writer.commit()
    assert list(root.iterdir()) == []


def test_a_vanished_file_is_told_apart(root: Path) -> None:
    with pytest.raises(VanishedError):
        QuickDisk().read(root / "nothing")
