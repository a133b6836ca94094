"""The line table and the assembler, on definitions made up for the purpose."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.chunk.pieces import BOM, cut, trim
from indexer.chunk.spans import MAX_DEPTH, Definition, Lines, Outline, assemble
from indexer.settings import ChunkSettings
from indexer.tokens import size
from indexer.types import Kind
from tests.chunk.promises import hold, line_at, text_of

SETTINGS = ChunkSettings(max_tokens=64, overlap=8)
LARGE = ChunkSettings(max_tokens=4096, overlap=0)


def definition(text: bytes, start: bytes, end: bytes, name: str, kind: str = Kind.FUNCTION) -> Definition:
    """From the first ``start`` to the end of the first ``end`` after it."""
    at = text.index(start)
    return Definition(at, text.index(end, at) + len(end), at, kind, name)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (b"", [0]),
        (b"a", [0]),
        (b"a\n", [0, 2]),
        (b"a\r\nb", [0, 3]),
        (b"a\rb\r\rc", [0, 2, 4, 5]),
        (b"\r\n\r\n", [0, 2, 4]),
        (
            b"a\x0bb\x0cc\x1cd\xc2\x85e\xe2\x80\xa8f\n",
            [0, 15],
        ),  # what only `str.splitlines` takes for line ends
    ],
)
def test_lines_end_at_lf_crlf_and_lone_cr_only(text: bytes, starts: list[int]) -> None:
    """S-009: the lines an editor shows."""
    assert Lines(text).starts == starts


@given(st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", "é".encode(), b"\x0c"])).map(b"".join))
def test_every_byte_is_in_the_line_that_an_editor_shows(text: bytes) -> None:
    lines = Lines(text)
    assert [lines.line(offset) for offset in range(len(text))] == [
        line_at(text, offset) for offset in range(len(text))
    ]


def test_what_no_definition_claims_is_gathered_in_the_rest() -> None:
    text = b"import a\n\ndef f():\n    pass\n\nX = 1\n\ndef g(): pass\n\nY = 2\n"
    found = assemble(
        text,
        "python",
        [definition(text, b"def g", b"pass", "g"), definition(text, b"def f", b"pass", "f")],
        LARGE,
    )
    assert [(piece.kind, piece.symbol, text_of(text, piece)) for piece in found.chunks] == [
        (Kind.REST, "", b"import aX = 1Y = 2"),
        (Kind.FUNCTION, "f", b"def f():\n    pass"),
        (Kind.FUNCTION, "g", b"def g(): pass"),
    ]
    assert [span.start_line for span in found.chunks[0].spans] == [1, 6, 10]


def test_a_class_keeps_what_its_methods_leave() -> None:
    text = b"class A:\n    x = 1\n    def m(self): pass\n    y = 2\n    def n(self): pass\n"
    definitions = [
        definition(text, b"class A", b"n(self): pass", "A", Kind.CLASS),
        definition(text, b"def m", b"pass", "m"),
        definition(text, b"def n", b"pass", "n"),
    ]
    found = assemble(text, "python", definitions, LARGE)
    assert [(piece.kind, piece.scope, piece.symbol, piece.parent) for piece in found.chunks] == [
        (Kind.CLASS, "", "A", -1),
        (Kind.METHOD, "A", "m", 0),
        (Kind.METHOD, "A", "n", 0),
    ]
    assert text_of(text, found.chunks[0]) == b"class A:\n    x = 1y = 2"


def test_a_written_scope_comes_after_the_nested_one() -> None:
    text = b"namespace n { void A::b() {} }"
    definitions = [
        Definition(0, len(text), 10, Kind.NAMESPACE, "n"),
        Definition(14, 28, 22, Kind.METHOD, "b", scope="A"),
    ]
    found = assemble(text, "cpp", definitions, LARGE)
    assert [(piece.scope, piece.symbol) for piece in found.chunks] == [("", "n"), ("n.A", "b")]


def test_definitions_may_be_wrong() -> None:
    """Crossing, empty, outside, twice the same: all text has a home nevertheless."""
    text = b"aaaa bbbb cccc dddd"
    definitions = [
        Definition(0, 9, 0, Kind.CLASS, "crossed"),
        Definition(5, 14, 5, Kind.FUNCTION, "crosses"),
        Definition(5, 14, 5, Kind.FUNCTION, "again"),
        Definition(15, 15, 15, Kind.FUNCTION, "empty"),
        Definition(15, 99, 15, Kind.FUNCTION, "too long"),
        Definition(50, 60, 50, Kind.FUNCTION, "outside"),
        Definition(-5, 2, 0, Kind.FUNCTION, "before"),
    ]
    found = assemble(text, "x", definitions, LARGE)
    hold(text, found, LARGE)
    assert {piece.symbol for piece in found.chunks} >= {"crossed", "too long", "before"}


def test_definitions_nested_without_end_stay_in_the_one_around() -> None:
    text = b"(" * 500 + b"x" + b")" * 500
    definitions = [Definition(i, len(text) - i, i, Kind.FUNCTION, f"f{i}") for i in range(500)]
    found = assemble(text, "x", definitions, LARGE)
    hold(text, found, LARGE)
    assert len(found.chunks) == MAX_DEPTH
    assert found.fallback


def test_a_byte_order_mark_has_no_chunk() -> None:
    assert assemble(BOM, "text", [], SETTINGS).chunks == ()
    assert assemble(BOM + b" \n", "text", [], SETTINGS).chunks == ()
    (piece,) = assemble(BOM + b"x\n", "text", [], SETTINGS).chunks
    assert piece.spans[0].start == len(BOM)


@pytest.mark.parametrize("text", [b"", b"\n", b" \t\r\n\x0b\x0c\n"])
def test_a_blank_file_has_no_chunks(text: bytes) -> None:
    assert assemble(text, "text", [], SETTINGS).chunks == ()


def body(lines: int) -> bytes:
    """A function with a statement of five words a line, some of them over two lines."""
    statements = (b"    value_%d = call(\n        first, second, third_%d)\n" % (i, i) for i in range(lines))
    return b"def f():\n" + b"".join(statements)


def test_a_large_definition_is_cut_at_statements_into_overlapping_parts() -> None:
    """S-001, S-021: below the bound a definition is one chunk; above it, parts that know the first."""
    small = body(10)
    assert (
        len(assemble(small, "python", [Definition(0, len(small), 0, Kind.FUNCTION, "f")], SETTINGS).chunks)
        == 1
    )
    text = body(60)
    found = assemble(text, "python", [Definition(0, len(text), 0, Kind.FUNCTION, "f")], SETTINGS)
    hold(text, found, SETTINGS)
    parts = found.chunks
    assert [piece.part for piece in parts] == list(range(1, len(parts) + 1))
    assert [piece.parent for piece in parts] == [-1] + [0] * (len(parts) - 1)
    assert {(piece.kind, piece.symbol) for piece in parts} == {(Kind.FUNCTION, "f")}
    for before, after in pairwise(parts):
        shared = text[after.spans[0].start : before.spans[-1].end]
        assert shared.strip()
        assert size(shared) <= SETTINGS.overlap
        own = text[before.spans[-1].end : after.spans[-1].end].strip()
        assert own.startswith(b"value_")  # a statement begins, not its second line


def test_a_line_put_in_moves_only_the_cuts_beside_it() -> None:
    text = b"".join(b"name_%d = %d\n" % (i, i * 7919) for i in range(2000))
    before = {text_of(text, piece) for piece in assemble(text, "python", [], SETTINGS).chunks}
    edited = b"import new\n" + text
    after = {text_of(edited, piece) for piece in assemble(edited, "python", [], SETTINGS).chunks}
    assert len(after - before) <= 2


def test_a_docstring_is_not_cut_where_code_can_be() -> None:
    prose = b"".join(b"    line %d of the docstring\n" % i for i in range(6))
    code = b"".join(b"    call(%d, second, third)\n" % i for i in range(12))
    text = b'def f():\n    """\n' + prose + b'    """\n' + code
    start, end = text.index(b'"""'), text.rindex(b'"""') + 3
    made = Definition(0, len(text), 0, Kind.FUNCTION, "f", docstring=(start, end))
    first, *_ = assemble(text, "python", [made], SETTINGS).chunks
    assert first.spans[-1].end >= end


@pytest.mark.parametrize(
    "text",
    [
        "═🎉漢字".encode() * 2000,
        b"x" * 20_000,
        b"a b " * 20_000,
        "é".encode() * 30_000,
        bytes(range(128, 256)) * 100,
        b"\x80" * 10_000,
        b"(" * 50_000,
    ],
)
def test_one_line_without_end_is_cut_between_characters(text: bytes) -> None:
    """S-001, S-019, S-027."""
    found = assemble(text, "text", [], SETTINGS, Kind.TEXT)
    hold(text, found, SETTINGS)
    assert len(found.chunks) > 5
    if text[:1] != b"\x80":
        for piece in found.chunks:
            text_of(text, piece).decode("utf-8" if text[:2] != b"\x80\x81" else "latin-1")


def test_three_megabytes_on_one_line_take_their_time_once() -> None:
    text = b"function f(){return 1};" * 130_000
    found = assemble(text, "javascript", [], ChunkSettings())
    covered = b"".join(text_of(text, piece) for piece in found.chunks)
    assert covered.replace(b" ", b"") == text.replace(b" ", b"")


@given(
    st.lists(
        st.sampled_from(["a", " ", "\n", "\r", "\t", "(", ")", "é", "漢", "🎉", "word ", "\n\n"]),
        max_size=400,
    ).map("".join),
    st.integers(1, 40),
    st.integers(0, 20),
)
def test_parts_cover_all_and_overlap_little(text: str, limit: int, overlap: int) -> None:
    data = text.encode()
    start, end = trim(data, 0, len(data))
    parts = cut(data, [(start, end)] if start < end else [], limit, overlap)
    homes = bytearray(len(data))
    for part in parts:
        assert part == sorted(part)
        for low, high in part:
            homes[low:high] = b"\1" * (high - low)
            data[low:high].decode()
    assert not bytes(b for b, home in zip(data, homes, strict=True) if not home).strip()


def test_the_outline_brings_imports_and_reason_along() -> None:
    found = assemble(b"x", "x", Outline([], ("a",), "why"), SETTINGS)
    assert (found.imports, found.fallback) == (("a",), "why")
