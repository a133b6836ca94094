"""The daemon's figures on Django: ``python -m tests.benchmarks.daemon_figures`` prints them. Nothing is asserted."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from indexer.serve.client import Client, connect_root
from tests.benchmarks import corpora, measure
from tests.benchmarks.__main__ import lay

INDEXER = [sys.executable, "-m", "indexer"]
QUESTIONS = [
    "QuerySet.filter", "how are migrations applied", "csrf token check", "template loader", "where are sessions stored",
    "admin changelist pagination", "parse multipart upload", "URL resolver reverse", "form field validation error",
    "cache backend", "signal dispatch", "test client login", "middleware order", "static files finder",
]  # fmt: skip


def told(name: str, seconds: list[float]) -> None:
    ranked = sorted(seconds)
    p99 = ranked[min(len(ranked) - 1, int(len(ranked) * 0.99))]
    print(
        f"{name:44}p50 {statistics.median(ranked) * 1e3:7.1f} ms   p99 {p99 * 1e3:7.1f} ms   n {len(ranked)}"
    )


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ask(client: Client, freshness: str, count: int) -> list[float]:
    def one(number: int) -> None:
        query = QUESTIONS[number % len(QUESTIONS)]
        client.request(
            "index/search", {"query": query, "freshness": freshness, "timeout_ms": 20000}, timeout=30
        )

    return [timed(lambda number=number: one(number)) for number in range(count)]  # type: ignore[misc]


def while_rebuilding(root: Path, client: Client) -> list[float]:
    other = connect_root(root)
    assert other is not None
    over = threading.Event()

    def rebuild() -> None:
        with other:
            other.request("index/reindex", {"full": True}, timeout=300)
        over.set()

    thread = threading.Thread(target=rebuild)
    thread.start()
    waits: list[float] = []
    while not over.is_set():
        waits += ask(client, "now", 20)
    thread.join()
    return waits


def saves(root: Path, client: Client, count: int) -> list[float]:
    """Change one function and ask for what has changed; the time from the write to the answer."""
    path = root / "django" / "db" / "models" / "query.py"
    text = path.read_text()
    wait = {"query": "QuerySet.count", "freshness": "wait", "timeout_ms": 20000}
    waits = []
    for number in range(count):
        path.write_text(text.replace("    def count(self):\n", f"    def count(self):  # edit {number}\n", 1))
        waits.append(timed(lambda: client.request("index/search", wait, timeout=30)))
    return waits


def memory(pid: int) -> str:
    parts = [f"{measure._proportional(member):.0f}" for member in measure._family(pid)]
    return f"{sum(map(float, parts)):.0f} MB ({' + '.join(parts)})"


def main() -> None:
    """Start a daemon on a copy of Django, measure, and stop it."""
    with tempfile.TemporaryDirectory() as folder:
        root = lay(Path(folder))
        print(f"Django {corpora.SDISTS['django']}, {measure.environment()}")
        subprocess.run([*INDEXER, "daemon", "start", str(root)], check=True, stdout=subprocess.DEVNULL)
        client = connect_root(root)
        assert client is not None
        try:
            cold = timed(lambda: client.request("index/sync", {"timeout_ms": 300_000}, timeout=310))
            print(f"{'started, and all indexed':44}{cold:.1f} s")
            ask(client, "wait", 30)
            told("question, nothing else going on", ask(client, "wait", 300))
            told("question, while all is indexed anew", while_rebuilding(root, client))
            told("one function saved and asked for", saves(root, client, 60))
            command = [*INDEXER, "search", "QuerySet.filter"]
            told("`indexer search`, whole process", [measure.once(command, root).wall for _ in range(15)])
            time.sleep(25)
            print(f"{'resident, when quiet':44}{memory(client.pid)}")
        finally:
            client.close()
            subprocess.run([*INDEXER, "daemon", "stop", str(root)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
