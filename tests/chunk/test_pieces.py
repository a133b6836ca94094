"""Cutting what is too large: it ends, covers everything, and keeps to the limit, whatever the weights are."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.chunk.pieces import cut, weight


def hold(text: bytes, limit: int, overlap: int) -> None:
    parts = cut(text, [(0, len(text))] if text.strip() else [], limit, overlap)
    covered = b" ".join(text[start:end] for part in parts for start, end in part)
    assert len(covered.split()) >= len(text.split())
    upto = 0
    for part in parts:
        assert part[0][0] <= upto or not text[upto : part[0][0]].strip()
        upto = max(upto, part[-1][1])
        assert sum(weight(text[start:end]) for start, end in part) <= limit + 1
    assert not text[upto:].strip()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), max_size=40),
    st.integers(32, 96),
    st.integers(0, 48),
)
def test_lines_of_any_weight(lines: list[tuple[int, int]], limit: int, overlap: int) -> None:
    text = b"\n".join(b" ".join([b"w" * length] * words) for words, length in lines)
    hold(text.strip(), limit, overlap)


@pytest.mark.parametrize("heavy", [0, 1, 50, 98, 99])
def test_one_heavy_line_among_light_ones(heavy: int) -> None:
    """A part of two pieces, one of them almost the whole of it, has one place for a cut: this once went on for ever."""
    lines = [b"a b c"] * 100
    lines[heavy] = b"word " * 460
    hold(b"\n".join(lines).strip(), 512, 48)


def test_random_weights() -> None:
    chance = random.Random(7)
    for _ in range(200):
        lines = [b"x " * chance.choice([1, 2, 5, 100, 400, 511]) for _ in range(chance.randrange(1, 30))]
        hold(b"\n".join(line.strip() for line in lines), 512, 48)
