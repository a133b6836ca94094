"""The client: finds the right daemon, is bounded whatever answers, and is understood by daemons of any protocol."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from indexer.errors import DaemonError
from indexer.serve import place, start
from indexer.serve.client import GoneError, SilentError, connect, connect_root
from indexer.serve.protocol import PROTOCOL, Code, Notification, RpcError
from tests.serve.homes import BOUND, Home, small_tree
from tests.trees import git

# --- one real daemon


def test_there_is_none(home: Home, tree: Path) -> None:
    assert connect(tree) is None
    assert connect(tree / "missing") is None
    place.make_runtime_dir()
    assert connect(tree) is None


def test_a_question_and_what_is_told(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    with home.client(tree) as client:
        assert (client.root, client.protocol, client.pid) == (str(tree), PROTOCOL, pid)
        assert client.mismatch == ""
        client.request("index/sync", {"timeout_ms": 60_000}, timeout=BOUND)
        client.request("index/subscribe")
        (tree / "new.py").write_text("def brand_new(): pass\n")
        found = client.request("index/search", {"query": "brand_new"}, timeout=BOUND)
        assert found["fresh"] is True
        assert found["hits"][0]["path"] == "new.py"
        for note in client.notifications(timeout=BOUND):
            if note.method == "index/generation":
                break
        assert note.params["generation"] >= 2
        told: list[Notification] = []
        report = client.request("index/reindex", {"full": True}, timeout=BOUND, told=told.append)
        assert report["files"]["scanned"] == 3
        assert {"running", "done"} <= {n.params.get("state") for n in told}


def test_what_cannot_be_done_is_the_daemons_own_error(home: Home, tree: Path) -> None:
    home.start(tree)
    with home.client(tree) as client:
        with pytest.raises(RpcError) as caught:
            client.request("index/nonsense")
        assert caught.value.code == Code.UNKNOWN_METHOD
        with pytest.raises(RpcError):
            client.request("index/search", {"query": 3})
        assert client.request("index/status")["root"] == str(tree)


def test_the_innermost_root_answers_and_both_spellings_are_one_s117(
    home: Home, tree: Path, tmp_path: Path
) -> None:
    outer = home.start(tree)
    (tmp_path / "link").symlink_to(tree)
    for start_at in (tree, tree / "pkg", tree / "pkg" / "store.py", tmp_path / "link" / "pkg"):
        client = connect(start_at, timeout=BOUND)
        assert client is not None
        with client:
            assert client.pid == outer
    inner = small_tree(tree / "libs")
    home.asked("daemon", "start", tmp_path / "link", cwd=tmp_path)
    git(inner, "init", "-q")
    pid = home.asked("daemon", "start", cwd=inner / "pkg")["pid"]
    assert pid == outer  # it has no index of its own: it is part of the outer root
    (inner / ".indexer").mkdir()
    assert connect(inner / "pkg") is None
    pid = home.asked("daemon", "start", cwd=inner / "pkg")["pid"]
    assert pid != outer
    client = connect(inner / "pkg", timeout=BOUND)
    assert client is not None
    with client:
        assert client.root == str(inner)


def test_a_root_made_again_is_answered_by_the_daemon_that_lives_on(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    with home.client(tree) as client:
        client.request("index/sync", {"timeout_ms": 60_000}, timeout=BOUND)
        before = client.socket_path
    shutil.copytree(tree, tree.with_name("copy"))
    shutil.rmtree(tree)
    tree.with_name("copy").rename(tree)
    assert place.place_of(tree).socket != before
    found = connect(tree, timeout=BOUND)  # the copy holds daemon.json as well
    assert found is not None
    with found:
        assert (found.pid, found.socket_path) == (pid, before)
    assert start.stop(str(tree), timeout=BOUND)
    assert connect(tree) is None


def test_an_announcement_of_another_roots_daemon_counts_for_nothing(
    home: Home, tree: Path, tmp_path: Path
) -> None:
    """As a copy of the whole folder has it; planted, it leads nowhere either."""
    home.start(tree)
    with home.client(tree) as client:
        client.request("index/sync", {"timeout_ms": 60_000}, timeout=BOUND)
    other = small_tree(tmp_path / "other")
    (other / ".indexer").mkdir()
    shutil.copy(tree / ".indexer" / "daemon.json", other / ".indexer" / "daemon.json")
    assert connect(other) is None
    pid = home.start(other)
    with home.client(other) as client:
        assert (client.pid, client.root) == (pid, str(other))
    with home.client(tree) as client:
        assert (client.pid == pid, client.root) == (False, str(tree))


# --- daemons that are none of ours


@contextmanager
def peer(tree: Path, play: Callable[[socket.socket], None]) -> Iterator[None]:
    """Something else that listens at a root's place, and does with each connection what the test says."""
    place.make_runtime_dir()
    path = place.place_of(tree).socket
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                with connection:
                    try:
                        play(connection)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            Path(path).unlink()


def read(connection: socket.socket) -> Any:
    """The next message, and not a byte of what comes after it: two may arrive at once."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError
        head += byte
    length = int(head.lower().partition(b"content-length:")[2].split()[0])
    return json.loads(connection.recv(length, socket.MSG_WAITALL))


def send(connection: socket.socket, **message: Any) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def hello(protocol: object = PROTOCOL, **more: Any) -> dict[str, Any]:
    return {"protocol": protocol, "serverInfo": {"name": "indexer", "version": "9.9"}, **more}


def test_who_never_answers_is_given_up(home: Home, tree: Path) -> None:
    def silent(connection: socket.socket) -> None:
        while connection.recv(1 << 16):
            pass

    with peer(tree, silent):
        started = time.monotonic()
        with pytest.raises(SilentError, match="has not answered initialize"):
            connect(tree, timeout=0.3)
        assert time.monotonic() - started < BOUND


def test_who_takes_no_connection_is_given_up(home: Home, tree: Path) -> None:
    place.make_runtime_dir()
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as first:
        listener.bind(place.place_of(tree).socket)
        listener.listen(0)
        first.connect(place.place_of(tree).socket)
        with pytest.raises(SilentError):
            connect(tree, timeout=0.3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"Content-Length: 5\r\n\r\nhello",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: 99\r\n\r\n{}",
        b"\xff\xfe\n",
        b"[1]\n",
        b"Content-Length: 1000000000000\r\n\r\n",
        b"Content-Length: 4\r\n\r\nnull",
    ],
)
def test_garbage_is_no_answer(home: Home, tree: Path, data: bytes) -> None:
    def garbage(connection: socket.socket) -> None:
        read(connection)
        connection.sendall(data)

    with peer(tree, garbage), pytest.raises(GoneError, match="ended the connection"):
        connect(tree, timeout=BOUND)


@pytest.mark.parametrize("protocol", [PROTOCOL + 1, 0, -1, "2", None, 1.5, True])
def test_another_protocol_is_told_in_a_line_and_can_be_stopped(
    home: Home, tree: Path, protocol: object
) -> None:
    asked = []

    def other(connection: socket.socket) -> None:
        while True:
            message = read(connection)
            asked.append(message["method"])
            send(connection, id=message["id"], result=hello(protocol))

    with peer(tree, other):
        with home.client(tree) as client:
            assert "indexer daemon restart" in client.mismatch
            assert "9.9" in client.mismatch
            assert "\n" not in client.mismatch
            with pytest.raises(DaemonError, match="protocol"):
                client.request("index/search", {"query": "x"})
            client.request("index/stop")
        assert asked == ["initialize", "index/stop"]


def test_a_daemon_that_has_no_hello_can_be_stopped(home: Home, tree: Path) -> None:
    def old(connection: socket.socket) -> None:
        while True:
            message = read(connection)
            if message["method"] == "index/stop":
                send(connection, id=message["id"], result=None)
            else:
                send(connection, id=message["id"], error={"code": -32601, "message": "what?"})

    with peer(tree, old), home.client(tree) as client:
        assert client.mismatch
        assert client.request("index/stop") is None


@pytest.mark.parametrize("params", [{"protocol": 99, "clientInfo": [1]}, [], None, {"protocol": {"a": 1}}])
def test_a_client_of_another_protocol_can_stop_our_daemon(home: Home, tree: Path, params: object) -> None:
    home.start(tree)
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(place.place_of(tree).socket)
        raw.settimeout(BOUND)
        send(raw, id=1, method="initialize", params=params)
        answer = read(raw)
        assert answer["result"]["protocol"] == PROTOCOL
        send(raw, id=2, method="index/stop", params={"whatever": 1})
        assert read(raw)["result"] is None
    with home.popen("daemon", "stop", cwd=tree) as process:
        assert process.wait(BOUND) == 0
    assert connect(tree) is None


def test_a_late_answer_is_not_taken_for_the_next_one(home: Home, tree: Path) -> None:
    cancelled = []

    def late(connection: socket.socket) -> None:
        first = read(connection)
        send(connection, id=first["id"], result=hello())
        second = read(connection)
        cancelled.append(read(connection))
        third = read(connection)
        send(connection, method="index/generation", params={"generation": 5})
        send(connection, id=second["id"], result="late")
        send(connection, id=third["id"], result="in time")

    with peer(tree, late), home.client(tree) as client:
        with pytest.raises(SilentError, match="index/search within"):
            client.request("index/search", {"query": "x"}, timeout=0.3)
        assert client.request("index/status", timeout=BOUND) == "in time"
        assert next(client.notifications(1.0)).params == {"generation": 5}
        assert cancelled[0]["method"] == "$/cancelRequest"
        assert cancelled[0]["params"] == {"id": 2}


def test_silence_ends_the_notifications(home: Home, tree: Path) -> None:
    home.start(tree)
    with home.client(tree) as client:
        client.request("index/sync", {"timeout_ms": 60_000}, timeout=BOUND)
        assert list(client.notifications(0.2)) == []
        start.stop(str(tree), timeout=BOUND)
        with pytest.raises(GoneError):
            list(client.notifications(BOUND))


def test_a_socket_that_nobody_listens_at_is_no_daemon(home: Home, tree: Path) -> None:
    place.make_runtime_dir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.place_of(tree).socket)
    assert connect_root(tree) is None
    Path(place.place_of(tree).socket).unlink()
    Path(place.place_of(tree).socket).write_text("")
    assert connect_root(tree) is None


HEAVY = {
    "numpy",
    "msgspec",
    "xxhash",
    "asyncio",
    "tree_sitter",
    "watchdog",
    "dataclasses",
    "subprocess",
    "logging",
}


def loaded(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_it_loads_the_standard_library_alone() -> None:
    names = loaded("import indexer.serve.client")
    assert not names & HEAVY
    foreign = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    before = {name.partition(".")[0] for name in loaded("")}  # what the environment itself loads at start
    assert foreign - before == {"indexer"}
    assert loaded("import indexer.oneshot") & HEAVY
