"""Reading: one state of a file, inside the root, whatever happens meanwhile."""

# ruff: noqa: PTH104, PTH105  (the calls a writer makes)

from __future__ import annotations

import os
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
import xxhash

from indexer.scan import read as reading
from indexer.scan.read import Read, read_file
from indexer.types import Skipped

from .trees import scan, write

if TYPE_CHECKING:
    from pathlib import Path


def reason(result: Read | Skipped) -> str:
    return result.reason if isinstance(result, Skipped) else "read"


def test_a_file_with_its_stat_and_digest(tmp_path: Path) -> None:
    before = time.time_ns()
    write(tmp_path, {"a/b/c.py": b"x = 1\r\n\xff\0"})
    for root in (tmp_path, str(tmp_path)):
        read = read_file(root, "a/b/c.py", 1000)
        assert isinstance(read, Read)
        assert read.data == b"x = 1\r\n\xff\0"
        assert read.digest == xxhash.xxh3_128(read.data).digest()
        assert [read.stat] == scan(tmp_path).files
        assert before <= read.read_at_ns <= time.time_ns()


def test_empty_and_exactly_at_the_limit(tmp_path: Path) -> None:
    write(tmp_path, {"empty": b"", "ten": b"x" * 10, "eleven": b"x" * 11})
    results = [read_file(tmp_path, name, 10) for name in ("empty", "ten", "eleven")]
    assert [reason(result) for result in results] == ["read", "read", "too-large"]


def test_what_is_no_file(tmp_path: Path) -> None:
    write(tmp_path, {"a/f.py": "", "real.py": ""})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link.py").symlink_to("real.py")
    (tmp_path / "b").symlink_to("a")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tmp_path / "s"))
    names = ["pipe", "s", "a", "link.py", "b/f.py", "nothing", "nothing/at/all", "real.py/x"]
    reasons = [reason(read_file(tmp_path, name, 10)) for name in names]
    assert reasons == ["special-file"] * 3 + ["symlink", "vanished", "vanished", "vanished", "vanished"]


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", ".", "a//b", "./a", "a/", "a\0b"])
def test_no_path_leads_out_s123(tmp_path: Path, path: str) -> None:
    write(tmp_path / "r", {"a/b": ""})
    write(tmp_path, {"x": "secret"})
    assert read_file(tmp_path / "r", path, 100) == Skipped(path, "unreadable", "not a path inside the root")


def test_a_folder_swapped_for_a_link_never_leads_out_s123(tmp_path: Path) -> None:
    """The folder is a link to outside every other moment; what is read is the inside, or nothing."""
    root = write(tmp_path / "r", {"real/f": b"inside", "d/f": b"inside"})
    write(tmp_path / "outside", {"f": b"outside"})
    (root / "bait").symlink_to(tmp_path / "outside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "d", root / "away")
            os.rename(root / "bait", root / "d")
            os.rename(root / "d", root / "bait")
            os.rename(root / "away", root / "d")

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = {
            r.data if isinstance(r := read_file(root, "d/f", 100), Read) else r.reason for _ in range(3000)
        }
    finally:
        stop.set()
        thread.join()
    assert seen <= {b"inside", "vanished"}
    assert b"inside" in seen


def test_a_file_that_is_written_meanwhile_is_read_whole_or_not_at_all_s121(tmp_path: Path) -> None:
    """A writer truncates and rewrites, appends, and replaces; each content it finishes has its own checksum."""
    path = tmp_path / "f"
    path.write_bytes(b"0" * 16 + xxhash.xxh3_128(b"0" * 16).digest())
    stop = threading.Event()

    def churn() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            body = b"%d" % n * (n % 4000 + 1)
            temporary = tmp_path / "t"
            temporary.write_bytes(body + xxhash.xxh3_128(body).digest())
            if n % 5:
                os.replace(temporary, path)
            else:
                path.unlink()
                os.replace(temporary, path)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(3000):
            read = read_file(tmp_path, "f", 100_000)
            if isinstance(read, Read):
                body, digest = read.data[:-16], read.data[-16:]
                assert xxhash.xxh3_128(body).digest() == digest
                assert len(read.data) == read.stat.size
            else:
                assert read.reason in {"vanished", "unreadable"}
    finally:
        stop.set()
        thread.join()


def test_a_file_that_only_grows_ends_in_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"")
    stop = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:
            while not stop.is_set() and file.tell() < 50_000_000:
                file.write(b"line\n" * 100)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(200):
            read = read_file(tmp_path, "log", 10_000_000)
            if isinstance(read, Read):
                assert len(read.data) == read.stat.size
            else:
                assert read.reason in {"unreadable", "too-large"}
    finally:
        stop.set()
        thread.join()


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    write(tmp_path, {"a/b/c": "x", "d": "y"})
    before = len(os.listdir("/proc/self/fd"))
    for name in ("a/b/c", "d", "a/b", "a/x/y", "a/b/c/d", "none"):
        read_file(tmp_path, name, 0)
        read_file(tmp_path, name, 10)
    scan(tmp_path)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(("changes", "expected"), [(1, "read"), (4, "read"), (5, "unreadable")])
def test_a_change_of_the_same_size_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: int, expected: str
) -> None:
    """A real write, placed at the one moment that matters: after the bytes, before the second look."""
    path = tmp_path / "f"
    path.write_bytes(b"0000")
    left = list(range(1, changes + 1))
    content = reading._content

    def then_written(descriptor: int, size: int) -> bytes:
        data = content(descriptor, size)
        if left:
            number = left.pop(0)
            path.write_bytes(b"%04d" % number)
            os.utime(path, ns=(number, number))
        return data

    monkeypatch.setattr(reading, "_content", then_written)
    read = read_file(tmp_path, "f", 10)
    assert reason(read) == expected
    assert not left
    if isinstance(read, Read):
        assert read.data == b"%04d" % changes
        assert read.stat.mtime_ns == changes
