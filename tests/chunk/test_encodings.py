"""From the bytes on disk to chunks: each way a file may be written, with the lines an editor shows for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from indexer.chunk import chunk
from indexer.scan.text import Text, decode
from indexer.settings import ChunkSettings, ScanSettings
from indexer.types import Reason
from tests.chunk.promises import hold, text_of

PLAIN = ChunkSettings()
ENCODINGS = ScanSettings().encodings
FILES = Path(__file__).parents[2] / "fixtures" / "encodings"
# The name of each file's encoding, and Python's codec for it.
READABLE = {
    "big5.py": ("big5", "big5"),
    "bom.py": ("utf-8", "utf-8"),
    "crlf.py": ("utf-8", "utf-8"),
    "deep.py": ("utf-8", "utf-8"),
    "form_feeds.py": ("utf-8", "utf-8"),
    "gb18030.py": ("gb18030", "gb18030"),
    "invalid_utf8.py": ("unknown-8bit", "latin-1"),
    "latin1.py": ("unknown-8bit", "latin-1"),
    "lone_cr.py": ("utf-8", "utf-8"),
    "mixed_ends.py": ("utf-8", "utf-8"),
    "names.py": ("utf-8", "utf-8"),
    "no_final_newline.py": ("utf-8", "utf-8"),
    "utf16_be.py": ("utf-16-be", "utf-16-be"),
    "utf16_le.py": ("utf-16-le", "utf-16-le"),
}
_DEFINITION = re.compile(r"\s*(?:def|class) (\w+)")


def text_form(name: str) -> Text:
    found = decode((FILES / name).read_bytes(), ENCODINGS)
    assert isinstance(found, Text)
    return found


def definitions_by_line(name: str) -> dict[str, int]:
    """Name -> line, as an editor shows the file."""
    text = (FILES / name).read_bytes().decode(READABLE[name][1])
    matches = [
        (number, _DEFINITION.match(line)) for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1)
    ]
    return {match[1]: number for number, match in matches if match}


@pytest.mark.parametrize("name", READABLE)
def test_definitions_stand_at_the_lines_an_editor_shows(name: str) -> None:
    """S-007, S-009: whatever the encoding, the mark and the line ends."""
    encoding, text = text_form(name)
    assert encoding == READABLE[name][0]
    found = chunk("python", text, PLAIN)
    expected = definitions_by_line(name)
    assert len(expected) >= 2
    assert {piece.symbol: piece.line for piece in found.chunks if piece.symbol} == expected
    hold(text, found, PLAIN)


@pytest.mark.parametrize("name", READABLE)
def test_as_plain_text_they_are_covered_as_well(name: str) -> None:
    text = text_form(name).utf8
    hold(text, chunk("text", text, PLAIN), PLAIN)


def test_utf8_is_left_as_it_is_and_the_rest_becomes_utf8() -> None:
    for name, (encoding, codec) in READABLE.items():
        data, text = (FILES / name).read_bytes(), text_form(name).utf8
        if encoding in ("utf-8", "unknown-8bit"):
            assert text == data
        else:
            assert text == data.decode(codec).encode()


@pytest.mark.parametrize("name", ["big5.py", "gb18030.py", "utf16_le.py", "names.py"])
def test_no_chunk_is_garbage(name: str) -> None:
    text = text_form(name).utf8
    for piece in chunk("python", text, PLAIN).chunks:
        shown = text_of(text, piece).decode()
        assert "\0" not in shown
        assert "\ufffd" not in shown


def test_a_nul_byte_is_binary_and_an_empty_file_has_no_chunks() -> None:
    assert decode((FILES / "nul.py").read_bytes(), ENCODINGS) == Reason.BINARY
    assert chunk("python", text_form("empty.py").utf8, PLAIN).chunks == ()


@pytest.mark.parametrize("language", ["text", "json", "javascript", "markdown", "html"])
def test_one_line_of_three_megabytes(language: str) -> None:
    """S-027: cut in pieces of bounded size, all of them on line 1."""
    # A tenth for the grammar: its tree of three megabytes takes seconds, bounded as it is.
    data = b"if(a.b(c)){d=e.f+1};" * (15_000 if language == "javascript" else 150_000)
    text = decode(data, ENCODINGS)
    assert isinstance(text, Text)
    found = chunk(language, text.utf8, PLAIN)
    assert {(piece.start_line, piece.end_line) for piece in found.chunks} == {(1, 1)}
    assert all(len(text_of(data, piece)) <= 32 * PLAIN.max_tokens for piece in found.chunks)
    assert sum(len(text_of(data, piece)) for piece in found.chunks) < 1.5 * len(data)


def test_git_keeps_the_bytes() -> None:
    """A checkout that turned line ends would empty half of these tests."""
    attributes = (FILES.parents[1] / ".gitattributes").read_text()
    assert "fixtures/encodings/* -text" in attributes.splitlines()
    assert (
        (FILES / "crlf.py").read_bytes().count(b"\r\n") == (FILES / "crlf.py").read_bytes().count(b"\n") == 14
    )
    assert b"\n" not in (FILES / "lone_cr.py").read_bytes()
