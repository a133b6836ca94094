"""A live daemon whose socket, lock or whole directory is removed: it is found again, or ends; nobody waits for ever."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.errors import DaemonError
from indexer.serve import lock as locks
from indexer.serve import place as places
from indexer.serve import start
from indexer.serve.client import connect_root
from indexer.serve.place import Place
from tests.serve.homes import BOUND, Home, alive, sync, wait_until


def remove_socket(place: Place) -> None:
    Path(place.socket).unlink()


def remove_lock(place: Place) -> None:
    Path(place.lock).unlink()


def move_socket(place: Place) -> None:
    Path(place.socket).rename(f"{place.socket}.aside")


def remove_directory(place: Place) -> None:
    shutil.rmtree(place.directory)


def move_directory(place: Place) -> None:
    Path(place.directory).rename(f"{place.directory}.aside")


def is_served(place: Place) -> bool:
    """Whether whoever comes now finds it, and finds it alone."""
    client = connect_root(place.root, timeout=BOUND)
    if client is not None:
        client.close()
    return client is not None and locks.is_held(place.lock)


@pytest.mark.parametrize("harm", [remove_socket, remove_lock, move_socket, remove_directory, move_directory])
def test_it_is_found_again(home: Home, tree: Path, harm: Callable[[Place], None]) -> None:
    pid = home.start(tree)
    place = places.place_of(tree)
    with home.client(tree) as before:
        for _ in range(2):
            sync(home, tree)
            shutil.rmtree(f"{place.directory}.aside", ignore_errors=True)
            harm(place)
            wait_until(lambda: is_served(place))
            with start.start(str(tree), timeout=BOUND) as client:
                assert client.pid == pid
        assert before.request("index/sync", timeout=BOUND)["fresh"], "who was connected still is"
    found = Path(place.socket).stat(), Path(place.directory).stat()
    assert [status.st_mode & 0o777 for status in found] == [0o600, 0o700]
    assert start.stop(str(tree), timeout=BOUND)
    assert not os.path.lexists(place.socket)
    wait_until(lambda: not alive(pid))


def test_it_ends_when_its_place_cannot_be_had_again(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    place = places.place_of(tree)
    shutil.rmtree(place.directory)
    Path(place.directory).write_text("in the way")
    wait_until(lambda: not alive(pid))
    Path(place.directory).unlink()
    assert home.start(tree) != pid


def test_another_daemon_at_its_place_is_left_alone(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    place = places.place_of(tree)
    os.kill(pid, 19)  # SIGSTOP: so that the other one is first
    try:
        Path(place.socket).unlink()
        Path(place.lock).unlink()
        other = locks.take(place.lock)
        assert other is not None
    finally:
        os.kill(pid, 18)  # SIGCONT
    with other:
        wait_until(lambda: not alive(pid))
    assert not os.path.lexists(place.socket)


def test_a_lock_without_a_socket_is_no_reason_to_hang(
    home: Home, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.make_runtime_dir()
    place = places.place_of(tree)
    lock = locks.take(place.lock)
    assert lock is not None
    monkeypatch.setattr(start, "_SILENT_SECONDS", 0.5)
    with lock:
        assert connect_root(tree) is None
        with pytest.raises(start.StartError, match="listens nowhere; end its process by hand"):
            start.start(str(tree), timeout=BOUND)
        assert not Path(place.log).exists(), "no process was started in vain"
        said: list[str] = []
        with pytest.raises(DaemonError, match="listens nowhere; end its process by hand"):
            start.stop(str(tree), timeout=0.5, told=said.append)
        assert len(said) == 1
        done = home.run("daemon", "status", cwd=tree)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "end its process by hand" in done.stderr
        assert home.run("search", "Store", cwd=tree).returncode == 0
    home.start(tree)
