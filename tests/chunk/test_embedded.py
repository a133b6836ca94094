"""Vue, Svelte and HTML: scripts at their true lines, markup as text."""

from __future__ import annotations

import pytest

from indexer.chunk import chunk
from indexer.settings import ChunkSettings
from indexer.types import FileChunks, Kind
from tests.chunk import prose
from tests.chunk.outlines import SAMPLES, cut, outline, ranges
from tests.chunk.promises import BOM, hold, text_of, texts

PLAIN = ChunkSettings()


def test_both_scripts_of_a_component_at_their_lines() -> None:
    """S-025: the template first, then both script blocks; lines as ``grep -n`` counts them."""
    text = (SAMPLES / "vue" / "Panel.vue").read_bytes()
    found = cut("vue", "Panel.vue")
    assert outline(found) == [
        ("interface", "", "Look", 13),
        ("function", "", "describe", 17),
        ("function", "", "toggle", 28),
    ]
    lines = text.split(b"\n")
    assert [
        line for line in range(1, len(lines) + 1) if lines[line - 1].startswith((b"export", b"function"))
    ] == [
        13,
        17,
        28,
    ]
    assert ranges(found) == {"Look": (12, 15), "describe": (17, 19), "toggle": (27, 30)}
    assert found.imports == ("vue",)
    hold(text, found, PLAIN)


def test_ranges_inside_a_definition_are_those_of_the_file() -> None:
    text = (SAMPLES / "vue" / "Panel.vue").read_bytes()
    look = next(piece for piece in cut("vue", "Panel.vue").chunks if piece.symbol == "Look")
    assert text[slice(*look.docstring)] == b"/** How a panel may look. */"
    assert b"interface Look" in text[slice(*look.signature)]
    assert look.language == "typescript"


def test_markup_and_style_are_text_of_the_files_language() -> None:
    text = (SAMPLES / "vue" / "Panel.vue").read_bytes()
    plain = [piece for piece in cut("vue", "Panel.vue").chunks if piece.kind == Kind.TEXT]
    assert [text_of(text, piece).split()[0] for piece in plain] == [b"<!--", b"<template>", b"<style"]
    assert {piece.language for piece in plain} == {"vue"}


def test_svelte() -> None:
    text = (SAMPLES / "svelte" / "Counter.svelte").read_bytes()
    found = cut("svelte", "Counter.svelte")
    assert outline(found) == [("function", "", "limit", 2), ("function", "", "increase", 11)]
    assert [piece.language for piece in found.chunks if piece.symbol] == ["javascript", "typescript"]
    hold(text, found, PLAIN)


def test_html() -> None:
    text = (SAMPLES / "html" / "page.html").read_bytes()
    found = cut("html", "page.html")
    assert outline(found) == [
        ("function", "", "greet", 8),
        ("class", "", "Page", 17),
        ("method", "Page", "show", 18),
    ]
    show = next(piece for piece in found.chunks if piece.symbol == "show")
    assert found.chunks[show.parent].symbol == "Page"
    hold(text, found, PLAIN)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("<script>", "javascript"),
        ("<script async defer>", "javascript"),
        ("<script\n  type='module'\n>", "javascript"),
        ('<script lang="ts">', "typescript"),
        ("<script lang=ts setup>", "typescript"),
        ('<script setup generic="T extends (a: string) => void" lang="ts">', "typescript"),
        ('<script lang="tsx">', "tsx"),
        ('<script type="text/babel">', "javascript"),
        ('<script type="application/x-typescript">', "typescript"),
        ('<SCRIPT LANG="TS">', "typescript"),
        ('<script type="importmap">', ""),
        ('<script type="text/x-template">', ""),
        ('<script lang="coffee">', ""),
    ],
)
def test_the_language_of_a_script(tag: str, language: str) -> None:
    text = f"<template/>\n{tag}\nfunction f() {{}}\n</script>\n".encode()
    found = chunk("vue", text, PLAIN)
    assert [piece.language for piece in found.chunks if piece.symbol == "f"] == [language] * bool(language)
    hold(text, found, PLAIN)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_at_other_line_ends(end: str) -> None:
    """S-009 in a component."""
    text = (SAMPLES / "vue" / "Panel.vue").read_bytes().replace(b"\n", end.encode())
    found = chunk("vue", text, PLAIN)
    hold(text, found, PLAIN)
    if end != "\r":  # a grammar ends a line comment at LF alone, so a lone CR may hide what follows one
        assert outline(found) == outline(cut("vue", "Panel.vue"))


def test_unclosed_and_empty_elements() -> None:
    def names(language: str, text: str) -> list[str]:
        found = chunk(language, text.encode(), PLAIN)
        hold(text.encode(), found, PLAIN)
        return [piece.symbol for piece in found.chunks if piece.symbol]

    assert names("html", "<script>\nfunction f() {}\n") == ["f"]
    assert names("html", "<!-- <script>function f() {}</script>") == []
    assert names("html", "<scripted>function f() {}</scripted>") == []
    assert names("html", "<script></script><script>function f() {}</script>") == ["f"]
    assert names("vue", '<script src="./f.js"/>\n<script>function f() {}</script>') == ["f"]
    assert names("html", "<script>x</script") == []


@pytest.mark.parametrize("language", ["html", "svelte", "vue"])
def test_a_byte_order_mark_inside_belongs_to_the_tag_before_it(language: str) -> None:
    text = BOM + b"<script>" + BOM * 2 + b"\nlet a = 1\n</script>\n" + BOM + b"<p>\n"
    found = chunk(language, text, PLAIN)
    hold(text, found, PLAIN)
    assert b"<script>" + BOM * 2 + b"</script>" in texts(text, found)


def test_an_edit_of_the_template_leaves_the_scripts() -> None:
    before = (SAMPLES / "vue" / "Panel.vue").read_bytes()
    after = before.replace(b"<slot", b"<hr />\n    <slot")
    old = set(texts(before, chunk("vue", before, PLAIN)))
    new = set(texts(after, chunk("vue", after, PLAIN))) - old
    assert [text.split()[0] for text in new] == [b"<template>"]


def test_a_large_page_is_cut_between_lines() -> None:
    text = (
        b"<html>\n"
        + b"\n".join(b"<p>%s</p>" % prose.one_paragraph(3, seed) for seed in range(300))
        + b"\n</html>\n"
    )
    found: FileChunks = chunk("html", text, PLAIN)
    assert len(found.chunks) > 5
    assert all(text_of(text, piece).startswith(b"<p>") for piece in found.chunks[1:])
    hold(text, found, PLAIN)


@pytest.mark.parametrize(
    "text",
    [
        b"<script " * 15_000,
        b'<script "' * 15_000,
        b"<script '<script \"" * 8_000,
        b"<script>" * 15_000,
        b"<script>x</script>" * 4_000,
        b"<!--" * 15_000,
        b"<script>" + b"</script " * 15_000,
        b"<div>" * 100_000,
        b"<script>" + b"(" * 100_000 + b"</script>",
        b"<p>" + b"minified " * 100_000 + b"</p>",
    ],
    ids=range(10),
)
def test_hostile_pages_take_bounded_time(text: bytes) -> None:
    for language in ("html", "vue", "svelte"):
        found = chunk(language, text, PLAIN)
        assert all(len(text_of(text, piece)) <= 32 * PLAIN.max_tokens for piece in found.chunks)
