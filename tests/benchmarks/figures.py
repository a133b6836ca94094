"""What is measured: a row of the table each, with what it is to reach; and the values that come of measuring."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.benchmarks.ground import Ground


class Row(NamedTuple):
    """One row: ``most`` bounds the value itself, ``most_times`` its ratio to the first peer."""

    key: str
    what: str
    unit: str
    most: float | None = None
    most_times: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What one row came to, in its unit; ``floor`` and ``peers`` were measured in the same run.

    ``samples`` are the single times behind a latency, for the plot. ``conditions``: corpus, how often, how.
    """

    key: str
    ours: float
    floor: float | None = None
    peers: Mapping[str, float] = field(default_factory=dict)
    conditions: str = ""
    samples: tuple[float, ...] = ()


class Figure(NamedTuple):
    """A function that measures some rows on a ground; asked for by name."""

    name: str
    rows: tuple[Row, ...]
    measure: Callable[[Ground], list[Measured]]


def reached(row: Row, measured: Measured) -> bool | None:
    """Whether a row reaches what it is to reach; None when nothing is asked of it, or its peer was not measured."""
    if row.most is not None and measured.ours > row.most:
        return False
    if row.most_times is None:
        return None if row.most is None else True
    peer = next(iter(measured.peers.values()), None)
    return None if peer is None else measured.ours <= row.most_times * peer


def asked(row: Row) -> str:
    """What a row is to reach, in words."""
    parts = [f"<= {row.most:g}"] if row.most is not None else []
    parts += [f"<= {row.most_times:g} x peer"] if row.most_times is not None else []
    return ", ".join(parts)
