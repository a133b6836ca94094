"""What an index made from nothing costs, how that grows with the tree, and how large the index is."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from indexer.reindex import identity_of
from indexer.store import open_snapshot
from indexer.workspace import open_root
from tests.benchmarks import corpora, floors, measure
from tests.benchmarks.figures import Figure, Measured, Row
from tests.benchmarks.ground import WHOLE
from tests.serve.homes import INDEXER
from tests.trees import REPO, git

if TYPE_CHECKING:
    from tests.benchmarks.ground import Ground

_OTHERS = ("sympy", "typescript", "go")
_SMALL, _LARGE = "linux-10k", "linux-52k"


def floor(ground: Ground, name: str) -> measure.Figures:
    """The floor of indexing a corpus from nothing."""
    build = ground.built(name)
    return measure.once(floors.command("cold", ground.root(name), str(build.index)), REPO)


def of_files(root: Path, names: Iterable[str], size: int) -> measure.Figures:
    """The floor of indexing some files of a tree, whose part of the index is of so many bytes."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(names))
        listed.flush()
        return measure.once(floors.command("cold", root, str(size), listed.name), REPO)


def cold(ground: Ground) -> list[Measured]:
    """Django, several times; the memory in a run of its own."""
    build, root = ground.built("django"), ground.root("django")
    index = root / ".indexer"

    def forget() -> None:
        shutil.rmtree(index)

    runs = ground.runs(5)
    command = [*INDEXER, "reindex", "--quiet"]
    ours = measure.median(runs, command, root, forget)
    least = floor(ground, "django")
    peers = ground.peers.cold(root) if ground.peers else {}
    told = f"Django {corpora.version('django')}: {build.size}; median of {runs}"
    return [
        Measured("cold.cpu", ours.cpu, least.cpu, {name: took.cpu for name, took in peers.items()}, told),
        Measured("cold.wall", ours.wall, least.wall, {name: took.wall for name, took in peers.items()}, told),
        Measured("cold.memory", build.memory, None, {n: took.memory for n, took in peers.items()}, "one run"),
    ]


def others(ground: Ground) -> list[Measured]:
    """Other projects and languages, once each."""
    found = []
    for name in _OTHERS:
        build = ground.built(name)
        told = f"{corpora.version(name)}: {build.size}; one run"
        found.append(Measured(f"cold.{name}", build.cpu, floor(ground, name).cpu, {}, told))
    return found


def growth(ground: Ground) -> list[Measured]:
    """Samples of one tree, five times as large the one as the other: what a megabyte of text costs in each."""
    small, large = ground.built(_SMALL), ground.built(_LARGE)
    least = [floor(ground, name).cpu / ground.built(name).text for name in (_SMALL, _LARGE)]
    told = f"Linux {corpora.version(WHOLE)}: {small.size} in {small.cpu:.0f} CPU s; {large.size} in {large.cpu:.0f} CPU s"
    ratio = (large.cpu / large.text) / (small.cpu / small.text)
    return [
        Measured("growth.cost", ratio, least[1] / least[0], {}, told),
        Measured("growth.memory", large.memory, None, {}, large.size),
    ]


def million(ground: Ground) -> list[Measured]:
    """The whole kernel, once."""
    build = ground.built(WHOLE)
    least = floor(ground, WHOLE)
    told = f"Linux {corpora.version(WHOLE)}: {build.size}; one run"
    return [
        Measured("million.cpu", build.cpu, least.cpu, {}, told),
        Measured("million.wall", build.wall, least.wall, {}, told),
        Measured("million.memory", build.memory, None, {}, told),
    ]


def disk(ground: Ground) -> list[Measured]:
    """Bytes of the index for a byte of indexed text. The floor: a vector, its scale and a key for each content."""
    found = []
    for key, name in (("disk.django", "django"), ("disk.linux", _SMALL)):
        build, space = ground.built(name), open_root(ground.root(name))
        snapshot = open_snapshot(space.index_dir, identity_of(space))
        least = snapshot.content_count * (space.embedder.dim + 4 + 16)
        peers = ground.peers.size(ground.root(name)) if ground.peers else {}
        told = f"{build.size} in {build.index / 1e6:.0f} MB"
        found.append(
            Measured(
                key, build.index / build.text, least / build.text,
                {peer: size / build.text for peer, size in peers.items()}, told,
            )
        )  # fmt: skip
    return found


def oneshot(ground: Ground) -> list[Measured]:
    """Commands without a daemon: one function changed, and a question (which looks at the whole tree first)."""
    ground.built("django")
    root = ground.root("django")
    changed = root / "django" / "db" / "models" / "query.py"
    number = iter(range(1_000_000))

    def edit() -> None:
        text = changed.read_text()
        changed.write_text(
            text.replace("    def count(self):\n", f"    def count(self):  # {next(number)}\n", 1)
        )
        git(root, "add", str(changed))  # else git looks into the file each time

    runs = ground.runs(10)
    one = measure.median(runs, [*INDEXER, "reindex", "--quiet"], root, edit)
    ask = [*INDEXER, "search", "QuerySet.filter"]
    question = measure.median(runs, ask, root)
    peers = ground.peers.ask(root, "QuerySet.filter") if ground.peers else {}
    told = f"Django; median of {runs} whole processes"
    return [
        Measured("oneshot.edit", one.wall * 1e3, None, {}, told),
        Measured("oneshot.search", question.wall * 1e3, None, {n: s * 1e3 for n, s in peers.items()}, told),
    ]


FIGURES = (
    Figure(
        "cold",
        (
            # Against the first peer, on which it was asked for: semble / 2.4, 10 s on a machine where that takes 24.
            Row("cold.cpu", "cold index of Django: processor", "CPU s", None, 0.417),
            Row("cold.wall", "cold index of Django: wall", "s", 7),
            Row("cold.memory", "cold index of Django: peak memory", "MB"),
        ),
        cold,
    ),
    Figure(
        "others",
        tuple(
            Row(f"cold.{name}", f"cold index of {title}: processor", "CPU s")
            for name, title in (("sympy", "SymPy"), ("typescript", "TypeScript"), ("go", "Go's library"))
        ),
        others,
    ),
    Figure(
        "growth",
        (
            Row("growth.cost", "cold index, a MB of 52,000 files against one of 10,000", "x", 1.15),
            Row("growth.memory", "cold index of 52,000 files: peak memory", "MB", 1000),
        ),
        growth,
    ),
    Figure(
        "million",
        (
            Row("million.cpu", "cold index of the whole Linux kernel: processor", "CPU s"),
            Row("million.wall", "cold index of the whole Linux kernel: wall", "s"),
            Row("million.memory", "cold index of the whole Linux kernel: peak memory", "MB", 4000),
        ),
        million,
    ),
    Figure(
        "disk",
        (
            Row("disk.django", "index on disk to indexed text, Django", "x", 0.8),
            Row("disk.linux", "index on disk to indexed text, 10,000 files of the kernel", "x", 0.8),
        ),
        disk,
    ),
    Figure(
        "oneshot",
        (
            Row("oneshot.edit", "`indexer reindex`, one function changed, no daemon", "ms"),
            Row("oneshot.search", "`indexer search`, no daemon", "ms"),
        ),
        oneshot,
    ),
)
