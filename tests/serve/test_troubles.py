"""Troubles of a live daemon, as its clients and its user see them: told, answered in spite of, and healed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.serve.client import connect_root
from tests.serve.homes import BOUND, Home, small_tree, sync, wait_until
from tests.serve.troubled import found, status


@pytest.mark.parametrize(
    "name", ["full_disk_of_the_index", "full_disk_of_the_root", "few_watches", "no_instance", "unreadable"]
)
def test_in_a_namespace_of_its_own(tmp_path: Path, name: str) -> None:
    """What takes rights that only a name space of users gives; see `troubled`."""
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no name spaces here")
    words = ["unshare", "-Urm", sys.executable, "-m", "tests.serve.troubled", name, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_reading_thread_that_dies_is_told_and_healed(home: Home, tree: Path) -> None:
    words = [sys.executable, "-m", "tests.serve.harmed", str(tree)]
    with subprocess.Popen(words, env=home.environment, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: connected(tree))
        sync(home, tree)
        for number in range(3):
            process.send_signal(signal.SIGUSR1)
            (tree / "pkg" / "store.py").write_text(f"def after_death_{number}(): pass\n")
            with home.client(tree) as client:
                assert found(client, f"after_death_{number}") == ["pkg/store.py"]
            wait_until(lambda: "was started again" in " ".join(status(home, tree)["watch"]["problems"]))
        assert "the watching thread ended" in home.run("status", cwd=tree).stdout
        assert status(home, tree)["watch"]["rearms"] == 3
        assert home.run("daemon", "stop", cwd=tree).returncode == 0
        assert process.wait(BOUND) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def connected(root: Path) -> bool:
    client = connect_root(root, timeout=BOUND)
    if client is not None:
        client.close()
    return client is not None


def test_a_root_that_is_deleted_and_made_again(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    sync(home, tree)
    shutil.rmtree(tree)
    wait_until(lambda: f"{tree} is gone: " in told_of_the_gone(home, tree))
    assert "indexer daemon stop" in told_of_the_gone(home, tree), "what to do"
    small_tree(tree)
    (tree / "again.py").write_text("def made_again(): pass\n")
    wait_until(lambda: connected(tree))
    with home.client(tree) as client:
        assert client.pid == pid
        assert found(client, "made_again") == ["again.py"]
    assert status(home, tree)["problems"] == []
    assert status(home, tree)["current"]


def test_a_root_that_is_renamed(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    sync(home, tree)
    other = tree.with_name("elsewhere")
    tree.rename(other)
    wait_until(lambda: "is gone: it was renamed" in told_of_the_gone(home, tree))
    # At its new place it is a root like any other, and the old daemon is in nobody's way.
    assert home.run("search", "Store", other, cwd=other).returncode == 0
    assert home.start(other) != pid
    sync(home, other)
    assert home.run("daemon", "stop", other, cwd=other).returncode == 0
    other.rename(tree)
    with home.client(tree) as client:
        assert client.pid == pid
        assert found(client, "Store") == ["pkg/store.py"]
    assert status(home, tree)["problems"] == []


def told_of_the_gone(home: Home, root: Path) -> str:
    done = home.run("daemon", "status", root, cwd=root.parent)
    return done.stdout + done.stderr


def test_a_root_that_is_gone_can_be_let_go(home: Home, tree: Path) -> None:
    home.start(tree)
    sync(home, tree)
    shutil.rmtree(tree)
    done = home.run("daemon", "stop", tree, cwd=tree.parent)
    assert done.returncode == 0, done.stderr
    assert "no daemon runs" in told_of_the_gone(home, tree) or "cannot be opened" in told_of_the_gone(
        home, tree
    )
    assert os.listdir(tree.parent) == []
