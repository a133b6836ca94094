"""A small service over a real index of a real tree, a server in a thread, and clients on real sockets."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import tempfile
import threading
import time
from collections import deque
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer import oneshot
from indexer.reindex import reindex
from indexer.search import Corpus
from indexer.serve.events import Feed, Generation, ServiceStatus, View, WatchStatus
from indexer.serve.server import Limits, Server, serve
from indexer.workspace import open_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indexer.serve.events import Event, Freshness
    from indexer.store import Snapshot
    from indexer.types import Report

PATIENCE = 30.0  # seconds after which something that should have come is taken not to come


class TreeService:
    """Scans before each "wait", as the command line does without a daemon. Counts the views that are waited for."""

    def __init__(self, root: Path) -> None:
        self.space = open_workspace(root, named=True)
        self.feed = Feed()
        self.corpus = Corpus(reindex(self.space).snapshot)
        self.waiting = self.most_waiting = 0
        self._writing = asyncio.Lock()

    @property
    def root(self) -> Path:
        return self.space.root

    async def view(self, freshness: Freshness, timeout: float) -> View:  # noqa: ARG002, ASYNC109
        self.waiting += 1
        self.most_waiting = max(self.waiting, self.most_waiting)
        try:
            return await self.seen(freshness)
        finally:
            self.waiting -= 1

    async def seen(self, freshness: Freshness) -> View:
        if freshness == "now":
            return View(self.corpus, self.space, oneshot.AS_IT_STANDS)
        async with self._writing:
            found = await asyncio.to_thread(oneshot.view, self.space)
        self._open(found.snapshot)
        return View(self.corpus, self.space, found.reason)

    def _open(self, snapshot: Snapshot) -> None:
        if snapshot.generation != self.corpus.snapshot.generation:
            self.corpus = Corpus(snapshot)
            self.feed.tell(Generation(snapshot.epoch, snapshot.generation, snapshot.complete))

    async def reindex(self, *, full: bool) -> Report:
        with self.feed.run("index") as run:
            async with self._writing:
                outcome = await asyncio.to_thread(reindex, self.space, full=full)
            run.at("index", outcome.report.files.scanned, outcome.report.files.scanned)
        self._open(outcome.snapshot)
        return outcome.report

    def status(self) -> ServiceStatus:
        snapshot = self.corpus.snapshot
        return ServiceStatus(
            root=str(self.root),
            epoch=snapshot.epoch,
            generation=snapshot.generation,
            complete=snapshot.complete,
            current=False,
            files=self.corpus.files,
            chunks=self.corpus.rows,
            embedder=snapshot.identity.embedder,
            queue=0,
            working="",
            watch=WatchStatus("scans", failed=("caf\udce9",)),
            problems=("this service watches nothing",),
            started=time.time(),
        )

    def subscribe(self, tell: Callable[[Event], None]) -> Callable[[], None]:
        return self.feed.subscribe(tell)

    async def close(self) -> None:
        pass


class GatedService(TreeService):
    """Is not current before the gate opens: "wait" waits for that."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.gate = asyncio.Event()

    async def seen(self, freshness: Freshness) -> View:
        if freshness == "wait":
            await self.gate.wait()
        return await super().seen("now")


class QuickService(TreeService):
    """Is current after a turn of the loop."""

    async def seen(self, freshness: Freshness) -> View:  # noqa: ARG002
        await asyncio.sleep(0.001)
        return await super().seen("now")


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


class Daemon:
    """A server that runs in a thread of its own."""

    def __init__(self, root: Path, kind: type[TreeService], limits: Limits) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ix"))
        self.path = str(self.folder / "s")
        self.stopped = threading.Event()
        self._ready = threading.Event()
        self._kind, self._root = kind, root
        self._limits = limits
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._clients: list[Client] = []
        self.service: TreeService
        self.server: Server

    async def _run(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self.service = self._kind(self._root)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.path)
            async with serve(
                self.service, listening, on_stop=self.stopped.set, limits=self._limits
            ) as self.server:
                self._ready.set()
                await self._end.wait()

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(PATIENCE)

    def end(self) -> None:
        for client in self._clients:
            client.close()
        self.stop()
        shutil.rmtree(self.folder)

    def stop(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self._end.set)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def call(self, work: Callable[[], object]) -> None:
        """Do something on the server's own thread."""

        async def there() -> object:
            return work()

        asyncio.run_coroutine_threadsafe(there(), self.loop).result(PATIENCE)

    def connect(self, *, headers: bool = False) -> Client:
        client = Client(self.path, headers=headers)
        self._clients.append(client)
        return client

    def wait_for(self, fact: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not fact():
            assert time.monotonic() < until
            time.sleep(0.005)


@contextmanager
def running(
    root: Path, kind: type[TreeService] = TreeService, limits: Limits | None = None
) -> Iterator[Daemon]:
    daemon = Daemon(root, kind, limits or Limits())
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.end()


class Client:
    """A blocking client that reads the wire by itself, not with the code under test."""

    def __init__(self, path: str, *, headers: bool = False) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(path)
        self.headers = headers
        self._file = self.socket.makefile("rb")
        self._id = 0
        self._kept: deque[Any] = deque()

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def framed(self, message: object) -> bytes:
        body = json.dumps(message).encode()
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if self.headers else body + b"\n"

    def send(self, method: str, params: object = None, number: int | str | None = None) -> None:
        message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        if number is not None:
            message["id"] = number
        self.write(self.framed(message))

    def read(self) -> Any:
        """The next message, None at the end of the stream."""
        if self._kept:
            return self._kept.popleft()
        line = self._file.readline()
        if self.headers and line:
            size = int(line.removeprefix(b"Content-Length: "))
            assert self._file.readline() == b"\r\n"
            line = self._file.read(size)
        return json.loads(line) if line else None

    def ask(self, method: str, params: object = None) -> Any:
        """Ask, and return the answer; what is told in between is kept for `read`."""
        self._id += 1
        self.send(method, params, self._id)
        told = []
        while (message := self.read()) is not None and message.get("id", "") != self._id:
            told.append(message)
        self._kept.extend(told)
        return message

    def result(self, method: str, params: object = None) -> Any:
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, method: str, params: object = None) -> tuple[int, str]:
        answer = self.ask(method, params)
        assert "error" in answer, answer
        return answer["error"]["code"], answer["error"]["message"]


# --- what most tests of connections ask

FILES = {
    "src/commit.py": 'def commit(writer):\n    """Make a generation durable."""\n    return writer.flush()\n',
    "src/walk.py": "def walk(root):\n    for name in root:\n        yield name\n",
    "README.md": "# Title\n\nHow a commit is made.\n",
}
SEARCH = {"query": "commit", "freshness": "now"}
WAITING = {"query": "commit", "freshness": "wait"}


def lay_three(root: Path) -> Path:
    """A tree of three files."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


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


def open_gate(daemon: Daemon) -> None:
    assert isinstance(daemon.service, GatedService)
    daemon.call(daemon.service.gate.set)


def is_well(daemon: Daemon) -> bool:
    """Whether a new client gets its answer."""
    client = daemon.connect()
    hits = client.result("index/search", SEARCH)["hits"]
    client.close()
    return bool(hits)
