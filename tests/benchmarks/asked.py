"""What a question costs: in the daemon, as a command, after a start; and what the daemon holds in memory for it."""

from __future__ import annotations

import itertools
import random
import statistics
import subprocess
import threading
import time
from typing import TYPE_CHECKING

from indexer.serve.client import connect_root
from tests.benchmarks import floors, measure
from tests.benchmarks.figures import Figure, Measured, Row
from tests.benchmarks.ground import PATIENCE, WHOLE
from tests.serve.homes import INDEXER
from tests.trees import REPO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from indexer.serve.client import Client
    from tests.benchmarks.ground import Ground

_SIZES = {"35k": "linux-35k-chunks", "100k": "linux-100k-chunks", "1M": WHOLE}
_CALM_SECONDS = 20.0  # after which the processes that write have gone to rest

_WHAT = (
    "page table entries", "a network packet", "the inode cache", "an interrupt handler", "a device's power state",
    "the scheduler's run queue", "a file descriptor", "the superblock", "a kernel thread", "DMA buffers",
    "a socket buffer", "the clock source", "a USB endpoint", "memory cgroups", "a work queue", "the block layer",
    "a PCI resource", "the journal", "a mutex", "the firmware", "a netlink message", "an extent tree", "a timer",
    "the keyring", "a GPIO line", "a regulator", "the framebuffer", "a crypto transform", "audio periods",
)  # fmt: skip
_ASKED = (
    "how is {} allocated", "where are {} freed", "what locks {}", "initialise {}", "{} timeout handling",
    "error path when {} fails", "register {}", "who reads {}", "{} reference counting", "debug output of {}",
    "convert {} for user space",
)  # fmt: skip
_NAMES = ("kmalloc", "probe", "usb_submit_urb", "inode_init", "device_register", "irq_handler", "netdev_priv")


def questions(count: int) -> Iterator[str]:
    """So many questions, none twice while there are others: sentences, and a name now and then."""
    sentences = [form.format(what) for form in _ASKED for what in _WHAT]
    random.Random(1).shuffle(sentences)
    mixed = [
        one
        for at, sentence in enumerate(sentences)
        for one in (sentence, *_NAMES[at // 7 : at // 7 + (at % 7 == 0)])
    ]
    return itertools.islice(itertools.cycle(mixed), count)


def ask(client: Client, query: str) -> float:
    """Seconds of one question as it stands."""
    params = {"query": query, "freshness": "now"}
    return measure.timed(lambda: client.request("index/search", params, timeout=PATIENCE))


def queries(ground: Ground) -> list[Measured]:
    """Hybrid questions over the socket, with the ranking as it is, on three sizes."""
    found = []
    for size, name in _SIZES.items():
        count = ground.runs(400 if size != "1M" else 200)
        with ground.daemon(name) as client:
            for query in questions(20):
                ask(client, query)
            waits = [ask(client, query) * 1e3 for query in questions(count)]
        least = [seconds * 1e3 for seconds in floors.printed("question", ground.root(name), str(count))]
        peers = {}
        if ground.peers and size != "1M":  # it would take minutes to fill
            theirs = ground.peers.questions(ground.root(name), list(questions(ground.runs(50))))
            peers["FTS5"] = statistics.median(theirs) * 1e3
        half, late = statistics.median(waits), measure.quantile(waits, 0.99)
        told = f"{ground.built(name).size}; {count} questions"
        found += [
            Measured(f"query.{size}.p50", half, statistics.median(least), peers, told, tuple(waits)),
            Measured(f"query.{size}.p99", late, measure.quantile(least, 0.99), {"own p50": half}, told),
        ]
    return found


def rebuilding(ground: Ground) -> list[Measured]:
    """The same while everything is indexed anew."""
    name = _SIZES["35k"]
    with ground.daemon(name) as client:
        waits = [seconds * 1e3 for seconds in _while_rebuilding(ground, name, client)]
    told = f"{ground.built(name).size}; {len(waits)} questions"
    return [
        Measured("rebuilding.p50", statistics.median(waits), None, {}, told, tuple(waits)),
        Measured("rebuilding.p99", measure.quantile(waits, 0.99), None, {}, told),
    ]


def _while_rebuilding(ground: Ground, name: str, client: Client) -> list[float]:
    over = threading.Event()

    def rebuild() -> None:
        try:
            with ground.home.client(ground.root(name)) as other:
                other.request("index/reindex", {"full": True}, timeout=PATIENCE)
        finally:
            over.set()

    thread = threading.Thread(target=rebuild)
    thread.start()
    waits: list[float] = []
    while not over.is_set():
        waits += [ask(client, query) for query in questions(20)]
    thread.join()
    return waits


def command(ground: Ground) -> list[Measured]:
    """`indexer search` as a whole process, while a daemon runs."""
    count = ground.runs(40)
    with ground.daemon("django"):
        root = ground.root("django")
        waits = [
            ground.indexer("search", query, cwd=root).wall * 1e3
            for query in ("QuerySet.filter", *questions(count))
        ][1:]
    start = statistics.median(floors.printed("echo", str(count)))
    least = start + statistics.median(floors.printed("question", root, str(count)))
    peers = ground.peers.ask(ground.root("django"), "QuerySet.filter") if ground.peers else {}
    told = f"Django; {count} whole processes"
    return [
        Measured(
            "command", statistics.median(waits), least * 1e3,
            {name: seconds * 1e3 for name, seconds in peers.items()}, told, tuple(waits),
        )
    ]  # fmt: skip


def restart(ground: Ground) -> list[Measured]:
    """From the start of a daemon on an index that is there to its first answer, as it stands."""
    name = _SIZES["100k"]
    ground.built(name)
    root = ground.root(name)
    waits = [_first_answer(ground, name) for _ in range(ground.runs(10))]
    bare = floors.command("answer", root)
    least = measure.median(ground.runs(10), bare, REPO)
    told = f"{ground.built(name).size}; median of {len(waits)}"
    return [Measured("restart", statistics.median(waits), least.wall, {}, told, tuple(waits))]


def _first_answer(ground: Ground, name: str) -> float:
    root = ground.root(name)
    started = time.perf_counter()
    process = subprocess.Popen([*INDEXER, "daemon", "run", root], stderr=subprocess.DEVNULL)
    try:
        while (client := connect_root(root, timeout=PATIENCE)) is None:
            time.sleep(0.001)
        with client:
            ask(client, "how is a page allocated")
            seconds = time.perf_counter() - started
            client.request("index/stop")
    finally:
        process.wait()
    return seconds


def memory(ground: Ground) -> list[Measured]:
    """What a daemon and all below it hold when they have been asked a hundred things and are at rest, for 100,000 chunks."""
    found = []
    for size in ("100k", "1M"):
        name = _SIZES[size]
        with ground.daemon(name) as client:
            for query in questions(100):
                ask(client, query)
            time.sleep(_CALM_SECONDS)
            held = measure.resident(client.pid)
        share = 100_000 / ground.built(name).chunks
        least = floors.printed("answer", ground.root(name))[0]
        told = f"{ground.built(name).size}: {held:.0f} MB"
        found.append(Measured(f"memory.{size}", held * share, least * share, {}, told))
    return found


FIGURES = (
    Figure(
        "queries",
        tuple(
            row
            for size, chunks, most in (("35k", "35,000", 3), ("100k", "100,000", 8), ("1M", "a million", 60))
            for row in (
                Row(f"query.{size}.p50", f"question in the daemon, {chunks} chunks: p50", "ms", most),
                Row(f"query.{size}.p99", f"question in the daemon, {chunks} chunks: p99", "ms", None, 3.0),
            )
        ),
        queries,
    ),
    Figure(
        "rebuilding",
        (
            Row("rebuilding.p50", "question while all is indexed anew, 35,000 chunks: p50", "ms"),
            Row("rebuilding.p99", "question while all is indexed anew, 35,000 chunks: p99", "ms"),
        ),
        rebuilding,
    ),
    Figure("command", (Row("command", "`indexer search` through the daemon", "ms", 60),), command),
    Figure(
        "restart",
        (Row("restart", "daemon started until its first answer, 100,000 chunks", "s", 0.5),),
        restart,
    ),
    Figure(
        "memory",
        (
            Row("memory.100k", "daemon's memory for 100,000 chunks, of 100,000", "MB", 220),
            Row("memory.1M", "daemon's memory for 100,000 chunks, of a million", "MB", 220),
        ),
        memory,
    ),
)
