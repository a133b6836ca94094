"""Files that are looked at while git still lists: by the names that are known, and held against what is known of them.

All that is done for each file is done by columns here: most runs find nothing changed, and then this is the run.
"""

from __future__ import annotations

import os
from array import array
from itertools import chain
from operator import attrgetter

from indexer.files import LATEST, FileStat, Stats
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.scan.names import NEVER_ENTERED, TO_JUDGE, reason_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indexer.settings import ScanSettings

REGULAR = 0o100000
KIND = 0o170000
_DOT = ord(".")


# Mode, size, times of modification and change (ns), inode.
Look = tuple[int, int, int, int, int]
look_of: Callable[[os.stat_result], Look] = attrgetter(
    "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns", "st_ino"
)
_FIELDS = 5


class Early(NamedTuple):
    """Names below the root, and what was seen of each; those that could not be looked at are left out.

    ``looks`` are uint64, those of a name (as `Look`) one after the other: a tenth of the room that as many values of
    Python's take, to come back to which takes half as long as the looking.
    """

    names: list[bytes]
    looks: array[int]

    def plain(self, settings: ScanSettings) -> Iterator[tuple[bytes, FileStat]]:
        """Yield those files about which nothing is special, by name."""
        looks = zip(*[iter(self.looks)] * _FIELDS, strict=True)
        for name, path, seen in zip(self.names, decoded(self.names), looks, strict=True):
            if (found := plain(name, path, seen, settings)) is not None:
                yield name, found


def look(
    lstat: Callable[[bytes], os.stat_result],
    names: list[bytes],
    halfway: Callable[[], None] | None = None,
) -> Early:
    """Look at every name that is there, and call when half of that is done."""
    half = len(names) // 2
    try:
        looks = array("Q", chain.from_iterable(map(look_of, map(lstat, names[:half]))))
        if halfway is not None:
            halfway()
        looks.extend(chain.from_iterable(map(look_of, map(lstat, names[half:]))))
    except (OSError, OverflowError):  # one is gone, or its time lies before 1970, and it is not told which
        return _one_by_one(lstat, names)
    return Early(names, looks)


def _one_by_one(lstat: Callable[[bytes], os.stat_result], names: list[bytes]) -> Early:
    seen: list[bytes] = []
    looks = array("Q")
    for name in names:
        try:
            looks.extend(array("Q", look_of(lstat(name))))
        except (OSError, OverflowError):
            continue
        seen.append(name)
    return Early(seen, looks)


def plain(name: bytes, path: str, seen: Look, settings: ScanSettings) -> FileStat | None:
    """Return the stat of a file about which nothing is special, at the cost of one look-up."""
    base = name.rpartition(b"/")[2]
    if (
        seen[0] & KIND == REGULAR
        and seen[1] <= settings.max_file_bytes
        and -LATEST <= seen[2] <= LATEST
        and base[0] != _DOT
        and base.rpartition(b".")[2].lower() not in TO_JUDGE
    ):
        return FileStat(path, *seen[1:])
    return None


def is_as_known(early: Early, known: Stats, settings: ScanSettings) -> bool:
    """Tell whether every known file is there, was not touched, and is still one that these settings let in."""
    if len(early.names) < len(known.names):
        return False
    columns = (early.looks[at::_FIELDS].tobytes() for at in range(1, _FIELDS))
    return (
        all(seen == before.tobytes() for seen, before in zip(columns, known[1:], strict=True))
        and {mode & KIND for mode in set(early.looks[::_FIELDS])} <= {REGULAR}
        and max(known.sizes, default=0) <= settings.max_file_bytes
        and all(_is_let_in(name, settings) for name in _to_judge(known.names))
    )


def _to_judge(names: list[bytes]) -> list[bytes]:
    """Those of many names of which the name alone may say that they are left out; rather too many than too few."""
    # There are few endings and many names.
    endings = {name.rpartition(b".")[2] for name in names}
    if any(ending.rpartition(b"/")[2].lower() in TO_JUDGE for ending in endings):
        return names
    return _with_dotted_parts(names)


def _with_dotted_parts(names: list[bytes]) -> list[bytes]:
    """Those of many names of which a part begins with a dot; in one text, for to look into each takes five times as long."""
    found = []
    text = b"\0/" + b"\0/".join(names) + b"\0"
    at = text.find(b"/.")
    while at >= 0:
        end = text.index(b"\0", at)
        found.append(text[text.rindex(b"\0", 0, at) + 2 : end])
        at = text.find(b"/.", end)
    return found


def _is_let_in(name: bytes, settings: ScanSettings) -> bool:
    never = name.rpartition(b"/")[2] in NEVER_ENTERED
    return not never and not reason_by_name(os.fsdecode(name), secrets=settings.secrets)


def decoded(names: list[bytes]) -> list[str]:
    """Return the names as text; all at once, which is ten times quicker than one by one."""
    return os.fsdecode(b"\0".join(names)).split("\0") if names else []
