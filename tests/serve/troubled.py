"""A daemon in trouble that takes rights of its own: ``unshare -Urm python -m tests.serve.troubled NAME FOLDER``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from indexer.serve.client import Client
from tests.serve.homes import BOUND, Home, small_tree, sync, wait_until
from tests.watch.namespaced import drop_rights, limit, mount

QUICK = "[watch]\npoll_seconds = 0.3\n"


def status(home: Home, root: Path) -> Any:
    return home.asked("daemon", "status", root, cwd=root)


def told(home: Home, root: Path) -> str:
    """What a person is told who asks how things stand."""
    done = home.run("status", cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout


def ask(client: Client, query: str, timeout_ms: int = 60_000) -> Any:
    return client.request("index/search", {"query": query, "timeout_ms": timeout_ms}, timeout=BOUND * 2)


def found(client: Client, symbol: str) -> list[str]:
    answer = ask(client, symbol)
    assert answer["fresh"], answer
    return [hit["path"] for hit in answer["hits"] if hit["symbol"] == symbol]


def fill(folder: Path) -> Path:
    """Leave not a byte free."""
    for number, size in enumerate((1 << 16, 1 << 12, 1)):
        with (folder / f"fill{number}.bin").open("wb", buffering=0) as file:
            try:
                while file.write(b"\0" * size):
                    pass
            except OSError:
                continue
    return folder


def free(folder: Path) -> None:
    for path in folder.glob("fill*.bin"):
        path.unlink()


def full_disk(home: Home, folder: Path, index: Path) -> None:
    """What cannot be committed is told with the way out, questions go on, and it heals when there is room."""
    root = small_tree(folder / "root") if not (folder / "root").exists() else folder / "root"
    pid = home.start(root)
    sync(home, root)
    fill(index)
    in_place(root, b"first_edit")
    with home.client(root) as client:
        started = time.monotonic()
        answer = ask(client, "Store", timeout_ms=500)
        assert time.monotonic() - started < 10, "bounded"
        assert not answer["fresh"]
        assert answer["hits"][0]["symbol"] == "Store"
        # On a slow machine the try may be under way for longer than the question waits.
        wait_until(lambda: "No space left" in ask(client, "Store", timeout_ms=500)["reason"])
        for _ in range(3):
            assert not ask(client, "first_edit", timeout_ms=100)["fresh"]
    assert "No space left" in status(home, root)["last_error"]
    assert "store.dir" in told(home, root)
    free(index)
    wait_until(lambda: status(home, root)["current"], BOUND * 2)  # nobody asks, nothing changes
    with home.client(root) as client:
        assert client.pid == pid
        assert found(client, "first_edit") == ["pkg/store.py"]
    assert status(home, root)["last_error"] == ""


def in_place(root: Path, name: bytes) -> None:
    """An edit that needs no room."""
    with (root / "pkg" / "store.py").open("r+b") as file:
        file.seek(0)
        text = file.read()
        file.seek(text.index(b"def commit"))
        file.write(b"def " + name + b"(): 0#")


def full_disk_of_the_index(home: Home, folder: Path) -> None:
    small = folder / "small"
    small.mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "x", small)
    home.settings(f"[store]\ndir = '{small}/indexes'\n")
    full_disk(home, folder, small)


def full_disk_of_the_root(home: Home, folder: Path) -> None:
    (folder / "root").mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "x", folder / "root")
    small_tree(folder / "root")
    full_disk(home, folder, folder / "root")


def few_watches(home: Home, folder: Path) -> None:
    """What has no watch is told, is looked at with each question and nothing else is, and has one when there is room."""
    root = folder / "root"
    for number in range(200):
        (root / f"d{number}" / "e").mkdir(parents=True)
        (root / f"d{number}" / "e" / "x.py").write_text(f"def first_{number}(): pass\n")
    limit("watches", 50)
    home.settings(QUICK.replace("0.3", "1000"))
    home.start(root)
    sync(home, root)
    watch = status(home, root)["watch"]
    assert watch["directories"] <= 50
    assert all("ENOSPC" in line for line in watch["failed"]), watch["failed"]
    assert "max_user_watches" in told(home, root)
    with home.client(root) as client:
        client.request("index/subscribe")
        blind = [int(line.split("/")[0].split(":")[0][1:]) for line in watch["failed"]]
        for number in blind[::40]:
            (root / f"d{number}" / "e" / "x.py").write_text(f"def second_{number}(): pass\n")
            assert found(client, f"second_{number}") == [f"d{number}/e/x.py"]
            assert found(client, f"first_{number}") == []
        number = blind[1]
        (root / f"d{number}" / "e" / ".gitignore").write_text("*.py\n")
        assert found(client, f"first_{number}") == []
        (root / f"d{number}" / "e" / ".gitignore").unlink()
        assert found(client, f"first_{number}") == [f"d{number}/e/x.py"]
        runs = [note.params for note in client.notifications(0.2) if note.method == "index/progress"]
        assert {run["stage"] for run in runs if run["state"] == "done"} == {"update"}
    limit("watches", 10_000)
    home.settings(QUICK)
    sync(home, root)  # the settings' own folder has no watch either
    wait_until(lambda: not status(home, root)["watch"]["failed"])
    assert "max_user_watches" not in told(home, root)
    with home.client(root) as client:
        (root / "d7" / "e" / "x.py").write_text("def with_room(): pass\n")
        assert found(client, "with_room") == ["d7/e/x.py"]


def no_instance(home: Home, folder: Path) -> None:
    """No inotify at all: it is told, what is asked is looked for, and it watches as soon as it can."""
    root = small_tree(folder / "root")
    limit("instances", 0)
    home.settings(QUICK)
    home.start(root)
    sync(home, root)
    assert status(home, root)["watch"]["mode"] == "polling"
    assert "max_user_instances" in told(home, root)
    with home.client(root) as client:
        (root / "pkg" / "store.py").write_text("def while_polled(): pass\n")
        assert found(client, "while_polled") == ["pkg/store.py"]
        limit("instances", 10)
        wait_until(lambda: status(home, root)["watch"]["mode"] == "inotify")
        (root / "pkg" / "store.py").write_text("def while_watched(): pass\n")
        assert found(client, "while_watched") == ["pkg/store.py"]
    assert "max_user_instances" not in told(home, root)


def unreadable(home: Home, folder: Path) -> None:
    """A folder that may not be read: nothing in it is gone, and no answer is sure until it may be."""
    root = small_tree(folder / "root")
    for path in (folder, root, *root.rglob("*")):
        os.chown(path, 0, 0)
    drop_rights()
    home.start(root)
    sync(home, root)
    (root / "pkg").chmod(0)
    with home.client(root) as client:
        answer = ask(client, "Store")
        assert (answer["fresh"], answer["reason"]) == (False, "1 folders could not be read")
        assert answer["hits"][0]["path"] == "pkg/store.py"
        (root / "notes.md").write_text("# Other notes\n")
        time.sleep(0.5)  # an update of its own, which saw nothing amiss
        assert "pkg: cannot be read" in status(home, root)["problems"]
        (root / "pkg").chmod(0o700)
        assert found(client, "Store") == ["pkg/store.py"]
    assert status(home, root)["problems"] == []


if __name__ == "__main__":
    subprocess.run(["mount", "-t", "tmpfs", "x", "/run"], check=True)
    base = Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="ix-", dir="/tmp") as short:
        the_home = Home(Path(short))
        os.environ |= the_home.environment
        try:
            globals()[sys.argv[1]](the_home, base)
        finally:
            the_home.stop_all()
