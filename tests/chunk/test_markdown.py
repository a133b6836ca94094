"""Markdown and reStructuredText by headings."""

from __future__ import annotations

import time

import pytest

from indexer.chunk import chunk
from indexer.settings import ChunkSettings
from indexer.types import Kind
from tests.chunk import prose
from tests.chunk.outlines import SAMPLES, cut, ranges
from tests.chunk.promises import hold, text_of, texts

PLAIN = ChunkSettings()


def headings(language: str, text: bytes) -> list[tuple[str, str, int]]:
    """``(scope, symbol, line)`` of each section's first part."""
    found = chunk(language, text, PLAIN).chunks
    return [
        (piece.scope, piece.symbol, piece.line)
        for piece in found
        if piece.kind == Kind.SECTION and piece.part < 2
    ]


def test_sections_of_a_guide() -> None:
    text = (SAMPLES / "markdown" / "guide.md").read_bytes()
    assert headings("markdown", text) == [
        ("", "The guide", 8),
        ("The guide", "Setting up", 12),
        ("The guide > Setting up", "The --deep switch", 29),
        ("The guide", "Using it", 37),
        ("", "Second part", 45),
        ("Second part", "A title over two lines", 48),
        ("Second part", "安装与配置", 62),
    ]
    hold(text, cut("markdown", "guide.md"), PLAIN)


def test_a_section_ends_where_the_next_begins() -> None:
    found = ranges(cut("markdown", "guide.md"))
    assert found["The guide"] == (8, 10)
    assert found["The guide.Setting up"] == (12, 27)
    assert found["Second part.安装与配置"] == (62, 68)


def test_what_comes_before_the_first_heading_is_a_chunk_of_its_own() -> None:
    first, second, *_ = cut("markdown", "guide.md").chunks
    assert (first.kind, first.symbol, first.start_line, first.end_line) == (Kind.TEXT, "", 1, 6)
    assert (second.kind, second.symbol) == (Kind.SECTION, "The guide")


def test_parents_are_the_sections_around() -> None:
    found = cut("markdown", "guide.md").chunks
    parents = {piece.symbol: found[piece.parent].symbol for piece in found if piece.parent >= 0}
    assert parents == {
        "Setting up": "The guide",
        "The --deep switch": "Setting up",
        "Using it": "The guide",
        "A title over two lines": "Second part",
        "安装与配置": "Second part",
    }


def test_the_signature_is_the_heading_as_written() -> None:
    text = (SAMPLES / "markdown" / "guide.md").read_bytes()
    written = [text[slice(*piece.signature)].decode() for piece in cut("markdown", "guide.md").chunks]
    assert written[2] == "## Setting up ##"
    assert "A title over\ntwo lines" in written


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("`*args` and `**kwargs`", "*args and **kwargs"),
        ("**Bold** `code`", "Bold code"),
        ("[![badge](a.svg)](b) Title", "badge Title"),
        ("`<testcase>`", "<testcase>"),
        ("List<T> and __init__", "List<T> and __init__"),
        ("A<br/>B <a id='x'></a>", "AB"),
        ("C\\# \\*", "C# *"),
        ("C# and F#", "C# and F#"),
        ("Title {#id .class}", "Title"),
        ("x" * 300, "x" * 200),
        ("a \x00 `b`", "a b"),
    ],
)
def test_a_name_is_the_words_without_the_markup(written: str, name: str) -> None:
    text = f"# {written}\n\nWords.\n".encode()
    assert [symbol for _, symbol, _ in headings("markdown", text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "- Item\n---\n",
        "> Quote\n---\n",
        "| a |\n---\n",
        "<div>\n---\n",
        "[ref]: target\n---\n",
        "One\ntwo\nthree\n---\n",
        "    code\n---\n",
        "---\n---\n",
        "Words\n\n---\n",
        "#Words\n",
        "    # Words\n",
        "####### Words\n",
        "\\# Words\n",
        "<pre>\n# Words\n</pre>\n",
        "<!-- a\n# Words\n-->\n",
        "~~~~\n# Words\n~~~\n# Words\n",
        "- ```\n  # Words\n  ```\n",
        "1. ~~~\n   # Words\n   ~~~\n",
        "```` md\n```\n# Words\n```\n````\n",
        "~~~\n    ~~~\n# Words\n~~~\n",
        "+++\n# toml = 1\n+++\n",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert [name for _, name, _ in headings("markdown", text.encode())] == []


def test_after_a_block_headings_count_again() -> None:
    for block in (
        "- ```\n  # x\n  ```",
        "<!-- a -->",
        "<pre># x</pre>",
        "```\n```",
        "``` not a `fence`",
        "---\na: 1\n---",
    ):
        assert headings("markdown", f"{block}\n# Last\n".encode())[-1][1] == "Last"


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_headings_at_other_line_ends(end: bytes) -> None:
    """S-009: the same sections at the same lines."""
    for language, name in (("markdown", "guide.md"), ("rst", "manual.rst")):
        text = (SAMPLES / language / name).read_bytes()
        other = text.replace(b"\n", end)
        assert headings(language, other) == headings(language, text)
        hold(other, chunk(language, other, PLAIN), PLAIN)


def test_a_byte_order_mark_hides_no_heading() -> None:
    assert headings("markdown", b"\xef\xbb\xbf# One\n") == [("", "One", 1)]
    assert headings("rst", b"\xef\xbb\xbfOne\n===\n") == [("", "One", 1)]
    assert headings("markdown", b"\xef\xbb\xbf---\n# no\n---\n# One\n") == [("", "One", 4)]


def test_an_oversized_section_is_split_into_parts_that_know_it() -> None:
    text = b"# Top\n\nWords.\n\n## Long\n\n" + prose.essay(300) + b"\n## Next\n\nWords.\n"
    found = chunk("markdown", text, PLAIN)
    parts = [piece for piece in found.chunks if piece.symbol == "Long"]
    assert [piece.part for piece in parts] == list(range(1, len(parts) + 1))
    assert {piece.scope for piece in parts} == {"Top"}
    assert {piece.line for piece in parts} == {5}
    assert (parts[0].parent, {piece.parent for piece in parts[1:]}) == (0, {1})
    assert [piece.symbol for piece in found.chunks if piece.parent == 0] == ["Long", "Next"]
    hold(text, found, PLAIN)


def test_an_edit_in_one_section_leaves_the_others() -> None:
    sections = [b"## Part %d\n\n" % number + prose.essay(30, number) for number in range(40)]
    text = b"# Top\n\n" + b"\n\n".join(sections)
    old = set(texts(text, chunk("markdown", text, PLAIN)))
    sections.insert(0, b"## New\n\nWords.")
    sections[20] += b"\n\nAnd more."
    after = b"# Top\n\n" + b"\n\n".join(sections)
    assert len(set(texts(after, chunk("markdown", after, PLAIN))) - old) == 2


def test_sections_of_a_manual() -> None:
    text = (SAMPLES / "rst" / "manual.rst").read_bytes()
    assert headings("rst", text) == [
        ("", "Manual", 6),
        ("Manual", "Installing", 11),
        ("Manual > Installing", "Options of the tool", 23),
        ("Manual > Installing > Options of the tool", "cut()", 37),
        ("Manual", "1. Using it", 46),
        ("Manual", "中文标题", 52),
    ]
    hold(text, cut("rst", "manual.rst"), PLAIN)


def test_labels_above_a_title_belong_to_its_section() -> None:
    found = ranges(cut("rst", "manual.rst"))
    assert found["Manual"] == (3, 9)
    assert found["Manual > Installing.Options of the tool"] == (20, 35)


@pytest.mark.parametrize(
    "text",
    [
        "Text\n\n----\n\nText\n",
        "====  ====\nA     B\n====  ====\n",
        "+----+\n| Ab |\n+----+\n",
        "- Item\n------\n",
        ":field: x\n---------\n",
        ">>> print(1)\n------------\n",
        "    Title\n    =====\n",
        ".. note:: x\n-----------\n",
        "One\ntwo\n---\n",
        "Title\n==\n",
        "::\n==\n",
    ],
)
def test_what_is_no_title(text: str) -> None:
    assert headings("rst", text.encode()) == []


@pytest.mark.parametrize(
    ("title", "name"),
    [
        (":class:`~shop.models.Item` objects", "shop.models.Item objects"),
        ("``cut`` and *paste*", "cut and paste"),
        ("`The site <https://example.org>`_", "The site"),
        (":mod:`os` --- Operating system", "os --- Operating system"),
        ("A \\* B", "A * B"),
    ],
)
def test_a_title_is_the_words_without_the_markup(title: str, name: str) -> None:
    assert headings("rst", f"{title}\n{'=' * len(title)}\n".encode()) == [("", name, 1)]


def test_levels_go_by_first_appearance() -> None:
    text = b"A\n~~~~\n\nB\n====\n\n====\nC\n====\n\nD\n~~~~\n\nE\n====\n"
    assert headings("rst", text) == [
        ("", "A", 1),
        ("A", "B", 4),
        ("A > B", "C", 8),
        ("", "D", 11),
        ("D", "E", 14),
    ]


_N = 100_000


@pytest.mark.parametrize(
    "text",
    [
        b">" * _N + b" # x\n",
        b"[" * _N + b"\n===\n",
        b"# " + b"[" * _N,
        b"- " * _N + b"# x",
        b"- " * _N + b"```\n",
        b"```\n" * _N,
        b"".join(b"`" * n + b"\n" for n in range(3, 1400)),
        b"<!--\n" * _N,
        b"<pre>\n" * _N,
        b"# " + b" " * 3_000_000 + b"x",
        (b"# a" + b" " * 490 + b"x\n") * 2000,
        (b"# " + b"*a " * 160 + b"\n") * 2000,
        (b"a" + b" `" * 200 + b"x\n====\n\n") * 2000,
        b"a" * 3_000_000 + b"\n---\n",
        b"=" * 3_000_000,
        b"=====\n" * _N,
        b".. _a:\n" * _N + b"\nTitle\n=====\n",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_texts_take_bounded_time(text: bytes) -> None:
    for language in ("markdown", "rst"):
        start = time.process_time()
        found = chunk(language, text, PLAIN)
        assert time.process_time() - start < 15  # a few seconds at most; a quadratic scan would take minutes
        assert all(len(text_of(text, piece)) <= 24 * PLAIN.max_tokens for piece in found.chunks)
