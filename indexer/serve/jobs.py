"""What goes over the updater's pipe: jobs one way, and how they go and end the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.settings import Settings
    from indexer.types import Report

SCAN, UPDATE, FULL, AUDIT = "scan", "update", "full", "audit"


class Origin(NamedTuple):
    """What the updater works on; the first message on its pipe."""

    root: Path
    index_dir: Path
    settings: Settings


class Job(NamedTuple):
    """One piece of work: ``scan`` everything, make it anew (``full``), ``update`` what is dirty, ``audit`` some files."""

    number: int
    kind: str
    paths: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


class Going(NamedTuple):
    """How far a job is: ``done`` of ``total`` files."""

    job: int
    stage: str
    done: int
    total: int


class Finished(NamedTuple):
    """A job's end, and the generation it ended with; ``whole``: it looked at everything, whatever was asked."""

    job: int
    report: Report
    generation: int
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    whole: bool


class Broken(NamedTuple):
    """A job that could not be done: the kind of the error by its class's name, and its one line."""

    job: int
    kind: str
    message: str


Message = Going | Finished | Broken
