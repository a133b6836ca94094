"""The figures: ``python -m tests.benchmarks`` measures all of them and prints the README's table.

Beside each stands its floor (a small program that does only what cannot be avoided) and, with ``--peers``, what other
tools take, from the same run and as ratios: absolute times hang on the machine. Nothing here is asserted. All of it
takes about an hour, ten gigabytes of disk, and a machine that does nothing else; ``--only NAME`` takes a part,
``--quick`` fewer runs on a tenth of the kernel.
"""

from __future__ import annotations

import argparse
import compileall
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks import asked, cold, corpora, idle, live, measure, plots, table
from tests.benchmarks.ground import Ground
from tests.benchmarks.peers import Peers
from tests.benchmarks.results import Results
from tests.serve.homes import Home
from tests.trees import REPO

FIGURES = (*cold.FIGURES, *idle.FIGURES, *live.FIGURES, *asked.FIGURES)
ROWS = tuple(row for figure in FIGURES for row in figure.rows)
DRAWN = (
    "query.35k.p50",
    "query.100k.p50",
    "query.1M.p50",
    "rebuilding.p50",
    "save.small.p50",
    "save.large.p50",
)


def main(arguments: Sequence[str]) -> int:
    options = _parsed(arguments)
    out = options.out or Path(tempfile.mkdtemp(prefix="figures-"))
    out.mkdir(parents=True, exist_ok=True)
    results = Results(out / "figures.json")
    with _ground(options) as ground:
        failed = _measured(options, ground, results)
    print(f"\n{table.markdown(ROWS, results.figures)}\n\n{table.conditions(ROWS, results.figures)}\n")
    if find_spec("matplotlib"):
        titles = {row.key: row.what.rpartition(":")[0] for row in ROWS}
        spread = {titles[key]: results.figures[key].samples for key in DRAWN if key in results.figures}
        for path in plots.draw(out, list(results.builds.values()), spread):
            print(path)
    else:
        print("no plots: matplotlib comes with the extra [bench]")
    print(out / "figures.json")
    return 1 if failed else 0


def _measured(options: argparse.Namespace, ground: Ground, results: Results) -> list[str]:
    """Measure what is asked for; return the names of the figures that could not be."""
    told = f"{time.strftime('%Y-%m-%d')}, {measure.environment()}{', quick' if options.quick else ''}"
    print(told, flush=True)
    failed = []
    for figure in FIGURES:
        if options.only and figure.name not in options.only:
            continue
        started = time.perf_counter()
        try:
            results.add(told, figure.measure(ground), ground.builds.values())
        except Exception:  # noqa: BLE001  (hours of others must not be lost with it)
            failed.append(figure.name)
            traceback.print_exc()
            ground.home.stop_all()
        print(f"{figure.name}: {time.perf_counter() - started:.0f} s", flush=True)
    return failed


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure the figures.")
    names = [figure.name for figure in FIGURES]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="fewer runs, a tenth of the kernel")
    parser.add_argument("--peers", action="store_true", help="install other tools and measure them too")
    parser.add_argument("--out", type=Path, help="folder for figures.json, which is added to, and the plots")
    parser.add_argument("--work", type=Path, help="folder for trees and indexes that is kept and used again")
    return parser.parse_args(arguments)


@contextmanager
def _ground(options: argparse.Namespace) -> Iterator[Ground]:
    """A folder for the trees and a home for the daemons, cleaned up afterwards unless it is to be kept."""
    with (
        tempfile.TemporaryDirectory(prefix="ground-") as trees,
        tempfile.TemporaryDirectory(prefix="ix-") as home,
    ):
        # As pip does when it installs: where Python may not keep bytecode, each start would compile all modules anew.
        compileall.compile_dir(REPO / "indexer", quiet=1)
        folder = options.work or Path(trees)
        folder.mkdir(parents=True, exist_ok=True)
        mine = Home(Path(home))
        os.environ.update(mine.environment)  # the built-in settings, and daemons that are ours alone
        peers = Peers(folder / "peers", corpora.folder("django")) if options.peers else None
        ground = Ground(folder.resolve(), mine, quick=options.quick, peers=peers)
        try:
            yield ground
        finally:
            ground.home.stop_all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
