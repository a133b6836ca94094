"""Connections: in what order they are answered, who may have one, and how they end."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.serve.peer import peer_of
from indexer.serve.server import Limits
from tests.serve.answering import (
    SEARCH,
    WAITING,
    Daemon,
    GatedService,
    SlowCorpus,
    SlowService,
    fill,
    is_well,
    open_gate,
    running,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def gated(root: Path) -> Iterator[Daemon]:
    with running(root, GatedService) as daemon:
        yield daemon


# --- framing and order


def test_each_connection_is_answered_in_its_own_framing(daemon: Daemon) -> None:
    lines, headers = daemon.connect(), daemon.connect(headers=True)
    for client in (lines, headers, lines):
        hit = client.result("index/search", SEARCH)["hits"][0]
        assert (hit["path"], hit["symbol"]) == ("src/commit.py", "commit")


def test_the_last_line_may_lack_its_end_and_the_client_its_writing_half(daemon: Daemon) -> None:
    client = daemon.connect()
    client.write(client.framed({"jsonrpc": "2.0", "id": 1, "method": "initialize"}).rstrip())
    client.socket.shutdown(socket.SHUT_WR)
    assert client.read()["id"] == 1
    assert client.read() is None


@pytest.mark.parametrize("headers", [False, True])
def test_what_can_be_answered_is_not_held_up_by_what_cannot(gated: Daemon, headers: bool) -> None:
    client = gated.connect(headers=headers)
    for number in range(10):
        client.send("index/search", WAITING if number % 2 else SEARCH, number)
    first = {client.read()["id"] for _ in range(5)}
    assert first == {0, 2, 4, 6, 8}
    open_gate(gated)
    assert {client.read()["id"] for _ in range(5)} == {1, 3, 5, 7, 9}


# --- cancelling


def test_a_request_that_waits_can_be_cancelled(gated: Daemon) -> None:
    client = gated.connect()
    client.send("index/search", WAITING, 1)
    gated.wait_for(lambda: gated.service.waiting == 1)
    client.send("$/cancelRequest", {"id": 1})
    answer = client.read()
    assert (answer["id"], answer["error"]["code"]) == (1, -32800)
    gated.wait_for(lambda: gated.service.waiting == 0)


def test_a_request_cancelled_in_the_same_breath_is_answered_all_the_same(gated: Daemon) -> None:
    client = gated.connect()
    for number in range(200):  # more than are at work at once: each gives its place back
        client.write(
            client.framed({"jsonrpc": "2.0", "id": number, "method": "index/search", "params": WAITING})
            + client.framed({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
        )
        answer = client.read()
        assert (answer["id"], answer["error"]["code"]) == (number, -32800)
    assert client.result("index/search", SEARCH)["hits"]


def test_a_cancelled_question_in_a_thread_is_answered_at_once_and_holds_its_lane(root: Path) -> None:
    with running(root, SlowService) as daemon:
        client = daemon.connect()
        client.send("index/search", SEARCH, 1)
        daemon.wait_for(lambda: SlowCorpus.at_work == 1)
        client.send("$/cancelRequest", {"id": 1})
        assert client.read()["error"]["code"] == -32800
        assert client.result("index/search", SEARCH)["hits"]
        assert SlowCorpus.most_at_work == 1


def test_cancelling_what_is_not_there_means_nothing(daemon: Daemon) -> None:
    client = daemon.connect()
    assert client.result("index/search", SEARCH)
    for params in ({"id": 1}, {"id": "nope"}, {"id": None}, {}, None, [1]):
        client.send("$/cancelRequest", params)
    client.send("$/setTrace", {"value": "off"})
    client.send("initialized", {})
    assert client.result("index/search", SEARCH)


def test_an_id_in_use_is_refused_and_the_first_request_goes_on(gated: Daemon) -> None:
    client = gated.connect()
    client.send("index/search", WAITING, 7)
    client.send("index/search", SEARCH, 7)
    answer = client.read()
    assert answer["error"]["code"] == -32600
    assert "in use" in answer["error"]["message"]
    open_gate(gated)
    assert client.read()["result"]["hits"]


# --- batches (JSON-RPC 2.0, section 6, in our methods)


def test_a_batch_is_answered_in_one(daemon: Daemon) -> None:
    client = daemon.connect()
    client.write(client.framed([
        {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
        {"jsonrpc": "2.0", "method": "initialized"},
        1,
        {"foo": "boo"},
        {"jsonrpc": "2.0", "id": "5", "method": "foo.get"},
        {"jsonrpc": "2.0", "id": 9, "method": "index/search", "params": SEARCH},
        {"jsonrpc": "2.0", "id": 9, "method": "index/search", "params": SEARCH},
    ]))  # fmt: skip
    answers = client.read()
    found = sorted((str(a["id"]), a.get("error", {}).get("code", 0)) for a in answers)
    assert found == [("1", 0), ("5", -32601), ("9", -32600), ("9", 0), ("None", -32600), ("None", -32600)]


def test_a_batch_of_notifications_is_not_answered(daemon: Daemon) -> None:
    client = daemon.connect()
    client.write(client.framed([{"jsonrpc": "2.0", "method": "initialized"}] * 3))
    assert client.result("initialize")


def test_one_of_a_batch_can_be_cancelled(gated: Daemon) -> None:
    client = gated.connect()
    client.write(client.framed([
        {"jsonrpc": "2.0", "id": number, "method": "index/search", "params": params}
        for number, params in enumerate([WAITING, SEARCH])
    ]))  # fmt: skip
    client.send("$/cancelRequest", {"id": 0})
    assert sorted(a.get("error", {}).get("code", 0) for a in client.read()) == [-32800, 0]


# --- who may connect


def test_the_kernel_says_who_connected() -> None:
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        peer = peer_of(here)
        assert peer is not None
        assert (peer.uid, peer.pid) == (os.geteuid(), os.getpid())
    with socket.socket(socket.AF_INET) as other:
        assert peer_of(other) is None or peer_of(other) != peer


@pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="only root can become another user"
)
def test_another_user_is_refused(daemon: Daemon, caplog: pytest.LogCaptureFixture) -> None:
    daemon.folder.chmod(0o777)
    (daemon.folder / "s").chmod(0o777)
    script = (
        "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);\n"
        'try: s.sendall(b\'{"jsonrpc":"2.0","id":1,"method":"initialize"}\\n\'); print(s.recv(1))\n'
        "except ConnectionError: print(b'')"
    )
    # The Python of the tests may lie where the other user cannot go.
    argv = ["/usr/bin/python3", "-c", script, daemon.path]
    done = subprocess.run(argv, check=False, user=65534, capture_output=True, text=True, cwd="/")
    assert done.stdout == "b''\n", done.stderr
    assert "refused a connection of user 65534" in caplog.text
    assert is_well(daemon)


# --- endings


@pytest.mark.parametrize("how", ["shutdown and exit", "exit", "exit as a request", "closed", "reset"])
def test_one_client_leaves_and_the_other_goes_on(daemon: Daemon, how: str) -> None:
    leaving, staying = daemon.connect(headers=True), daemon.connect(headers=True)
    for client in (leaving, staying):
        assert client.result("initialize", {"processId": None, "capabilities": {}})
    if how == "shutdown and exit":
        assert leaving.result("shutdown") is None
        assert leaving.error("index/search", SEARCH)[0] == -32600
        leaving.send("exit")
    elif how == "exit":
        leaving.send("index/search", SEARCH, 50)
        leaving.send("exit")
        leaving.send("index/search", SEARCH, 51)
        assert leaving.read()["id"] == 50
    elif how == "exit as a request":
        assert leaving.result("exit") is None
    elif how == "closed":
        leaving.close()
    else:
        leaving.send("index/search", SEARCH, 50)
        daemon.wait_for(lambda: bool(leaving.socket.recv(1, socket.MSG_PEEK)))
        leaving.close()  # with an answer unread: the other end is reset
    daemon.wait_for(lambda: daemon.server.clients == 1)
    if how in {"shutdown and exit", "exit", "exit as a request"}:
        assert leaving.read() is None
    assert staying.result("index/search", SEARCH)["hits"]


def test_index_stop_is_answered_and_then_passed_on(daemon: Daemon) -> None:
    client = daemon.connect()
    assert not daemon.stopped.is_set()
    assert client.result("index/stop") is None
    assert daemon.stopped.wait(30)


def test_at_the_end_what_is_at_work_is_answered_with_an_error(root: Path) -> None:
    with running(root, GatedService) as daemon:
        clients = [daemon.connect() for _ in range(3)]
        for client in clients:
            client.send("index/search", WAITING, 1)
        daemon.wait_for(lambda: daemon.service.waiting == 3)
        daemon.stop()
        for client in clients:
            assert client.read()["error"]["data"] == {"kind": "Stopping"}
            assert client.read() is None


def test_the_end_does_not_wait_for_who_does_not_read(root: Path) -> None:
    with running(root, limits=Limits(grace_seconds=0.2)) as daemon:
        deaf = daemon.connect()
        assert fill(deaf)
        daemon.stop()
        assert daemon.server.clients == 0


def test_idleness_is_counted_from_the_last_connection(daemon: Daemon) -> None:
    client = daemon.connect()
    assert client.result("initialize")
    assert daemon.server.idle_seconds == 0
    client.close()
    daemon.wait_for(lambda: daemon.server.clients == 0)
    daemon.wait_for(lambda: daemon.server.idle_seconds > 0)
