"""What a merge keeps. Pure: tables of the newest segments in, the rows that stay out.

Of each path the newest row stays. A removal stays only while an older segment may hold the path. A block stays while
a live file uses it, and for a while after; a content likewise, with the blocks that use it. "A while" is
``generations`` commits since the last one that is known to have used it (`Block.UNTIL`), and no more unused bindings
(or contents) than there are used ones, the latest used first; `FLOOR` keeps that from biting in tiny repositories.

Blocks and contents of a segment are used by that segment and newer ones only, so that this needs no look at older
segments: the work is in proportion to what is merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.store.format import NONE, Binding, Block, Counts, File, Flag
from indexer.store.tables import I64, U32, Array, Bool, take_ragged, widened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexer.store.tables import Tables

KEEP_GENERATIONS = 64
FLOOR = 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows that stay, as ascending indices into the joined tables; ``*_until`` belong to the kept ones.

    ``idle`` counts the bindings kept without a live file.
    """

    files: I64
    blocks: I64
    block_until: U32
    contents: I64
    content_until: U32
    idle: int


def join(parts: Sequence[Tables], name: str) -> Array:
    """Put one column of several segments end to end."""
    arrays: list[Array] = [widened(name, getattr(part, name)) for part in parts]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=0 if name == "vectors" else -1)


def join_offsets(parts: Sequence[Tables], name: str) -> I64:
    """Put offsets end to end, each shifted past the ones before."""
    arrays: list[I64] = [getattr(part, name).astype(np.int64) for part in parts]
    if len(arrays) == 1:
        return arrays[0]
    shift = np.cumsum([0, *(array[-1] for array in arrays[:-1])])
    return np.concatenate([arrays[0][:1], *(array[1:] + by for array, by in zip(arrays, shift, strict=True))])


class _Age(NamedTuple):
    """The generation of the merge, and how many generations an unused row is kept."""

    now: int
    most: int


class _Blocks(NamedTuple):
    """Blocks that stay, the generation each one (of all) is known to be used, and whether a live file uses it."""

    kept: I64
    until: I64
    bound: Bool


def decide(
    parts: Sequence[Tables], base: Counts, generation: int, generations: int = KEEP_GENERATIONS
) -> Kept:
    """Choose what stays of the segments that follow ``base``, merged at ``generation``."""
    age = _Age(generation, generations)
    live, blocks = _blocks(parts, base, age)
    contents, content_until = _contents(parts, base, blocks, age)
    sizes = np.diff(join_offsets(parts, "block_offsets"))[blocks.kept]
    idle = int(sizes[~blocks.bound[blocks.kept]].sum())
    return Kept(live, blocks.kept, blocks.until[blocks.kept].astype(np.uint32), contents, content_until, idle)


def _blocks(parts: Sequence[Tables], base: Counts, age: _Age) -> tuple[I64, _Blocks]:
    files = join(parts, "files")
    live, ended, ended_at = _newest(files, base)
    used = _own(files[File.BLOCK, live], base.blocks)
    until = join(parts, "blocks")[Block.UNTIL].astype(np.int64)
    blocks = files[File.BLOCK, ended]
    own = (blocks != NONE) & (blocks >= base.blocks)
    np.maximum.at(until, blocks[own] - np.int64(base.blocks), ended_at[own].astype(np.int64))
    until[used] = age.now
    bound = np.zeros(len(until), np.bool_)
    bound[used] = True
    sizes = np.diff(join_offsets(parts, "block_offsets"))
    young = _young(until, bound, sizes, max(int(sizes[bound].sum()), FLOOR), age)
    return live, _Blocks(np.flatnonzero(bound | young), until, bound)


def _newest(files: U32, base: Counts) -> tuple[I64, I64, U32]:
    """Rows that stay; rows that were replaced, and the generation that replaced each."""
    order = np.argsort(files[File.PATH], kind="stable")
    path = files[File.PATH, order]
    last = np.ones(len(order), np.bool_)
    last[:-1] = path[1:] != path[:-1]
    ended = np.flatnonzero(~last)
    newest = order[last]
    gone = (files[File.FLAGS, newest] & Flag.REMOVED) != 0
    stays = ~gone | (files[File.PATH, newest] < base.strings)
    return np.sort(newest[stays]), order[ended], files[File.GENERATION, order[ended + 1]]


def _own(ids: U32, base: int) -> I64:
    """Those ids that belong to the merged segments, counted from their first."""
    own: I64 = ids[(ids != NONE) & (ids >= base)].astype(np.int64) - base
    return own


def _young(until: I64, used: Bool, sizes: I64, budget: int, age: _Age) -> Bool:
    """Unused rows that are kept for a while: the latest used ones whose sizes fit the budget."""
    young: Bool = ~used & (age.now - until <= age.most)
    if int(sizes[young].sum()) > budget:
        latest = np.flatnonzero(young)
        latest = latest[np.argsort(-until[latest], kind="stable")]
        young[latest[np.cumsum(sizes[latest]) > budget]] = False
    return young


def _contents(parts: Sequence[Tables], base: Counts, blocks: _Blocks, age: _Age) -> tuple[I64, U32]:
    """Contents that stay, and until when each is known to be used."""
    offsets, bindings = take_ragged(join_offsets(parts, "block_offsets"), blocks.kept)
    uses = join(parts, "bindings")[Binding.CONTENT, bindings]
    own = uses >= base.contents
    uses = uses[own].astype(np.int64) - base.contents
    lengths = np.diff(offsets)
    until = join(parts, "content_until").astype(np.int64)
    np.maximum.at(until, uses, np.repeat(blocks.until[blocks.kept], lengths)[own])
    used = np.zeros(len(until), np.bool_)
    used[uses] = True
    live = np.zeros(len(until), np.bool_)
    live[uses[np.repeat(blocks.bound[blocks.kept], lengths)[own]]] = True
    idle = int((used & ~live).sum())  # what the kept blocks that no file uses have taken of the budget
    young = _young(until, used, np.ones(len(until), np.int64), max(int(live.sum()), FLOOR) - idle, age)
    kept = np.flatnonzero(used | young)
    return kept, until[kept].astype(np.uint32)
