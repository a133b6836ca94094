"""How soon a change is in the index of a running daemon, and on the disk: a save, and a checkout of a thousand files."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks import cold, floors, measure
from tests.benchmarks.figures import Figure, Measured, Row
from tests.benchmarks.ground import PATIENCE, SYNC, WHOLE, changed_files
from tests.serve.homes import INDEXER
from tests.trees import commit, git

if TYPE_CHECKING:
    from indexer.serve.client import Client
    from tests.benchmarks.ground import Ground

_CHANGED = 1_000
_ADDED = "\n\nint {name}(int argument)\n{{\n\treturn argument + {number};\n}}\n"


def saves(ground: Ground) -> list[Measured]:
    """A file of C is written, and what is fresh is asked for: the answer holds it, and it is durable."""
    small = _saved(ground, "linux-35k-chunks", "save.small", ground.runs(200))
    large = _saved(ground, WHOLE, "save.large", ground.runs(100))
    beside = {"at 35,000": small[0].ours}
    return [*small, replace(large[0], peers=beside), *large[1:]]


def _saved(ground: Ground, name: str, key: str, count: int) -> list[Measured]:
    with ground.daemon(name) as client:
        root = ground.root(name)
        path = changed_files(root, 1, ".c")[0]
        text = path.read_text(errors="replace")
        for warming in range(5):
            _save(client, path, text, f"warmed_up_{warming}")
        waits = [_save(client, path, text, f"saved_{number}") * 1e3 for number in range(count)]
        found = _asked_for(client, f"saved_{count - 1}")
        assert found == [path.relative_to(root).as_posix()], found
        settled = [_settle(client, path, text, number) * 1e3 for number in range(ground.runs(30))]
        path.write_text(text)
        client.request("index/sync", SYNC, timeout=PATIENCE)
    least = [seconds * 1e3 for seconds in floors.printed("save", path, str(count))]
    told = f"{ground.built(name).size}; {count} saves"
    halves = (statistics.median(waits), statistics.median(least))
    rows = [
        Measured(f"{key}.p50", halves[0], halves[1], {}, told, tuple(waits)),
        Measured(f"{key}.p99", measure.quantile(waits, 0.99), measure.quantile(least, 0.99), {}, told),
    ]
    if key == "save.small":
        rows.append(Measured("save.settled", statistics.median(settled), None, {}, f"{len(settled)} saves"))
    return rows


def _save(client: Client, path: Path, text: str, name: str) -> float:
    """Seconds from before the write to the word that everything before the question is in and durable."""
    started = time.perf_counter()
    path.write_text(text + _ADDED.format(name=name, number=len(name)))
    found = client.request("index/sync", SYNC, timeout=PATIENCE)
    seconds = time.perf_counter() - started
    assert found["fresh"], found
    return seconds


def _settle(client: Client, path: Path, text: str, number: int) -> float:
    """Seconds until a save is in while nobody asks: told by the daemon, the settling of the burst included."""
    client.request("index/subscribe")
    for _ in client.notifications(0.3):
        pass
    started = time.perf_counter()
    path.write_text(text + _ADDED.format(name=f"settled_{number}", number=number))
    for told in client.notifications(PATIENCE):
        if told.method == "index/generation":
            return time.perf_counter() - started
    raise TimeoutError("no generation was told")


def _asked_for(client: Client, name: str) -> list[str]:
    answer = client.request("index/search", {"query": name, "freshness": "now", "k": 1}, timeout=PATIENCE)
    return [hit["path"] for hit in answer["hits"]]


def checkout(ground: Ground) -> list[Measured]:
    """``git checkout`` of a branch on which a thousand files differ: from its end until the index is current.

    Then back, without the daemon, by a run that counts what it embeds. Each time it is another branch.
    """
    name = "linux-10k"
    build, root = ground.built(name), ground.root(name)
    files = changed_files(root, ground.runs(_CHANGED), ".c")
    seconds, embedded = [], 0
    for number in range(ground.runs(5)):
        _branch(root, f"other-{time.time_ns()}", files, number)
        with ground.daemon(name) as client:
            git(root, "checkout", "-q", "-")
            seconds.append(measure.timed(partial(client.request, "index/sync", SYNC, timeout=PATIENCE)))
        git(root, "checkout", "-q", "main")
        embedded = max(embedded, _embedded(ground, root))
    told = f"{build.size}; {len(files)} files; median of {len(seconds)}"
    names = [path.relative_to(root).as_posix() for path in files]
    least = cold.of_files(root, names, build.index * len(files) // build.files)
    return [
        Measured("checkout.wall", statistics.median(seconds), least.wall, {}, told),
        Measured("checkout.back", embedded, 0.0, {}, "back on the first branch, most of all runs"),
    ]


def _branch(root: Path, name: str, files: list[Path], number: int) -> None:
    """Make a branch on which each of the files has one function more, and leave it again."""
    git(root, "checkout", "-q", "-b", name, "main")
    for at, path in enumerate(files):
        with path.open("a") as file:
            file.write(_ADDED.format(name=f"added_{number}_{at}", number=at))
    commit(root)
    git(root, "checkout", "-q", "main")


def _embedded(ground: Ground, root: Path) -> int:
    done = subprocess.run(
        [*INDEXER, "reindex", "--json"],
        cwd=root, check=True, capture_output=True,
    )  # fmt: skip
    return int(json.loads(done.stdout)["embedded"])


FIGURES = (
    Figure(
        "saves",
        (
            Row("save.small.p50", "file saved until searchable and durable, 35,000 chunks: p50", "ms", 15),
            Row("save.small.p99", "file saved until searchable and durable, 35,000 chunks: p99", "ms", 60),
            Row("save.settled", "the same while nobody asks, settling included: p50", "ms"),
            Row(
                "save.large.p50",
                "file saved until searchable and durable, the whole kernel: p50",
                "ms",
                None,
                1.2,
            ),
            Row("save.large.p99", "file saved until searchable and durable, the whole kernel: p99", "ms", 72),
        ),
        saves,
    ),
    Figure(
        "checkout",
        (
            Row("checkout.wall", "checkout of 1,000 changed files until current", "s", 2),
            Row("checkout.back", "the checkout back: contents embedded", "contents", 0),
        ),
        checkout,
    ),
)
