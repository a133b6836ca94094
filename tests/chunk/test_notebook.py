"""Jupyter notebooks: cells and their definitions, at their true places in the file."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from indexer.chunk import chunk
from indexer.chunk.cells import MalformedError, Source, find_cells
from indexer.settings import ChunkSettings
from indexer.types import FileChunks, Kind
from tests.chunk import prose
from tests.chunk.outlines import SAMPLES
from tests.chunk.promises import hold, text_of, texts

PLAIN = ChunkSettings()
SAMPLE = (SAMPLES / "notebook" / "analysis.ipynb").read_bytes()
_SOURCE = re.compile(rb'^   "source": (?:\[\n(.*?)\n   \]|"(.*?)"\n)', re.MULTILINE | re.DOTALL)
_LINE = re.compile(rb'^    "(.*?)(?:\\n)?",?$', re.MULTILINE)


def notebook(*cells: tuple[str, str], indent: int | None = 1, lines: bool = True) -> bytes:
    """A notebook file with these (type, source) cells; ``lines``: sources as lists of lines."""
    made: list[dict[str, object]] = [
        {
            "cell_type": kind,
            "metadata": {},
            "source": re.findall(r"[^\n]*\n|[^\n]+", source) if lines else source,
        }
        for kind, source in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4}, indent=indent).encode()


def outline(found: FileChunks) -> list[tuple[str, str, str, str, int]]:
    return [
        (piece.kind, piece.scope, piece.symbol, piece.language, piece.line)
        for piece in found.chunks
        if piece.part < 2
    ]


def test_cells_and_definitions_of_a_sample() -> None:
    found = chunk("notebook", SAMPLE, PLAIN)
    under = "Analysis > Loading > Details"
    assert outline(found) == [
        ("cell", "", "Analysis", "markdown", 7),
        ("cell", "Analysis", "", "python", 40),
        ("cell", "Analysis", "Loading", "markdown", 50),
        ("function", "", "load", "python", 68),
        ("class", "", "Table", "python", 72),
        ("method", "Table", "rows", "python", 73),
        ("cell", under, "", "python", 76),
        ("cell", under, "", "bash", 84),
        ("function", "", "hello", "bash", 84),
        ("cell", under, "", "text", 90),
        ("cell", "", "Results", "markdown", 97),
        ("cell", "Results", "", "python", 113),
    ]
    assert found.imports == ("os", "sys")
    assert found.fallback == ""
    parents = {piece.symbol: found.chunks[piece.parent].symbol for piece in found.chunks if piece.parent >= 0}
    assert parents == {"rows": "Table"}


def test_every_line_of_source_has_a_home_and_nothing_else_has() -> None:
    found = chunk("notebook", SAMPLE, PLAIN)
    lines = [
        (base + line.start(1), base + line.end(1))
        for source in _SOURCE.finditer(SAMPLE)
        if source[1] is not None
        for base in [source.start(1)]
        for line in _LINE.finditer(source[1])
    ]
    assert len(lines) == 26
    hold(SAMPLE, found, PLAIN, lines)
    seen = b"".join(texts(SAMPLE, found))
    for word in (b"not_ours", b"not a source", b"done", b"iVBOR", b"keep", b"execution", b"kernelspec"):
        assert word not in seen


def test_a_chunk_reads_as_the_source_does() -> None:
    load = next(piece for piece in chunk("notebook", SAMPLE, PLAIN).chunks if piece.symbol == "load")
    assert text_of(SAMPLE, load).decode() == (
        "# Reads it.\n"
        "def load(path):\n"
        r"    \"\"\"Rows of \\\"path\\\".\"\"\"" + "\n"
        "    return open(path).read()"
    )
    assert SAMPLE[slice(*load.signature)] == b"def load(path)"
    assert (load.start_line, load.line, load.end_line) == (67, 68, 70)


def test_no_word_is_glued_to_the_letter_of_an_escape() -> None:
    for lines in (True, False):
        for indent in (None, 1):
            text = notebook(("code", "import os\n\timport sys\r\nx = 1"), indent=indent, lines=lines)
            seen = b" ".join(texts(text, chunk("notebook", text, PLAIN)))
            assert re.findall(rb"\w+", seen) == [b"import", b"os", b"import", b"sys", b"x", b"1"]


def test_line_ends_are_the_files_own() -> None:
    """S-009: a notebook saved with CRLF has the same lines."""
    there = SAMPLE.replace(b"\n", b"\r\n")
    found = chunk("notebook", there, PLAIN)
    assert outline(found) == outline(chunk("notebook", SAMPLE, PLAIN))
    assert texts(there, found) == texts(SAMPLE, chunk("notebook", SAMPLE, PLAIN))


def test_a_cell_put_in_above_changes_no_other() -> None:
    cells = [("code", f"def one{i}():\n    return {i}\nprint({i})") for i in range(20)]
    before = notebook(*cells)
    after = notebook(("markdown", "# New"), *cells)
    old = set(texts(before, chunk("notebook", before, PLAIN)))
    assert set(texts(after, chunk("notebook", after, PLAIN))) - old == {b"# New"}


def test_commands_of_ipython_do_not_hide_definitions() -> None:
    text = notebook(
        (
            "code",
            "%load_ext x\n!ls *.py\n?help\nif True:\n    !pip install y\n%%time\ndef f():\n    %time g()\n    return 1",
        )
    )
    found = chunk("notebook", text, PLAIN)
    assert [piece.symbol for piece in found.chunks if piece.symbol] == ["f"]
    assert found.fallback == ""
    assert b"!pip install y" in b"".join(texts(text, found))


def test_a_kernel_of_another_language() -> None:
    made = json.loads(notebook(("code", "func area(x int) int { return x }\n")))
    made["metadata"] = {"kernelspec": {"language": "go"}}
    (only,) = chunk("notebook", json.dumps(made).encode(), PLAIN).chunks
    assert (only.kind, only.symbol, only.language) == (Kind.FUNCTION, "area", "go")
    made["metadata"] = {"language_info": {"name": "Brainfuck"}}
    (only,) = chunk("notebook", json.dumps(made).encode(), PLAIN).chunks
    assert (only.kind, only.symbol, only.language) == (Kind.CELL, "", "brainfuck")


def test_format_3() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": ["Title"]},
        {"cell_type": "code", "input": ["def f():\n", "    return 1"], "outputs": [], "language": "python"},
    ]
    text = json.dumps({"metadata": {"name": ""}, "nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
    found = chunk("notebook", text, PLAIN)
    assert [(piece.kind, piece.symbol) for piece in found.chunks] == [("cell", ""), ("function", "f")]


def test_an_oversized_cell_is_split_into_parts() -> None:
    for kind in ("markdown", "code"):
        text = notebook(
            (kind, prose.essay(300).decode() if kind == "markdown" else "x = 'some words'\n" * 400)
        )
        found = chunk("notebook", text, PLAIN)
        assert len(found.chunks) > 2
        hold(text, found, PLAIN, [(0, 0)])


@pytest.mark.parametrize(
    "text",
    [
        SAMPLE[:-400],
        SAMPLE.replace(b'"cells"', b'"sells"'),
        b"<<<<<<< HEAD\n" + SAMPLE,
        b"[]",
        b'"cells"',
        b'{"cells": {}}',
        b'{"cells": [1, }',
        b'{"cells": [{"source": ["\\x"]}]}',
        b'{"cells": [{"source": ["a\nb"]}]}',
        SAMPLE + b"{",
        b"\x00\xff\xfe",
        b"[" * 5000,
        b'{"a":' * 5000,
    ],
    ids=range(13),
)
def test_what_is_no_notebook_is_cut_as_text_and_told(text: bytes) -> None:
    with pytest.raises(MalformedError):
        find_cells(text)
    found = chunk("notebook", text, PLAIN)
    assert found.fallback.startswith("no notebook: ")
    hold(text, found, PLAIN)


def test_an_empty_notebook_has_no_chunks() -> None:
    assert chunk("notebook", notebook(), PLAIN) == FileChunks(())
    assert chunk("notebook", notebook(("code", ""), ("markdown", " \n")), PLAIN).chunks == ()


def test_a_byte_order_mark_and_bytes_that_are_no_utf8() -> None:
    text = b"\xef\xbb\xbf" + notebook(("code", "x = 'Q'")).replace(b"Q", b"\xe9\x80")
    found = chunk("notebook", text, PLAIN)
    assert (found.fallback, [piece.kind for piece in found.chunks]) == ("", ["cell"])


@pytest.mark.parametrize(
    "text",
    [
        notebook(("code", "x = 1")).replace(
            b'"metadata"', b'"outputs": ["' + b"QUJD" * 700_000 + b'"], "metadata"', 1
        ),
        notebook(("code", "x = 1\n" * 50_000), lines=False),
        b'{"cells": [' + b'{"a":' * 100_000,
        b'{"cells": ["' + b"\\" * 1_000_001 + b'"',
        b'{"' + b"a" * 3_000_000,
        b'{"cells":[{"cell_type":"markdown","source":["' + b'\\"' * 100_000 + b'"]}]}',
        b'{"cells":[{"cell_type":"markdown","source":["' + b"\\u4e2d" * 50_000 + b'"]}]}',
        b'{"cells":[],"x":[' + b"1," * 300_000 + b"1]}",
    ],
    ids=["base64", "long cell", "deep", "backslashes", "unclosed", "quotes", "escapes", "numbers"],
)
def test_hostile_notebooks_are_cut_in_bounded_pieces(text: bytes) -> None:
    found = chunk("notebook", text, PLAIN)
    assert all(len(text_of(text, piece)) <= 2 * 24 * PLAIN.max_tokens for piece in found.chunks)


_SOURCES = st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), st.text(max_size=40)), max_size=4)


@hypothesis_settings(deadline=None, max_examples=200)
@given(_SOURCES, st.sampled_from([None, 0, 1]), st.booleans(), st.booleans())
def test_sources_are_read_as_json_does(
    cells: list[tuple[str, str]], indent: int | None, lines: bool, ascii_only: bool
) -> None:
    text = notebook(*cells, indent=indent, lines=lines)
    if not ascii_only:
        text = json.dumps(json.loads(text), indent=indent, ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )
    found = find_cells(text).cells
    assert [(cell.type, Source(text, cell.strings).text) for cell in found] == [
        (kind, source.encode("utf-8", "replace")) for kind, source in cells
    ]
    hold(text, chunk("notebook", text, PLAIN), PLAIN, [(0, 0)])


@hypothesis_settings(deadline=None, max_examples=100)
@given(st.lists(st.text("ab =#\n", min_size=1, max_size=60), max_size=4))
def test_chunks_hold_every_line_of_every_cell(sources: list[str]) -> None:
    text = notebook(*(("raw", source) for source in sources))
    found = chunk("notebook", text, PLAIN)
    assert [text_of(text, piece).decode() for piece in found.chunks] == [
        source.strip() for source in sources if source.strip()
    ]


def test_a_cells_line_is_where_its_text_begins() -> None:
    """Its first string holds a page end alone, which is no line of the source but has one of the file."""
    text = b'{"cells": [{"cell_type": "raw", "source": [\n"\\f",\n"x = 1\\n",\n"y"]}]}'
    found = chunk("notebook", text, PLAIN)
    hold(text, found, PLAIN, [(0, 0)])
    assert [piece.line for piece in found.chunks] == [3]


@hypothesis_settings(deadline=None, max_examples=200)
@given(st.integers(0, len(SAMPLE)), st.binary(max_size=3), st.integers(0, 40))
def test_damaged_notebooks_are_cut_all_the_same(at: int, put: bytes, drop: int) -> None:
    text = SAMPLE[:at] + put + SAMPLE[at + drop :]
    found = chunk("notebook", text, PLAIN)
    hold(text, found, PLAIN, None if found.fallback.startswith("no notebook") else [(0, 0)])
