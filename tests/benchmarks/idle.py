"""What it costs when nothing has changed: a run that finds that out, and a daemon that knows it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from tests.benchmarks import measure
from tests.benchmarks.figures import Figure, Measured, Row
from tests.benchmarks.floors import walk
from tests.serve.homes import INDEXER, SYNC

if TYPE_CHECKING:
    from tests.benchmarks.ground import Ground

_CALM_SECONDS = 15.0  # in which a daemon ends what it began at its start
_MINUTE = 60.0


def nothing(ground: Ground) -> list[Measured]:
    """A run over a tree that has not changed, against ``git status`` and a bare walk of the same tree."""
    found = []
    for key, name in (("noop.large", "linux-52k"), ("noop.django", "django")):
        build, root = ground.built(name), ground.root(name)
        runs = ground.runs(10)
        ours = measure.median(runs, [*INDEXER, "reindex", "--quiet"], root)
        git = measure.median(runs, ["git", "status"], root)
        bare = [sys.executable, "-I", walk.__file__, str(root)]
        least = measure.median(runs, bare, root)
        told = f"{build.size}; median of {runs} whole processes"
        found.append(Measured(key, ours.wall * 1e3, least.wall * 1e3, {"git status": git.wall * 1e3}, told))
    return found


def quiet(ground: Ground) -> list[Measured]:
    """Processor time of a daemon in a minute in which nothing happens. An audit may fall into it, once in ten minutes."""
    seconds = 6.0 if ground.quick else _MINUTE
    with ground.daemon("django") as client:
        time.sleep(_CALM_SECONDS)
        client.request("index/sync", SYNC)
        before = measure.processor_seconds(client.pid)
        time.sleep(seconds)
        spent = measure.processor_seconds(client.pid) - before
    return [Measured("quiet.cpu", spent * 1e3, 0.0, {}, f"Django; {seconds:.0f} s")]


FIGURES = (
    Figure(
        "nothing",
        (
            Row("noop.large", "`indexer reindex`, nothing changed, 52,000 files", "ms", None, 2.0),
            Row("noop.django", "`indexer reindex`, nothing changed, Django", "ms", 200),
        ),
        nothing,
    ),
    Figure("quiet", (Row("quiet.cpu", "daemon in a quiet minute: processor", "CPU ms", 0),), quiet),
)
