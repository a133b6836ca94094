"""Invariant 8, for every language: every byte that is not white space is in exactly one chunk, whatever the file is.

Held on all samples, on the samples with bytes taken out, put in or cut off, and with every kind of line end.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.chunk import CHUNKERS, chunk
from indexer.chunk.pieces import BOM
from indexer.chunk.tables import LANGUAGES
from indexer.settings import ChunkSettings
from tests.chunk.outlines import SAMPLES
from tests.chunk.promises import hold

# A notebook's text is what its cells hold, and those are chunks of a text of their own: see test_notebook.py.
LANGUAGES_HELD = sorted((set(CHUNKERS) | set(LANGUAGES) | {"text"}) - {"notebook"})
SETTINGS = [
    ChunkSettings(),
    ChunkSettings(max_tokens=32, overlap=8),
    ChunkSettings(max_tokens=4096, overlap=0),
]
MARKS = [
    b"(",
    b")",
    b"{",
    b"}",
    b'"',
    b"'",
    b"`",
    b"/*",
    b"*/",
    b"//",
    b"#",
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
]
MARKS += [
    b"\xff",
    b"\x80",
    b"\xe6\xbc\xa2",
    b"\xf0\x9f\x8e\x89",
    b"\x0c",
    b"end",
    b"def ",
    b"class ",
    b"\\",
    b"<",
    b">",
    b";",
]


def samples(language: str) -> list[Path]:
    return sorted(path for path in (SAMPLES / language.partition("-")[0]).iterdir() if path.is_file())


@pytest.mark.parametrize("language", LANGUAGES_HELD)
def test_a_language_has_a_sample(language: str) -> None:
    assert samples(language)


@pytest.mark.parametrize("language", LANGUAGES_HELD)
@pytest.mark.parametrize("bounds", SETTINGS, ids=str)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", [b"", BOM], ids=["", "bom"])
def test_samples(language: str, bounds: ChunkSettings, end: bytes, mark: bytes) -> None:
    for path in samples(language):
        text = mark + path.read_bytes().replace(b"\n", end)
        hold(text, chunk(language, text, bounds), bounds)


@st.composite
def spoiled(draw: st.DrawFn, whole: bytes) -> bytes:
    """A text with a few stretches deleted, a few marks put in, and perhaps its end cut off."""
    text = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        if draw(st.booleans()):
            del text[at : at + draw(st.integers(1, 60))]
        else:
            text[at:at] = draw(st.sampled_from(MARKS))
    if draw(st.booleans()):
        del text[draw(st.integers(0, len(text))) :]
    return bytes(text)


@pytest.mark.parametrize("language", LANGUAGES_HELD)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_spoiled_samples(language: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(samples(language)))
    text = data.draw(spoiled(path.read_bytes()[:6000]))
    bounds = data.draw(st.sampled_from(SETTINGS))
    hold(text, chunk(language, text, bounds), bounds)


@pytest.mark.parametrize("language", LANGUAGES_HELD)
@settings(max_examples=10, deadline=None)
@given(text=st.binary(max_size=400) | st.lists(st.sampled_from(MARKS), max_size=100).map(b"".join))
def test_noise(language: str, text: bytes) -> None:
    bounds = ChunkSettings(max_tokens=32, overlap=8)
    hold(text, chunk(language, text, bounds), bounds)


@pytest.mark.parametrize("language", LANGUAGES_HELD)
def test_the_same_text_gives_the_same_chunks(language: str) -> None:
    for path in samples(language):
        text = path.read_bytes()
        assert chunk(language, text, SETTINGS[0]) == chunk(language, text, SETTINGS[0])


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_line_at_the_top_leaves_every_definition_its_bytes(language: str) -> None:
    for path in samples(language):
        text = path.read_bytes()
        moved = b"\n\n" + text
        before = [
            [text[span.start : span.end] for span in piece.spans]
            for piece in chunk(language, text, SETTINGS[0]).chunks
        ]
        after = [
            [moved[span.start : span.end] for span in piece.spans]
            for piece in chunk(language, moved, SETTINGS[0]).chunks
        ]
        assert after == before
