"""Which files have to be opened: what the scan saw, held against what the index knows. Pure.

A stat that moved is only a suspicion; the content's hash decides. A stat that did *not* move proves nothing when the
file was read within the file system's clock tick of its last change: a second change in the same tick leaves no
trace. Such a record is called racy and is opened once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import fsencode
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from indexer.files import FileStat

# Linux stamps files by its timer tick, 1 to 10 ms; two or three ticks leave room for a slow one.
_TICK_NS = 30_000_000
# FAT counts 2 s, HFS+ and old ext3 1 s; a stamp of a whole second may come from one of them.
_SECOND_NS = 1_000_000_000
_COARSE_TICK_NS = 2 * _SECOND_NS
# A server's clock may run ahead of ours; what is further ahead is a clock that was set, not one that races.
_AHEAD_NS = 60 * _SECOND_NS


@dataclass(frozen=True, slots=True)
class Suspects:
    """What to look at, each in the order of paths. ``gone`` is what is known, and surely no longer there."""

    new: tuple[FileStat, ...]
    moved: tuple[FileStat, ...]
    racy: tuple[FileStat, ...]
    gone: tuple[str, ...]
    unchanged: int

    @property
    def opened(self) -> tuple[FileStat, ...]:
        """Every file that has to be read to know."""
        return (*self.new, *self.moved, *self.racy)


def compare(
    known: Mapping[str, FileStat], racy: AbstractSet[str], seen: Iterable[FileStat], unknown: Sequence[str]
) -> Suspects:
    """Sort what was seen by what is to be done about it.

    ``unknown`` are directories (or files) that could not be read: what is known at or below one of them is neither
    unchanged nor gone. The empty path stands for the root.
    """
    new: list[FileStat] = []
    moved: list[FileStat] = []
    reread: list[FileStat] = []
    unchanged = 0
    left = set(known)
    for stat in seen:
        path = stat[0]
        before = known.get(path)
        if before is None:
            new.append(stat)
            continue
        left.discard(path)
        if before != stat:
            moved.append(stat)
        elif path in racy:
            reread.append(stat)
        else:
            unchanged += 1
    gone = sorted(_surely_gone(left, unknown), key=fsencode)
    return Suspects(tuple(new), tuple(moved), tuple(reread), tuple(gone), unchanged)


def _surely_gone(paths: AbstractSet[str], unknown: Sequence[str]) -> Iterable[str]:
    if not unknown:
        return paths
    if "" in unknown:
        return ()
    exact = set(unknown)
    below = tuple(f"{directory}/" for directory in exact)
    return (path for path in paths if path not in exact and not path.startswith(below))


def lost_mounts(known: Iterable[str], seen: Iterable[str]) -> list[str]:
    """Return the directories where another file system began and none does now: add them to ``unknown``.

    An unmounted file system leaves an empty directory behind, which is no evidence that its files were deleted.
    """
    return sorted(set(known) - set(seen), key=fsencode)


def is_racy(stat: FileStat, read_at_ns: int) -> bool:
    """Tell whether a change just after the reading could leave the stat as it is.

    ``read_at_ns`` is the moment (of ``time.time_ns``) before the file was opened. A change sets both stamps to its
    own moment, so a stamp that is a tick older than the reading is safe; so is an mtime in the future, which only a
    program sets and the next change moves. A ctime in the near future is another machine's clock.
    """
    mtime_age = read_at_ns - stat.mtime_ns
    ctime_age = read_at_ns - stat.ctime_ns
    return -_tick(stat.mtime_ns) <= mtime_age <= _tick(stat.mtime_ns) or (
        -_AHEAD_NS <= ctime_age <= _tick(stat.ctime_ns)
    )


def _tick(stamp_ns: int) -> int:
    return _COARSE_TICK_NS if stamp_ns % _SECOND_NS == 0 else _TICK_NS
