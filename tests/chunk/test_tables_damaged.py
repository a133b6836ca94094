"""Damaged code: whatever is cut out of a sample, every byte keeps one home and nothing is raised."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from indexer.chunk.tables import LANGUAGES
from tests.chunk.outlines import SAMPLES, cut_text

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(
    path for path in SAMPLES.glob("*/*") if path.is_file() and path.parent.name in {*LANGUAGES, "sql"}
)
CUTS = 12


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_parts_of_samples_are_cut_without_an_error(path: Path) -> None:
    text = path.read_bytes()
    places = random.Random(path.name)
    for _ in range(CUTS):
        first, last = sorted((places.randrange(len(text)), places.randrange(len(text))))
        for damaged in (text[:last], text[first:], text[:first] + text[last:]):
            cut_text(path.parent.name, damaged)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_lone_signs_put_into_samples_do_no_harm(path: Path) -> None:
    text = path.read_bytes()
    places = random.Random(path.name)
    for sign in b"(){}[]\"'`;:=<>#$@%\\/\0\xff\r":
        at = places.randrange(len(text))
        cut_text(path.parent.name, text[:at] + bytes([sign]) + text[at:])
