"""Clients of any manners, and any number: none of them is able to stop or slow another."""

from __future__ import annotations

import json
import logging
import os
import random
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from indexer.serve.server import Limits
from tests.serve.answering import (
    SEARCH,
    Client,
    Daemon,
    QuickService,
    SlowCorpus,
    SlowService,
    TreeService,
    fill,
    is_well,
    running,
)

if TYPE_CHECKING:
    from indexer.serve.events import ServiceStatus


# --- bad requests

BAD = [
    (b"{nonsense}\n", -32700, "malformed"),
    (b'{"a": "\xff"}\n', -32600, "jsonrpc: missing"),
    (b'"\xff"\n', -32600, "object"),
    (b"5\n", -32600, "object"),
    (b"[]\n", -32600, "batch"),
    (b"[" * 100_000 + b"\n", -32700, "deep"),
    (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b'{"a":' * 100_000 + b"\n", -32700, "deep"),
    (b'{"jsonrpc":"2.0","id":1}\n', -32600, "method: missing"),
    (b'{"id":1,"method":"initialize"}\n', -32600, "jsonrpc"),
    (b'{"jsonrpc":"2.0","id":1,"method":"index/nope"}\n', -32601, "index/nope"),
    (b'{"jsonrpc":"2.0","id":1,"method":"index/search"}\n', -32602, "query"),
    (b'{"jsonrpc":"2.0","id":1,"method":"index/search","params":{"query":1}}\n', -32602, "$.query"),
    (b'{"jsonrpc":"2.0","id":1,"method":"index/search","params":{"query":"a","root":"/etc"}}\n', -32602, "root"),
    (b'{"jsonrpc":"2.0","id":1,"method":"index/related","params":{"path":"a","line":0}}\n', -32602, "$.line"),
    (b'{"jsonrpc":"2.0","id":1,"method":"index/search","params":{"query":" "}}\n', -32602, "empty"),
]  # fmt: skip


@pytest.mark.parametrize("headers", [False, True])
def test_every_bad_request_has_a_clear_error_and_the_connection_goes_on(
    daemon: Daemon, headers: bool
) -> None:
    client = daemon.connect(headers=headers)
    assert client.result("initialize", {})
    for line, code, word in BAD:
        body = line.rstrip(b"\n")
        client.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if headers else line)
        error = client.read()["error"]
        assert (error["code"], word in error["message"]) == (code, True), error
        assert len(error["message"]) < 300
        assert "\n" not in error["message"]
    assert client.result("index/search", SEARCH)["hits"]


class BrokenService(TreeService):
    """Its status has a fault."""

    def status(self) -> ServiceStatus:
        raise KeyError("a fault of ours, planted")


def test_a_fault_of_ours_is_short_to_the_client_and_whole_in_the_log(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(root, BrokenService) as daemon:
        client = daemon.connect()
        code, message = client.error("index/status")
        assert (code, "KeyError" in message, "planted" in message) == (-32603, True, False)
        assert client.result("index/search", SEARCH)["hits"]
    assert "index/status failed" in caplog.text
    assert "Traceback" in caplog.text
    assert "a fault of ours, planted" in caplog.text


def test_a_gigabyte_is_refused_when_it_is_announced_and_the_connection_closed(daemon: Daemon) -> None:
    client = daemon.connect(headers=True)
    client.write(b"Content-Length: 1073741824\r\n\r\n{")
    answer = client.read()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "1073741824" in answer["error"]["message"]
    assert client.read() is None
    assert is_well(daemon)


def test_a_line_without_end_is_refused_at_the_limit(root: Path) -> None:
    with running(root, limits=Limits(message_bytes=100_000)) as daemon:
        client = daemon.connect()
        client.write(b"[" * 100_001)
        assert client.read()["error"]["code"] == -32600
        assert client.read() is None
        assert is_well(daemon)


def test_a_message_of_just_the_limit_is_taken(daemon: Daemon) -> None:
    client = daemon.connect(headers=True)
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"index/search","params":{"query":"commit ', b'"}}'
    body = head + b"x" * (8 * 1024 * 1024 - len(head) - len(tail)) + tail
    client.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    assert client.read()["result"]["hits"]


@pytest.mark.parametrize(
    "half",
    [b"", b"C", b"Content-Length: 100\r\n", b'Content-Length: 100\r\n\r\n{"jsonrpc"', b'{"jsonrpc":"2.0","id":1,"me'],
)  # fmt: skip
def test_who_hangs_up_in_the_middle_hurts_nobody(daemon: Daemon, half: bytes) -> None:
    client = daemon.connect()
    client.write(half)
    client.close()
    assert is_well(daemon)
    daemon.wait_for(lambda: daemon.server.clients == 0)


def test_who_hangs_up_before_the_answer_hurts_nobody(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(20):
        client = daemon.connect()
        for number in range(50):
            client.send("index/search", SEARCH, number)
        client.close()
    assert is_well(daemon)
    daemon.wait_for(lambda: daemon.server.clients == 0)
    assert "Traceback" not in caplog.text


def test_garbage_of_every_kind_hurts_nobody(daemon: Daemon) -> None:
    chance = random.Random(1)
    pieces = [
        b"Content-Length: ", b"7\r\n\r\n", b"\r\n", b"{", b"}", b"[", b"\n", b'"jsonrpc":"2.0"', b",", b'"id":1', b"\0", b"\xff",
        b'{"jsonrpc":"2.0","id":1,"method":"initialize"}\n', b'{"jsonrpc":"2.0","method":"exit"}\n',
    ]  # fmt: skip
    for _ in range(100):
        client = daemon.connect()
        try:
            client.write(b"".join(chance.choices(pieces, k=chance.randrange(30))) + chance.randbytes(20))
            client.socket.shutdown(socket.SHUT_WR)
            while client.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        client.close()
    assert is_well(daemon)
    daemon.wait_for(lambda: daemon.server.clients == 0)


# --- many and slow clients


def flood(daemon: Daemon, requests: int) -> list[Any]:
    """Send so many requests without reading, while another client asks; return their answers."""
    client = daemon.connect()
    stream = b"".join(
        client.framed({"jsonrpc": "2.0", "id": n, "method": "index/sync"}) for n in range(requests)
    )
    writer = threading.Thread(target=client.write, args=(stream,))
    writer.start()
    daemon.wait_for(lambda: daemon.service.most_waiting > 10)
    assert is_well(daemon)
    answers = [client.read() for _ in range(requests)]
    writer.join()
    return answers


def test_ten_thousand_requests_at_once_are_answered_a_few_at_a_time(root: Path) -> None:
    with running(root, QuickService) as daemon:
        answers = flood(daemon, 10_000)
        assert sorted(answer["id"] for answer in answers) == list(range(10_000))
        assert daemon.service.most_waiting <= Limits().in_flight + 1


def test_without_a_bound_the_same_flood_is_at_work_at_once(root: Path) -> None:
    """The suite can fail: the bound is what keeps it low."""
    with running(root, QuickService, Limits(in_flight=1_000_000)) as daemon:
        flood(daemon, 1000)
        assert daemon.service.most_waiting > Limits().in_flight + 1


def test_a_question_does_not_hold_up_the_hello_of_another(root: Path) -> None:
    with running(root, SlowService) as daemon:
        busy, other = daemon.connect(), daemon.connect()
        busy.send("index/search", SEARCH, 1)
        daemon.wait_for(lambda: SlowCorpus.at_work == 1)
        started = time.perf_counter()
        assert other.result("initialize")
        assert other.result("index/status")
        hello = time.perf_counter() - started
        assert busy.read()["result"]["hits"]
        assert hello < time.perf_counter() - started


def test_who_asks_once_is_not_behind_all_of_who_asks_often(root: Path) -> None:
    with running(root, SlowService, Limits(threads=1)) as daemon:
        busy, other = daemon.connect(), daemon.connect()
        for number in range(20):
            busy.send("index/search", SEARCH, number)
        daemon.wait_for(lambda: SlowCorpus.at_work == 1)
        assert other.result("index/search", SEARCH)["hits"]
        done = len(answered_by_now(busy))
        assert done < 10
        assert len([busy.read() for _ in range(20 - done)]) == 20 - done


def answered_by_now(client: Client) -> list[Any]:
    """Messages that are in the client's socket."""
    client.socket.setblocking(False)
    data = b""
    try:
        while piece := client.socket.recv(65536):
            data += piece
    except BlockingIOError:
        pass
    client.socket.settimeout(30)
    while data and not data.endswith(b"\n"):
        data += client.socket.recv(65536)
    return [json.loads(line) for line in data.splitlines()]


def test_who_does_not_read_his_answers_is_dropped_and_told_of(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "indexer.serve")
    with running(root, limits=Limits(room_bytes=2000, stall_seconds=0.3)) as daemon:
        greedy, other = daemon.connect(), daemon.connect()
        assert fill(greedy)
        assert other.result("index/search", SEARCH)["hits"]
        daemon.wait_for(lambda: daemon.server.clients == 1)
        assert other.result("index/search", SEARCH)["hits"]
    assert f"process {os.getpid()} does not read its answers: dropped" in caplog.text


def test_who_does_not_read_what_he_subscribed_to_is_dropped(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with running(root, limits=Limits(write_bytes=20_000)) as daemon:
        deaf, other = daemon.connect(), daemon.connect()
        for client in (deaf, other):
            client.result("index/subscribe")
        heard = 0
        for _ in range(100):
            daemon.call(lambda: many_runs(daemon, 50))
            heard += sum(other.read()["method"] == "index/progress" for _ in range(100))
            if daemon.server.clients == 1:
                break
        assert daemon.server.clients == 1
        assert heard
        assert other.result("index/search", SEARCH)["hits"]
    assert "does not read what it is told: dropped" in caplog.text


def many_runs(daemon: Daemon, runs: int) -> None:
    for _ in range(runs):
        with daemon.service.feed.run("index"):
            pass


def test_a_client_that_stops_reading_costs_bounded_memory_and_may_go_on_later(root: Path) -> None:
    """Answers are made only when there is room: the questions behind it wait in the client's own socket."""
    with running(root, QuickService, Limits(room_bytes=2000)) as daemon:
        client = daemon.connect()
        sent = fill(client)
        assert sent > 100
        connection = next(iter(daemon.server._connections))
        assert connection._writer.transport.get_write_buffer_size() < 100_000
        assert {client.read()["id"] for _ in range(sent)} == set(range(sent))


def test_one_connection_too_many_is_refused(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with running(root, limits=Limits(connections=3)) as daemon:
        clients = [daemon.connect() for _ in range(3)]
        assert all(client.result("initialize") for client in clients)
        refused = daemon.connect()
        assert refused.socket.recv(1) == b""
        clients.pop().close()
        daemon.wait_for(lambda: daemon.server.clients == 2)
        assert is_well(daemon)
    assert "refused a connection" in caplog.text
