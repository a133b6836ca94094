"""The figures as Markdown, for the README: what, ours, the floor and the peers as ratios, what is to be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.figures import asked, reached

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.benchmarks.figures import Measured, Row

HEAD = (
    "| what | ours | floor | ours / floor | peers (ours / theirs) | to reach | |\n"
    "| --- | ---: | ---: | ---: | --- | --- | --- |"
)
_WORDS = {True: "reached", False: "not reached", None: ""}


def markdown(rows: Sequence[Row], found: Mapping[str, Measured]) -> str:
    """The table of those rows that were measured, in the order of the rows."""
    return "\n".join([HEAD, *(_line(row, found[row.key]) for row in rows if row.key in found)])


def conditions(rows: Sequence[Row], found: Mapping[str, Measured]) -> str:
    """What each row was measured on, a line each."""
    measured = [(row.what, found[row.key].conditions) for row in rows if row.key in found]
    return "\n".join(f"{what}: {told}" for what, told in measured if told)


def _line(row: Row, measured: Measured) -> str:
    floor = "" if measured.floor is None else number(measured.floor)
    ratio = f"{measured.ours / measured.floor:.1f}" if measured.floor else ""
    peers = ", ".join(
        f"{name} {number(value)} ({measured.ours / value:.2f})"
        for name, value in measured.peers.items()
        if value
    )
    verdict = _WORDS[reached(row, measured)]
    return f"| {row.what} | {number(measured.ours)} {row.unit} | {floor} | {ratio} | {peers} | {asked(row)} | {verdict} |"


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
