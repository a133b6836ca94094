"""Connections: any number of clients, of any manners, and none of them able to stop or slow another."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from indexer.search import Corpus
from indexer.serve.events import View
from indexer.serve.peer import peer_of
from indexer.serve.server import Limits
from tests.serve.answering import Client, Daemon, GatedService, TreeService, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexer.serve.events import Freshness, ServiceStatus
    from indexer.store import Snapshot

FILES = {
    "src/commit.py": 'def commit(writer):\n    """Make a generation durable."""\n    return writer.flush()\n',
    "src/walk.py": "def walk(root):\n    for name in root:\n        yield name\n",
    "README.md": "# Title\n\nHow a commit is made.\n",
}
SEARCH = {"query": "commit", "freshness": "now"}
WAITING = {"query": "commit", "freshness": "wait"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree") / "root"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.fixture
def daemon(root: Path) -> Iterator[Daemon]:
    with running(root) as daemon:
        yield daemon


@pytest.fixture
def gated(root: Path) -> Iterator[Daemon]:
    with running(root, GatedService) as daemon:
        yield daemon


def open_gate(daemon: Daemon) -> None:
    assert isinstance(daemon.service, GatedService)
    daemon.call(daemon.service.gate.set)


def is_well(daemon: Daemon) -> bool:
    """Whether a new client gets its answer."""
    client = daemon.connect()
    hits = client.result("index/search", SEARCH)["hits"]
    client.close()
    return bool(hits)


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


class QuickService(TreeService):
    """Is current after a turn of the loop."""

    async def seen(self, freshness: Freshness) -> View:  # noqa: ARG002
        await asyncio.sleep(0.001)
        return await super().seen("now")


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


class SlowCorpus(Corpus):
    """Takes its time whenever it is asked."""

    at_work = most_at_work = 0

    @property
    def snapshot(self) -> Snapshot:
        if threading.current_thread().name.startswith("question"):
            SlowCorpus.at_work += 1
            SlowCorpus.most_at_work = max(SlowCorpus.at_work, SlowCorpus.most_at_work)
            time.sleep(0.005)
            SlowCorpus.at_work -= 1
        return self._snapshot

    @snapshot.setter
    def snapshot(self, value: Snapshot) -> None:
        self._snapshot = value


class SlowService(TreeService):
    """Its questions take long."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.corpus = SlowCorpus(self.corpus.snapshot)
        SlowCorpus.at_work = SlowCorpus.most_at_work = 0


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


def fill(client: Client) -> int:
    """Ask without reading until the socket is full, or the server is through with it; return how often."""
    client.socket.settimeout(0.2)
    sent = 0
    try:
        while True:
            client.send("index/search", SEARCH, sent)
            sent += 1
    except (TimeoutError, ConnectionError):
        client.socket.settimeout(30)
        return sent


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
