"""Running text and data: what a cut may do, where it falls, and that an edit moves only the cuts beside it."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from indexer.chunk import chunk
from indexer.chunk.seams import Ruler
from indexer.settings import ChunkSettings
from indexer.tokens import size
from indexer.types import Kind
from tests.chunk import prose
from tests.chunk.outlines import SAMPLES
from tests.chunk.promises import hold, text_of, texts

PLAIN = ChunkSettings()
SMALL = ChunkSettings(max_tokens=32, overlap=8)


def new_after(language: str, before: bytes, after: bytes) -> int:
    """How many contents an edit makes that were not there before."""
    old = set(texts(before, chunk(language, before, PLAIN)))
    return len(set(texts(after, chunk(language, after, PLAIN))) - old)


@pytest.mark.parametrize("name", ["essay.txt", "chinese.txt"])
@pytest.mark.parametrize("sizes", [PLAIN, SMALL, ChunkSettings(max_tokens=100, overlap=0)])
def test_samples_keep_the_promises(name: str, sizes: ChunkSettings) -> None:
    text = (SAMPLES / "text" / name).read_bytes()
    hold(text, chunk("text", text, sizes), sizes)


def test_a_small_text_is_one_chunk_without_a_part() -> None:
    (only,) = chunk("text", b"\n\n  Some words.\nAnd more.\n\n", PLAIN).chunks
    assert (only.kind, only.part, only.parent, only.start_line, only.end_line) == (Kind.TEXT, 0, -1, 3, 4)
    assert (only.spans[0].start, only.spans[0].end) == (4, 25)


@pytest.mark.parametrize("blank", [b"", b"\n", b" \t\r\n\x0c\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_blank_text_has_no_chunks(blank: bytes) -> None:
    for language in ("text", "json", "markdown", "rst", "html", "vue"):
        assert chunk(language, blank, PLAIN).chunks == ()


def test_parts_overlap_by_whole_lines_and_know_the_first() -> None:
    text = prose.essay(200)
    found = chunk("text", text, PLAIN)
    assert [piece.part for piece in found.chunks] == list(range(1, len(found.chunks) + 1))
    assert {piece.parent for piece in found.chunks[1:]} == {0}
    for before, after in pairwise(found.chunks):
        shared = text[after.spans[0].start : before.spans[0].end]
        assert 0 < size(shared) <= PLAIN.overlap
        assert text[: after.spans[0].start].endswith(b"\n")


def test_cuts_fall_between_paragraphs_where_they_can() -> None:
    text = prose.essay(2000)
    sizes = ChunkSettings(overlap=0)
    for piece in chunk("text", text, sizes).chunks[1:]:
        assert text[: piece.spans[0].start].endswith(b"\n\n")


def test_no_cut_leaves_a_crumb() -> None:
    sizes = ChunkSettings(overlap=0)
    for text in (prose.essay(3000), prose.one_paragraph(3000), prose.han_paragraph(3000)):
        lengths = [size(text_of(text, piece)) for piece in chunk("text", text, sizes).chunks]
        assert min(lengths) > sizes.max_tokens // 12
        assert sum(lengths) / len(lengths) > sizes.max_tokens * 0.45


def test_within_a_long_line_cuts_fall_between_sentences() -> None:
    sizes = ChunkSettings(overlap=0)
    for text, ends in ((prose.one_paragraph(400), "."), (prose.han_paragraph(400), "。！？")):
        found = chunk("text", text, sizes).chunks
        assert len(found) > 3
        assert all(text_of(text, piece).decode()[-1] in ends for piece in found)


def test_the_overlap_of_a_long_line_is_whole_sentences() -> None:
    text = prose.one_paragraph(400)
    found = chunk("text", text, PLAIN).chunks
    for before, after in pairwise(found):
        assert text[after.spans[0].start : before.spans[0].end].startswith(b"The ")


@pytest.mark.parametrize(
    "text",
    ["═" * 9000, "🦊" * 9000, "漢字" * 4500, "é" * 9000, "═🦊漢é" * 2000, "x═" * 3000],
    ids=["box", "emoji", "han", "accents", "mixed", "words"],
)
def test_no_cut_inside_a_character(text: str) -> None:
    """S-001: every chunk is valid text, and together they are the file."""
    data = text.encode()
    sizes = ChunkSettings(overlap=0)
    found = chunk("text", data, sizes)
    assert len(found.chunks) > 1
    assert "".join(piece.decode() for piece in texts(data, found)) == text
    hold(data, found, sizes)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("text", b'"' + b"lorem ipsum " * 1700 + b'"'),
        ("text", b"/*" + b"=" * 20_000 + b"*/"),
        ("markdown", b"<!--\n" + b"commented out words\n" * 1000 + b"-->\n"),
        ("json", b'{"key": "' + b"QUJD" * 5000 + b'"}'),
        ("html", b"<pre>\n" + b"some words in it\n" * 1000 + b"</pre>"),
    ],
)
def test_one_huge_thing_is_covered(language: str, text: bytes) -> None:
    """S-019: a text that is a single literal, comment or block leaves no line without a chunk."""
    hold(text, chunk(language, text, PLAIN), PLAIN)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_are_those_an_editor_shows(end: bytes) -> None:
    """S-009: LF, CRLF and lone CR, alone and mixed."""
    text = prose.essay(300).replace(b"\n", end)
    hold(text, chunk("text", text, PLAIN), PLAIN)
    mixed = b"one\rtwo\r\nthree\n\rfive" + end + prose.essay(300)
    hold(mixed, chunk("text", mixed, SMALL), SMALL)


@pytest.mark.parametrize("language", ["vb", "terraform", "powershell"])
def test_a_language_without_rules_is_cut_and_told(language: str) -> None:
    """S-023: cut by lines, and counted as a fallback."""
    text = b"\n".join(b"Sub Number%d()\n  x = %d\nEnd Sub\n" % (i, i) for i in range(400))
    found = chunk(language, text, PLAIN)
    assert found.fallback == f"no rules for {language}: cut as plain text"
    assert len(found.chunks) > 1
    assert {piece.language for piece in found.chunks} == {language}
    hold(text, found, PLAIN)


def test_text_and_data_are_no_fallback() -> None:
    for language in ("text", "json", "yaml", "toml", "xml", "csv", "po", "css", "dockerfile"):
        assert chunk(language, b"a: 1\n", PLAIN).fallback == ""


@pytest.mark.parametrize(
    "line",
    [
        b"function a(b){return b+1;}",
        b"x",
        b"(",
        b" ",
        b"\x80",
        b"A1b2C3d4+/",
        b"word ",
        "漢".encode(),
        b'{"k":[1,2]},',
    ],
)
def test_one_line_of_three_megabytes_is_cut_in_bounded_pieces(line: bytes) -> None:
    """S-027: by bytes where there are no words; never the whole line once for each piece of it."""
    text = b"a" + line * (3_000_000 // len(line)) + b"a"
    found = chunk("text", text, PLAIN)
    assert len(found.chunks) < 5000
    assert all(piece.spans[0].end - piece.spans[0].start <= 24 * PLAIN.max_tokens for piece in found.chunks)
    own = sum(piece.spans[0].end - piece.spans[0].start for piece in found.chunks)
    assert own <= 1.3 * len(text)


def test_an_insert_at_the_top_leaves_the_rest_as_it_is() -> None:
    for seed in range(6):
        text = prose.essay(2000, seed)
        top = b"A paragraph that was not here before, and\nthat has two lines.\n\n"
        assert 1 <= new_after("text", text, top + text) <= 2


def test_an_edit_anywhere_in_a_text_makes_few_new_chunks() -> None:
    text = prose.essay(2000)
    draw = Random(3)
    paragraphs = text.split(b"\n\n")
    new = []
    for _ in range(40):
        after = list(paragraphs)
        after.insert(draw.randrange(len(after)), b"One more paragraph of some words.")
        new.append(new_after("text", text, b"\n\n".join(after)))
    assert max(new) <= 3
    assert sum(new) / len(new) < 1.6


def test_a_changed_entry_of_a_catalogue_makes_at_most_two_new_chunks() -> None:
    entries = prose.catalogue(400)
    before = b"\n\n".join(entries)
    for changed in range(1, 400, 3):
        after = list(entries)
        after[changed] = after[changed].replace(b'msgstr "', b'msgstr "Ganz anders. ')
        assert 1 <= new_after("po", before, b"\n\n".join(after)) <= 2


def test_a_catalogue_is_cut_between_its_entries() -> None:
    text = (SAMPLES / "po" / "shop.po").read_bytes()
    found = chunk("po", text, PLAIN)
    assert len(found.chunks) > 2
    assert {(piece.part, piece.parent) for piece in found.chunks} == {(0, -1)}
    for piece in found.chunks[1:]:
        assert text_of(text, piece).startswith(b"#")
    hold(text, found, PLAIN)


def test_data_is_cut_where_it_is_least_indented() -> None:
    rows = [
        b'  "key%d": {\n    "a": [\n      1,\n      2\n    ],\n    "b": "words of it"\n  },' % i
        for i in range(300)
    ]
    text = b"{\n" + b"\n".join(rows) + b"\n}\n"
    found = chunk("json", text, PLAIN)
    assert len(found.chunks) > 3
    assert all(text_of(text, piece).startswith(b'"key') for piece in found.chunks[1:])
    hold(text, found, PLAIN)


def test_a_text_in_restructuredtext_is_cut_by_its_headings() -> None:
    text = b"Title\n=====\n\nWords.\n\n.. note:: mind this\n\nMore\n----\n\nWords.\n"
    assert [piece.symbol for piece in chunk("text", text, PLAIN).chunks] == ["Title", "More"]
    plain = text.replace(b".. note::", b"Note:")
    assert [piece.symbol for piece in chunk("text", plain, PLAIN).chunks] == [""]


@pytest.mark.parametrize(
    "text",
    [
        "snake_case a.b x-1",
        "naïve café",
        "Привет, мир",
        "a—b “c”…",
        "漢字とかな、ok。",
        "한국어 x",
        "a×b µm ½",
    ],
)
def test_words_are_counted_as_the_tokenizer_does(text: str) -> None:
    assert size(text.encode()) <= Ruler(text.encode()).words(0, len(text.encode())) <= size(text.encode()) + 3


def test_no_character_makes_more_words_than_are_counted() -> None:
    """Of the first plane every one, of the others those at both ends of what share their first bytes."""
    first = [number for number in range(0x80, 0x10000) if not 0xD800 <= number < 0xE000]
    others = [number + end for number in range(0x10000, 0x110000, 256) for end in (0, 255)]
    wrong = [
        hex(number)
        for number in first + others
        if size(text := f"a{chr(number)}b\u6f22{chr(number)}\u6f22{chr(number)}".encode())
        > Ruler(text).words(0, len(text))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "bad", [b"\xc2", b"\xe1", b"\xe2\xba", b"\xf0\x9f", b"\x80", b"\xff", b"\xed\xa0\x80"]
)
def test_bytes_of_no_character_hide_no_word(bad: bytes) -> None:
    for text in (b"a" + bad + b"b c", bad + b"a", b"a " + bad, "é".encode() + bad + "漢字".encode()):
        assert size(text * 20) <= Ruler(text * 20).words(0, len(text) * 20)
    hold(bad + b"a" * 900, chunk("text", bad + b"a" * 900, SMALL), SMALL)


@hypothesis_settings(deadline=None, max_examples=150)
@given(
    st.binary(max_size=600),
    st.sampled_from(["text", "json", "po", "markdown", "rst", "html", "vue", "svelte"]),
)
def test_any_bytes_keep_the_promises(text: bytes, language: str) -> None:
    hold(text, chunk(language, text, SMALL), SMALL)


_MARKUP = "# a|===|---|\n|\n\n|\r\n|\r|```|~~~|<!--|-->|> |- |.. _x:|words of it. |<script>|</script>|<style>|f() {}|。"
_BITS = st.sampled_from([*_MARKUP.split("|"), "漢字", "🦊", "    ", "<template>", "| a |", "'", '"'])


@hypothesis_settings(deadline=None, max_examples=300)
@given(
    st.lists(_BITS, max_size=60),
    st.sampled_from(["text", "yaml", "markdown", "rst", "html", "vue", "svelte"]),
)
def test_any_markup_keeps_the_promises(bits: list[str], language: str) -> None:
    text = "".join(bits).encode()
    found = chunk(language, text, SMALL)
    hold(text, found, SMALL)
    for piece in found.chunks:
        for span in piece.spans:
            text[span.start : span.end].decode()
