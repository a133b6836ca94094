"""Where a daemon is found: short names, a directory of ours alone, and a file in the repository that nobody believes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.errors import DaemonError, RootError
from indexer.serve import lock, place
from indexer.serve.client import connect_root
from indexer.serve.place import Announcement
from tests.serve.homes import Home

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")


def deep_folder(top: Path, length: int) -> str:
    """Make a folder whose path is ``length`` bytes long."""
    path = str(top)
    while len(path) < length - 1:
        path += "/" + "d" * min(200, length - len(path) - 1)
        Path(path).mkdir()
    return path


# --- names


@pytest.mark.parametrize("length", [150, 1000, 4000])
def test_a_socket_path_is_short_whatever_the_roots_length_s087(
    home: Home, tmp_path: Path, length: int
) -> None:
    found = place.place_of(deep_folder(tmp_path, length))
    place.make_runtime_dir()
    assert len(found.socket) <= place.LONGEST_SOCKET
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(found.socket)


def test_a_root_is_told_by_its_path_and_by_what_lies_there(home: Home, tree: Path) -> None:
    before = place.place_of(tree)
    assert place.place_of(tree) == before
    tree.rename(tree.with_name("moved"))
    assert place.place_of(tree.with_name("moved")).key != before.key
    tree.mkdir()
    assert place.place_of(tree).key != before.key
    with pytest.raises(DaemonError, match="cannot be opened"):
        place.place_of(tree / "none")


def test_the_runtime_directory_is_the_platforms_or_one_in_tmp(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.runtime_dir() == f"{home.runtime}/indexer"
    long = tmp_path / ("x" * 100)
    long.mkdir()
    other = f"/run/user/{os.geteuid()}"
    expected = f"{other}/indexer" if Path(other).is_dir() else f"/tmp/indexer-{os.geteuid()}"
    for value in ("", "relative", str(long), str(home.runtime / "none")):
        monkeypatch.setenv("XDG_RUNTIME_DIR", value)
        assert place.runtime_dir() == expected


def test_the_runtime_directory_is_made_for_us_alone(home: Home) -> None:
    before = os.umask(0)
    try:
        made = Path(place.make_runtime_dir())
    finally:
        os.umask(before)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    made.chmod(0o755)
    with pytest.raises(DaemonError, match="chmod 700"):
        place.make_runtime_dir()
    made.rmdir()
    made.symlink_to("/tmp")
    with pytest.raises(DaemonError, match="not a directory of yours"):
        place.make_runtime_dir()


@as_root
def test_a_runtime_directory_of_somebody_else_is_refused(home: Home) -> None:
    made = Path(place.make_runtime_dir())
    os.chown(made, NOBODY, NOBODY)
    with pytest.raises(DaemonError, match="not a directory of yours"):
        place.make_runtime_dir()
    os.chown(home.runtime, NOBODY, NOBODY)
    assert not place.runtime_dir().startswith(str(home.runtime))
    os.chown(home.runtime, 0, 0)


# --- daemon.json


def announced(tree: Path) -> tuple[Path, Announcement]:
    index = tree / ".indexer"
    index.mkdir(mode=0o700)
    said = Announcement(place.place_of(tree).socket, 12, 1, "0.1")
    place.announce(index, said)
    return index, said


def test_what_is_announced_is_read_back_and_withdrawn(home: Home, tree: Path) -> None:
    index, said = announced(tree)
    file = index / "daemon.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_bytes()) == {
        "socket": said.socket, "pid": 12, "protocol": 1, "version": "0.1",
    }  # fmt: skip
    assert place.read_announcement(index) == said
    place.withdraw(index, said._replace(pid=13))
    assert file.exists()
    place.withdraw(index, said)
    assert list(index.iterdir()) == []
    assert place.read_announcement(index) is None
    assert place.read_announcement(tree / "none") is None


def test_announcing_replaces_whatever_is_there_and_follows_nothing(home: Home, tree: Path) -> None:
    index, said = announced(tree)
    outside = tree / "outside"
    outside.write_text("mine")
    for name in ("daemon.json", "daemon.json.new"):
        (index / name).unlink(missing_ok=True)
        (index / name).symlink_to(outside)
    place.announce(index, said)
    assert outside.read_text() == "mine"
    assert place.read_announcement(index) == said


def text(value: object) -> Callable[[Path, Path], None]:
    def plant(index: Path, _: Path) -> None:
        (index / "daemon.json").write_text(value if isinstance(value, str) else json.dumps(value))

    return plant


def linked(index: Path, outside: Path) -> None:
    outside.write_text((index / "daemon.json").read_text())
    (index / "daemon.json").unlink()
    (index / "daemon.json").symlink_to(outside)


def pipe(index: Path, _: Path) -> None:
    (index / "daemon.json").unlink()
    os.mkfifo(index / "daemon.json")


def folder(index: Path, _: Path) -> None:
    (index / "daemon.json").unlink()
    (index / "daemon.json").mkdir()


def naming(socket_path: str) -> Callable[[Path, Path], None]:
    return text({"socket": socket_path, "pid": 1, "protocol": 1, "version": "1"})


PLANTED: dict[str, tuple[Callable[[Path, Path], None], str]] = {
    "link": (linked, "remove it"),
    "pipe": (pipe, "not a small file of yours"),
    "folder": (folder, "not a small file of yours"),
    "large": (text(" " * 5000), "not a small file of yours"),
    "no JSON": (text("{"), "not what a daemon writes"),
    "deep": (text("[" * 4000), "not what a daemon writes"),
    "a list": (text([1]), "not what a daemon writes"),
    "no socket": (text({"pid": 1, "protocol": 1, "version": "1"}), "not what a daemon writes"),
    "types": (text({"socket": 1, "pid": 1, "protocol": 1, "version": "1"}), "not what a daemon writes"),
    "bool": (text({"socket": "/x", "pid": True, "protocol": 1, "version": "1"}), "not what a daemon writes"),
    "elsewhere": (naming("/tmp/other.sock"), "names a socket outside"),
    "up": (naming("RUNTIME/../other.sock"), "names a socket outside"),
    "no key": (naming("RUNTIME/other.sock"), "names a socket outside"),
    "below": (naming("RUNTIME/x/0123456789abcdef0123.sock"), "names a socket outside"),
    "no socket's name": (naming("RUNTIME/0123456789abcdef0123.lock"), "names a socket outside"),
    "NUL": (naming("RUNTIME/0123456789abcdef0123\0.sock"), "names a socket outside"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_announcement_is_refused_in_a_line(
    home: Home, tree: Path, tmp_path: Path, name: str
) -> None:
    index, _ = announced(tree)
    plant, message = PLANTED[name]
    plant(index, tmp_path / "outside")
    file = index / "daemon.json"
    if file.is_file() and not file.is_symlink():
        file.write_text(file.read_text().replace("RUNTIME", place.runtime_dir()))
    with pytest.raises(DaemonError, match=message) as caught:
        place.read_announcement(index)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(DaemonError, match=message):
        connect_root(tree)


@as_root
def test_an_announcement_of_somebody_else_is_refused(home: Home, tree: Path) -> None:
    index, _ = announced(tree)
    os.chown(index / "daemon.json", NOBODY, NOBODY)
    with pytest.raises(DaemonError, match="not a small file of yours"):
        place.read_announcement(index)
    os.chown(index, NOBODY, NOBODY)
    with pytest.raises(RootError, match="another user"):
        place.read_announcement(index)


def test_an_index_that_leads_elsewhere_is_refused(home: Home, tree: Path, tmp_path: Path) -> None:
    announced(tree)
    (tree / ".indexer").rename(tmp_path / "elsewhere")
    (tree / ".indexer").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RootError, match="symbolic link"):
        connect_root(tree)
    (tree / ".indexer").unlink()
    (tree / ".indexer").write_text("")
    with pytest.raises(RootError, match="not a folder"):
        connect_root(tree)


def lured(tree: Path, outside: Path) -> bool:
    """Tell whether a client comes to a socket that a repository's daemon.json names."""
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(outside))
        trap.listen()
        trap.settimeout(0.5)
        naming(str(outside))(tree / ".indexer", outside)
        with contextlib.suppress(DaemonError):
            connect_root(tree, timeout=0.3)
        try:
            trap.accept()[0].close()
        except TimeoutError:
            return False
        return True


def test_nobody_connects_to_a_foreign_socket(home: Home, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    announced(tree)
    place.make_runtime_dir()
    assert not lured(tree, home.runtime / "one.sock")
    # The fault that this is about, put in: then the trap is gone into.
    monkeypatch.setattr(place, "_in_our_directory", lambda _: True)
    assert lured(tree, home.runtime / "two.sock")


# --- the lock


def test_a_lock_is_held_once(home: Home, tree: Path) -> None:
    path = f"{place.make_runtime_dir()}/x.lock"
    assert not lock.is_held(path)
    mine = lock.take(path)
    assert mine is not None
    assert lock.take(path) is None
    assert lock.is_held(path)
    mine.write(str(tree))
    assert Path(path).read_text() == str(tree)
    mine.close()
    mine.close()
    assert not lock.is_held(path)
    again = lock.take(path)
    assert again is not None
    again.close()


def test_a_lock_whose_file_was_cleaned_away_is_taken_anew(home: Home) -> None:
    path = f"{place.make_runtime_dir()}/x.lock"
    mine = lock.take(path)
    assert mine is not None
    Path(path).unlink()
    other = lock.take(path)
    assert other is not None
    assert Path(path).exists()
    mine.close()
    other.close()


def test_a_lock_goes_with_its_process_and_no_child_keeps_it(home: Home) -> None:
    path = f"{place.make_runtime_dir()}/x.lock"
    code = (
        "import os, sys, time\n"
        "from indexer.serve import lock\n"
        "assert lock.take(sys.argv[1])\n"
        "if not os.fork(): print(os.getpid(), flush=True)  # the child, when it has let go\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert lock.is_held(path)
        process.kill()
        process.wait()
        try:
            assert not lock.is_held(path)
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_planted_lock_is_refused(home: Home, tmp_path: Path) -> None:
    path = f"{place.make_runtime_dir()}/x.lock"
    Path(path).symlink_to(tmp_path / "outside")
    with pytest.raises(DaemonError, match="cannot be opened"):
        lock.take(path)
    assert not (tmp_path / "outside").exists()
    assert not lock.is_held(path)
