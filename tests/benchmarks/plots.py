"""Two plots: what an index costs against the size of the tree, and how the times of answers and saves are spread.

matplotlib comes with the extra ``[bench]``; without it nothing is drawn, and that is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.benchmarks.ground import Build

_GUIDES = (50, 99)  # per cent


def draw(folder: Path, builds: Sequence[Build], samples: Mapping[str, Sequence[float]]) -> list[Path]:
    """Draw both, as far as there is something to draw; return the files."""
    import matplotlib as mpl  # here: the figures themselves do without

    mpl.use("svg")
    drawn = []
    if builds:
        drawn.append(_cost(folder / "cost.svg", builds))
    if samples:
        drawn.append(_latency(folder / "latency.svg", samples))
    return drawn


def _cost(path: Path, builds: Sequence[Build]) -> Path:
    """Processor seconds and peak memory of an index from nothing over megabytes of text, both axes logarithmic."""
    from matplotlib import pyplot as plt

    figure, (seconds, memory) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    kernel = sorted((one for one in builds if one.name.startswith("linux")), key=lambda one: one.text)
    others = [one for one in builds if not one.name.startswith("linux")]
    for axes, name in ((seconds, "cpu"), (memory, "memory")):
        for some, style, label in ((kernel, "o-", "Linux, by samples"), (others, "s", "other projects")):
            axes.plot(
                [one.text / 1e6 for one in some], [getattr(one, name) for one in some], style, label=label
            )
        for one in others:
            at = (one.text / 1e6, getattr(one, name))
            axes.annotate(one.name, at, textcoords="offset points", xytext=(5, -10), fontsize=8)
        axes.set(xscale="log", yscale="log", xlabel="indexed text, MB")
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend()
    seconds.set(ylabel="CPU seconds", title="index from nothing: processor")
    memory.set(ylabel="MB, all processes", title="index from nothing: peak memory")
    figure.savefig(path)
    plt.close(figure)
    return path


def _latency(path: Path, samples: Mapping[str, Sequence[float]]) -> Path:
    """The share of times that were no longer than so many milliseconds; the horizontal lines are p50 and p99."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for name, values in samples.items():
        ranked = sorted(values)
        axes.step(
            ranked, [100 * (at + 1) / len(ranked) for at in range(len(ranked))], where="post", label=name
        )
    for guide in _GUIDES:
        axes.axhline(guide, color="grey", linewidth=0.5)
    axes.set(
        xscale="log", xlabel="milliseconds", ylabel="per cent within", title="times of answers and saves"
    )
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path)
    plt.close(figure)
    return path
