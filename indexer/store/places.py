"""Where chunks stand in their files: spans, signature and docstring, as the few bytes that `format` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.errors import StoreError
from indexer.store.tables import offsets_of
from indexer.types import Span

if TYPE_CHECKING:
    from indexer.store.tables import I64, U8, U32, U64, Tables

_MASK = 0xFFFFFFFF
# Numbers of a signature and a docstring, and of a span.
_NUMBERS = 4


class Place(NamedTuple):
    """Where one chunk stands."""

    spans: tuple[Span, ...]
    signature: tuple[int, int]
    docstring: tuple[int, int]


def encode(extents: U32, spans: U32, sizes: U32) -> tuple[I64, U8]:
    """Write places: offsets (n + 1,) and the bytes that they cut.

    ``extents`` (4, n): first byte and last byte + 1 of signature and docstring, both 0 without one; ``spans`` (4, s), as
    in `types.Span`, of which each place has one or more, as ``sizes`` (n,) say.
    """
    first = offsets_of(sizes)[:-1]
    heads = first + np.arange(len(sizes))
    numbers = np.empty((len(sizes) + spans.shape[1], 4), np.uint64)
    numbers[heads] = _extents(extents, spans[0, first])
    tails = np.ones(len(numbers), np.bool_)
    tails[heads] = False
    numbers[tails] = _spans(spans, first)
    lengths, data = _varints(numbers.reshape(-1))
    ends = np.append(heads, len(numbers)) * _NUMBERS
    return offsets_of(lengths)[ends], data


def _extents(extents: U32, start: U32) -> U64:
    """Give the four numbers of each signature and docstring."""
    after = np.where(extents[1] > 0, extents[1], start)
    numbers = np.zeros((extents.shape[1], 4), np.uint64)
    for at, base in ((0, start), (2, after)):
        there = np.flatnonzero(extents[at] | extents[at + 1])
        begin, end = extents[at, there], extents[at + 1, there]
        numbers[there, at] = _signed(begin - base[there]) + np.uint64(1)
        numbers[there, at + 1] = _signed(end - begin)
    return numbers


def _spans(spans: U32, first: I64) -> U64:
    """Give the four numbers of each span: those from the end of the one before it."""
    start, end, line, last = spans
    before = np.zeros((2, len(start)), np.uint32)
    before[:, 1:] = end[:-1], last[:-1]
    before[:, first] = 0
    moves = (start - before[0], end - start, line - before[1], last - line)
    return np.stack([_signed(move) for move in moves], axis=1)


def _signed(moves: U32) -> U64:
    """Number 0, -1, 1, -2 ... from 0 on; what is below 0 stands as its two's complement."""
    signed = moves.view(np.int32)
    return (signed << 1 ^ signed >> 31).view(np.uint32).astype(np.uint64)


def _varints(numbers: U64) -> tuple[U8, U8]:
    """Give how many bytes each number takes, and the bytes: seven bits each, the lowest first."""
    most = max(1, -(-int(numbers.max(initial=0)).bit_length() // 7))
    lengths = np.ones(len(numbers), np.uint8)
    for count in range(1, most):
        lengths += numbers >= 1 << 7 * count
    starts = offsets_of(lengths)
    data = np.empty(starts[-1], np.uint8)
    for count in range(most):
        some = np.flatnonzero(lengths > count)
        more = (lengths[some] > count + 1).astype(np.uint8) << 7
        data[starts[some] + count] = (numbers[some] >> 7 * count).astype(np.uint8) & 0x7F | more
    return lengths, data


def decode(data: bytes) -> Place:
    """Read one place. StoreError when it is none."""
    numbers = _numbers(data)
    spans = _read_spans(numbers)
    signature = _extent(numbers[0], numbers[1], spans[0].start)
    return Place(spans, signature, _extent(numbers[2], numbers[3], signature[1] or spans[0].start))


def decode_spans(data: bytes) -> tuple[Span, ...]:
    """Read the spans of one place, which are asked for more often. StoreError when it is none."""
    return _read_spans(_numbers(data))


def _numbers(data: bytes) -> list[int]:
    numbers = []
    number = shift = 0
    for byte in data:
        if byte < 0x80:
            numbers.append(byte << shift | number)
            number = shift = 0
        else:
            number |= (byte & 0x7F) << shift
            shift += 7
    if len(numbers) < 2 * _NUMBERS or len(numbers) % _NUMBERS:
        raise StoreError(f"places: {len(numbers)} numbers are no place")
    return numbers


def _read_spans(numbers: list[int]) -> tuple[Span, ...]:
    end = last = 0
    spans = []
    for at in range(_NUMBERS, len(numbers), _NUMBERS):
        to_start, length, to_line, lines = numbers[at : at + _NUMBERS]
        start = end + (to_start >> 1 ^ -(to_start & 1)) & _MASK
        end = start + (length >> 1 ^ -(length & 1)) & _MASK
        line = last + (to_line >> 1 ^ -(to_line & 1)) & _MASK
        last = line + (lines >> 1 ^ -(lines & 1)) & _MASK
        spans.append(Span(start, end, line, last))
    return tuple(spans)


def _extent(begin: int, length: int, base: int) -> tuple[int, int]:
    if not begin:
        return 0, 0
    begin -= 1
    start = base + (begin >> 1 ^ -(begin & 1)) & _MASK
    return start, start + (length >> 1 ^ -(length & 1)) & _MASK


def check(tables: Tables, where: str) -> None:
    """Hold the bytes of all places against the format. StoreError when one is none."""
    ends = tables.places < 0x80
    starts = tables.place_offsets[:-1].astype(np.int64)
    numbers = np.add.reduceat(ends, starts, dtype=np.uint32) if len(starts) else starts
    if (
        not ends[tables.place_offsets[1:] - 1].all()
        or (numbers % _NUMBERS).any()
        or (numbers < 2 * _NUMBERS).any()
    ):
        raise StoreError(f"{where}: places: the numbers of one are no place")
