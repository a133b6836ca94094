"""The diff, by value: no file system takes part."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.scan.diff import compare, is_racy
from indexer.scan.read import Read, read_file
from indexer.types import FileStat

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000_000
NOW = 1_700_000_000 * S + 123_456_789


def stat(
    path: str, size: int = 10, mtime_ns: int = NOW - 100 * S, ctime_ns: int = NOW - 100 * S, inode: int = 7
) -> FileStat:
    return FileStat(path, size, mtime_ns, ctime_ns, inode)


def test_new_moved_racy_gone_unchanged() -> None:
    known = {path: stat(path) for path in ("same", "size", "mtime", "ctime", "inode", "racy", "gone")}
    seen = [
        stat("same"), stat("size", size=11), stat("mtime", mtime_ns=NOW), stat("ctime", ctime_ns=NOW), stat("inode", inode=8),
        stat("racy"), stat("new"),
    ]  # fmt: skip
    result = compare(known, {"racy", "gone", "mtime"}, seen, [])
    assert [s.path for s in result.new] == ["new"]
    assert [s.path for s in result.moved] == ["size", "mtime", "ctime", "inode"]
    assert [s.path for s in result.racy] == ["racy"]
    assert result.gone == ("gone",)
    assert result.unchanged == 1
    assert [s.path for s in result.opened] == ["new", "size", "mtime", "ctime", "inode", "racy"]


def test_an_older_mtime_is_a_change_too() -> None:
    """A file that was restored from a backup, or swapped with its older copy."""
    assert compare({"a": stat("a")}, set(), [stat("a", mtime_ns=1)], []).moved


@pytest.mark.parametrize(
    ("unknown", "gone"),
    [
        ([], ["a", "a/b", "a/b/c", "ab", "z"]),
        ([""], []),
        (["a"], ["ab", "z"]),
        (["a/b"], ["a", "ab", "z"]),
        (["ab", "z"], ["a", "a/b", "a/b/c"]),
    ],
)
def test_absence_needs_evidence(unknown: list[str], gone: list[str]) -> None:
    known = {path: stat(path) for path in ("z", "ab", "a/b/c", "a/b", "a")}
    assert list(compare(known, set(), [], unknown).gone) == gone


def test_gone_in_the_order_of_bytes() -> None:
    names = ["\U00010000", "\uffee", os.fsdecode(b"\xff"), "a"]
    assert list(compare({n: stat(n) for n in names}, set(), [], []).gone) == sorted(names, key=os.fsencode)


@given(
    known=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2)),
    seen=st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2)),
    racy=st.sets(st.sampled_from("abcdef")),
)
def test_every_file_goes_one_way(known: dict[str, int], seen: dict[str, int], racy: set[str]) -> None:
    before = {path: stat(path, size=size) for path, size in known.items()}
    after = [stat(path, size=size) for path, size in sorted(seen.items())]
    result = compare(before, racy, after, [])
    assert len(result.opened) + result.unchanged == len(seen)
    assert {s.path for s in result.opened} | set(result.gone) >= {
        p for p in "abcdef" if known.get(p) != seen.get(p)
    }
    assert set(result.gone) == set(known) - set(seen)
    assert {s.path for s in result.racy} <= racy


MS = 1_000_000
RACY = [
    # age of mtime, age of ctime (ns before the reading), racy
    (1 * MS, 1 * MS, True),
    (0, 0, True),
    (200 * MS, 200 * MS, False),
    (100 * S, 1 * MS, True),  # touched into the past just now
    (-3600 * S, 100 * S, False),  # an mtime in the future: the next change moves it
    (-3600 * S, 1 * MS, True),
    (-10 * S, -10 * S, True),  # a server's clock runs ahead
    (-86400 * S, -86400 * S, False),  # our own clock was set back: not racy for a day
]


@pytest.mark.parametrize(("mtime_age", "ctime_age", "racy"), RACY)
def test_racy_by_age(mtime_age: int, ctime_age: int, racy: bool) -> None:
    assert is_racy(stat("a", mtime_ns=NOW - mtime_age, ctime_ns=NOW - ctime_age), NOW) is racy


def test_whole_seconds_are_coarse_stamps() -> None:
    second = NOW - NOW % S
    read_at = second + 1 * S + 900 * MS
    assert is_racy(stat("a", mtime_ns=second, ctime_ns=second), read_at)
    assert not is_racy(stat("a", mtime_ns=second + 1, ctime_ns=second + 1), read_at)
    assert not is_racy(stat("a", mtime_ns=second, ctime_ns=second), read_at + 200 * MS)


def test_a_second_change_in_the_same_tick_is_always_suspected(tmp_path: Path) -> None:
    """On the real file system: whatever the stat says afterwards, the record was racy or the stat moved."""
    path = tmp_path / "f"
    for round_ in range(300):
        path.write_bytes(b"%08d" % round_)
        read = read_file(tmp_path, "f", 100)
        assert isinstance(read, Read)
        with path.open("r+b") as file:
            file.write(b"x" * 8)
        again = read_file(tmp_path, "f", 100)
        assert isinstance(again, Read)
        assert again.digest != read.digest
        assert again.stat != read.stat or is_racy(read.stat, read.read_at_ns)
    time.sleep(0.1)
    settled = read_file(tmp_path, "f", 100)
    assert isinstance(settled, Read)
    assert not is_racy(settled.stat, settled.read_at_ns)
