"""Merging: the newest segments become one, renumbered inside their own range of ids. Pure.

Every segment is made here, also the one of a single commit (a merge of what is pending alone), so that what is true
of a merged segment is true of all: paths come first among its strings, in byte order; its files ascend by path id;
no string, content or block stands in it that nothing keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from indexer.store import postings
from indexer.store.format import NONE, REFERENCES, Block, Counts, File
from indexer.store.packed import Packed, pack, unpack
from indexer.store.retention import Kept, join, join_offsets
from indexer.store.tables import Tables, offsets_of, sort_keys, sort_prefixes, take_ragged, unsort_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.store.tables import I64, U8, U32, Array


@dataclass(frozen=True, slots=True)
class _Renumbered:
    """New ids: for ids below ``base`` the same, above it ``base`` + mapping (NONE: dropped)."""

    base: int
    mapping: U32

    def of(self, ids: U32) -> U32:
        moved = ids.copy()
        own = (ids >= self.base) & (ids != NONE)
        moved[own] = self.mapping[ids[own] - np.uint32(self.base)] + np.uint32(self.base)
        return moved


def _renumber(base: int, kept: I64, count: int) -> _Renumbered:
    mapping = np.full(count, NONE, np.uint32)
    mapping[kept] = np.arange(len(kept), dtype=np.uint32)
    return _Renumbered(base, mapping)


def merge(parts: Sequence[Tables], base: Counts, kept: Kept) -> Tables:
    """Build the tables of one segment from what `retention.decide` kept of ``parts``, which start at ``base``."""
    count = Counts()
    for part in parts:
        count = count.plus(part.counts)
    rows = _rows(parts, kept)
    strings, names = _strings(parts, base, rows)
    new = {
        "strings": _renumber(base.strings, strings, count.strings),
        "contents": _renumber(base.contents, kept.contents, count.contents),
        "blocks": _renumber(base.blocks, kept.blocks, count.blocks),
    }
    arrays: dict[str, Array] = rows | names
    for name, places in REFERENCES.items():
        arrays[name] = _moved(rows[name], places, new)
    ascending = np.argsort(arrays["files"][File.PATH], kind="stable")
    arrays["files"] = arrays["files"][:, ascending]
    arrays["file_stats"] = arrays["file_stats"][:, ascending]
    arrays |= _named(parts, strings, new["strings"])
    arrays |= _contents(parts, kept, new["contents"])
    arrays |= _keyed(parts, "block", kept.blocks)
    return Tables.of(arrays)


def _moved(array: Array, places: dict[int, str], new: dict[str, _Renumbered]) -> Array:
    if -1 in places:
        return new[places[-1]].of(array)
    moved = array.copy()
    for row, kind in places.items():
        moved[row] = new[kind].of(array[row])
    return moved


def _rows(parts: Sequence[Tables], kept: Kept) -> dict[str, Array]:
    """Files, blocks and bindings that stay, still under their old ids."""
    block_offsets, bindings = take_ragged(join_offsets(parts, "block_offsets"), kept.blocks)
    blocks = join(parts, "blocks")[:, kept.blocks]
    blocks[Block.UNTIL] = kept.block_until
    rows: dict[str, Array] = {
        "files": join(parts, "files")[:, kept.files],
        "file_stats": join(parts, "file_stats")[:, kept.files],
        "blocks": blocks,
        "block_offsets": block_offsets,
        "bindings": join(parts, "bindings")[:, bindings],
        "numbers": join(parts, "numbers")[:, bindings],
    } | _bases(parts, bindings)
    for offsets, values, owners in (
        ("import_offsets", "imports", kept.blocks),
        ("place_offsets", "places", bindings),
    ):
        rows[offsets], index = take_ragged(join_offsets(parts, offsets), owners)
        rows[values] = join(parts, values)[..., index]
    return rows


def _bases(parts: Sequence[Tables], bindings: I64) -> dict[str, Array]:
    """Bases of the bindings that stay."""
    firsts = np.cumsum([0, *(part.counts.bindings for part in parts)])
    owners = np.concatenate([part.base_owners + first for part, first in zip(parts, firsts, strict=False)])
    offsets = offsets_of(np.bincount(owners, minlength=firsts[-1]))
    cut, index = take_ragged(offsets, bindings)
    owners = np.repeat(np.arange(len(bindings), dtype=np.uint32), np.diff(cut))
    return {"base_owners": owners, "bases": join(parts, "bases")[index]}


def _strings(parts: Sequence[Tables], base: Counts, rows: dict[str, Array]) -> tuple[I64, dict[str, Array]]:
    """Strings that something kept uses, paths first and in byte order; and their bytes."""
    count = sum(part.counts.strings for part in parts)
    used = np.zeros(count, np.bool_)
    for name, places in REFERENCES.items():
        for row, kind in places.items():
            ids = rows[name] if row < 0 else rows[name][row]
            if kind == "strings":
                used[ids[ids >= base.strings].astype(np.int64) - base.strings] = True
    offsets, data = join_offsets(parts, "string_offsets"), join(parts, "string_bytes")
    paths = np.unique(rows["files"][File.PATH])
    paths = paths[paths >= base.strings].astype(np.int64) - base.strings
    used[paths] = False
    order = np.concatenate((_by_bytes(paths, offsets, data), np.flatnonzero(used)))
    new_offsets, index = take_ragged(offsets, order)
    return order, {"string_offsets": new_offsets, "string_bytes": data[index]}


def _by_bytes(strings: I64, offsets: I64, data: U8) -> I64:
    if not len(strings):
        return strings
    starts, ends = offsets[strings].tolist(), offsets[strings + 1].tolist()
    texts = [data[start:end].tobytes() for start, end in zip(starts, ends, strict=True)]
    return strings[np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)]


def _named(parts: Sequence[Tables], strings: I64, new: _Renumbered) -> dict[str, Array]:
    """Keys, lengths and postings of the strings."""
    merged = _merged_postings(parts, "name", strings, new, [part.counts.strings for part in parts])
    return (
        _keyed(parts, "string", strings)
        | {
            "string_lengths": join(parts, "string_lengths")[strings],
        }
        | merged
    )


def _contents(parts: Sequence[Tables], kept: Kept, new: _Renumbered) -> dict[str, Array]:
    merged = _merged_postings(parts, "body", kept.contents, new, [part.counts.contents for part in parts])
    return (
        _keyed(parts, "content", kept.contents)
        | {
            "content_lengths": join(parts, "content_lengths")[kept.contents],
            "content_until": kept.content_until,
            "vectors": _taken(parts, "vectors", kept.contents),
            "scales": _taken(parts, "scales", kept.contents),
        }
        | merged
    )


def _taken(parts: Sequence[Tables], name: str, kept: I64) -> Array:
    """Take rows of a large column part by part, so that it is copied once."""
    if sum(part.counts.contents for part in parts) == len(kept):
        return join(parts, name)
    bounds = np.cumsum([0, *(part.counts.contents for part in parts)])
    cuts = np.searchsorted(kept, bounds)
    return np.concatenate(
        [
            getattr(part, name)[kept[start:end] - first]
            for part, first, (start, end) in zip(parts, bounds, pairwise(cuts), strict=False)
        ]
    )


def _as_they_are(
    parts: Sequence[Tables], names: Sequence[str], kept: I64, count: int
) -> dict[str, Array] | None:
    """Arrays of a single part of which all of ``count`` rows stay in their order, as most small commits have it."""
    if len(parts) > 1 or len(kept) < count or not (kept == np.arange(count)).all():
        return None
    return {name: getattr(parts[0], name) for name in names}


def _keyed(parts: Sequence[Tables], kind: str, kept: I64) -> dict[str, Array]:
    names = (kind + "_keys", kind + "_rows")
    if same := _as_they_are(parts, names, kept, len(getattr(parts[0], names[1]))):
        return same
    keys: list[Array] = [unsort_keys(*(getattr(part, name) for name in names)) for part in parts]
    sort = sort_keys if keys[0].ndim > 1 else sort_prefixes
    ordered, rows = sort(np.concatenate(keys)[kept])
    return dict(zip(names, (ordered, rows), strict=True))


def _merged_postings(
    parts: Sequence[Tables], prefix: str, kept: I64, new: _Renumbered, counts: list[int]
) -> dict[str, Array]:
    names = [f"{prefix}_{name}" for name in Packed._fields]
    if same := _as_they_are(parts, names, kept, counts[0]):
        return same
    bounds = np.cumsum([0, *counts])
    pieces = []
    for part, (start, end) in zip(parts, pairwise(bounds), strict=True):
        pieces.append(postings.renumber(unpack(Packed.of(part, prefix)), new.mapping[start:end]))
    return pack(postings.merge(pieces)).arrays(prefix)
