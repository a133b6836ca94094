"""Mutants: texts made from the samples of a language by cutting, repeating, mixing and spoiling their tokens and lines.

A mutant is a function of its number alone, so that any of them can be made again. Most are a few hundred bytes: what
breaks a chunker is nearly always a matter of a few tokens, and small ones can be tried by the million.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from functools import cache

from tests.trees import SAMPLES

MARKS = [
    b"(", b")", b"{", b"}", b'"', b"'", b"`", b"/*", b"*/", b"//", b"#", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\xff",
    b"\x80", b"\xe6\xbc\xa2", b"\xf0\x9f\x8e\x89", b"\x0c", b"end", b"def ", b"class ", b"\\", b"<", b">", b";",
]  # fmt: skip
_MORE_MARKS = [
    b"[", b"]", b"[[", b"]]", b"=>", b"->", b"::", b"@", b"$", b"${", b"%{", b"#{", b"<<EOF\n", b"EOF\n", b"'''", b'"""', b"\\\n",
    b":\n    ", b"\x0b", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"--", b"=", b"|", b"&", b"?", b"!",
]  # fmt: skip
# What the tokens of a sample do not hold in one piece, and what turns a chunker's way.
_OF_ITS_OWN = {
    "html": [b"<script>", b"</script>", b'<script lang="ts">', b"<script/>", b"<style>", b"</style>", b"<!--", b"-->"],
    "markdown": [b"```python\n", b"```\n", b"~~~\n", b"\n===\n", b"\n---\n", b"> ", b"- ", b"1. ", b"| a | b |\n", b"    ", b"<!--", b"-->"],
    "python": [b"async def f(", b"@x\n", b"lambda x: ", b"match x:\n case _:\n", b"f'{", b"type A = int\n", b"if x:\n\t", b"import a.b\n"],
    "rst": [b".. code-block:: python\n\n    ", b"====\n", b"----\n", b"::\n\n    ", b".. class:: A\n", b".. |a| ", b"`a`_"],
    "sql": [b"$$", b"$a$", b"BEGIN", b"END;", b"CREATE FUNCTION f() ", b"DELIMITER //\n", b"\nGO\n", b"AS $$", b"--", b"CASE "],
}  # fmt: skip
_OF_ITS_OWN["vue"] = _OF_ITS_OWN["svelte"] = [
    *_OF_ITS_OWN["html"],
    b"<template>",
    b"</template>",
    b"<script setup>",
]
_TOKEN = re.compile(rb"\w+|[ \t]+|\r?\n|[^\w\s]|[\s\S]")
_LONGEST = 20_000
_SCRIPTS = [
    block << 8
    for block in (
        0,
        1,
        3,
        4,
        6,
        9,
        0xE,
        0x10,
        0x17,
        0x20,
        0x21,
        0x2E,
        0x30,
        0x31,
        0x4E,
        0xAC,
        0xD7,
        0xD8,
        0xE0,
        0xF9,
    )
]
_SCRIPTS += [
    block << 8
    for block in (0xFB, 0xFE, 0xFF, 0x100, 0x1D4, 0x1F3, 0x1F6, 0x200, 0x2A7, 0x300, 0xE00, 0xF00, 0x10FF)
]

Tokens = list[bytes]


@cache
def samples(language: str) -> list[bytes]:
    """The samples of a language; a dialect has those of its language."""
    folder = SAMPLES / language.partition("-")[0]
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]


@cache
def _everything() -> list[Tokens]:
    return [_TOKEN.findall(text) for folder in sorted(SAMPLES.iterdir()) for text in samples(folder.name)]


class Mutants:
    """The mutants of one language, by number."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._texts = [_TOKEN.findall(text) for text in samples(language)]
        own = [token for text in self._texts for token in dict.fromkeys(text)]
        special = _OF_ITS_OWN.get(language, [])
        self._words = [*own, *MARKS * 3, *_MORE_MARKS * 2, *special * 8]
        self._bases: list[tuple[int, Callable[[random.Random], Tokens]]] = [
            (76, self._window), (10, self._soup), (6, self._stranger), (4, self._bomb), (1, self._whole), (3, self._noise),
        ]  # fmt: skip
        self._weights = [weight for weight, _ in self._bases]

    def make(self, number: int) -> bytes:
        """The mutant of that number."""
        chance = random.Random(f"{self.language} {number}")
        base = chance.choices(self._bases, self._weights)[0][1]
        tokens = base(chance)
        for _ in range(chance.choice((0, 1, 1, 2, 3, 6))):
            chance.choice(_CHANGES)(chance, tokens, self._words)
        return _written(chance, b"".join(tokens)[:_LONGEST])

    def _window(self, chance: random.Random) -> Tokens:
        text = chance.choice(self._texts)
        length = chance.choice((8, 15, 30, 30, 60, 120))
        start = chance.randrange(max(len(text) - length // 2, 1))
        return text[start : start + length]

    def _soup(self, chance: random.Random) -> Tokens:
        return chance.choices(self._words, k=chance.choice((3, 8, 20, 60)))

    def _stranger(self, chance: random.Random) -> Tokens:
        """A window of any language's text."""
        text = chance.choice(_everything())
        start = chance.randrange(max(len(text) - 30, 1))
        return text[start : start + 60]

    def _bomb(self, chance: random.Random) -> Tokens:
        """Something small many times, as nesting that is never closed, or is."""
        unit = b"".join(chance.choices(self._words, k=chance.choice((1, 1, 2, 3, 5))))
        times = chance.choices((10, 30, 100, 1000), (30, 20, 5, 1))[0]
        return [unit[:40]] * times + chance.choices(self._words, k=3) * chance.choice((0, 1, times))

    def _whole(self, chance: random.Random) -> Tokens:
        return list(chance.choice(self._texts))

    def _noise(self, chance: random.Random) -> Tokens:
        """Any bytes, or any characters."""
        length = chance.choice((1, 5, 40, 300))
        if chance.random() < 0.5:
            return [chance.randbytes(length)]
        letters = (chr(chance.choice(_SCRIPTS) + chance.randrange(256)) for _ in range(length))
        return ["".join(letters).encode("utf-8", "replace")]


def _stretch(chance: random.Random, tokens: Tokens) -> slice:
    start = chance.randrange(len(tokens) + 1)
    return slice(start, start + chance.choice((1, 1, 2, 5, 20)))


def _delete(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    del tokens[_stretch(chance, tokens)]


def _repeat(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    where = _stretch(chance, tokens)
    tokens[where] = tokens[where] * chance.choice((2, 2, 2, 3, 10))


def _swap(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    one = _stretch(chance, tokens)
    taken = tokens[one]
    del tokens[one]
    other = chance.randrange(len(tokens) + 1)
    tokens[other:other] = taken


def _replace(chance: random.Random, tokens: Tokens, words: Tokens) -> None:
    tokens[_stretch(chance, tokens)] = [chance.choice(words)]


def _insert(chance: random.Random, tokens: Tokens, words: Tokens) -> None:
    at = chance.randrange(len(tokens) + 1)
    tokens[at:at] = chance.choices(words, k=chance.choice((1, 1, 2, 4)))


def _lines(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    """Delete a line, double it, or move one to where another begins."""
    ends = [-1, *(at for at, token in enumerate(tokens) if token.endswith(b"\n"))]
    number = chance.randrange(len(ends))
    start = ends[number] + 1
    stop = ends[number + 1] + 1 if number + 1 < len(ends) else len(tokens)
    line = tokens[start:stop]
    tokens[start:stop] = line * chance.choice((0, 0, 2))
    at = start if chance.random() < 0.5 else chance.choice(ends) + 1
    tokens[at:at] = line


def _indent(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    with_what = chance.choice((b" ", b"    ", b"\t", b"        "))
    for at, token in enumerate(tokens):
        if token.endswith(b"\n") and chance.random() < 0.7:
            tokens[at] = token + with_what


def _flip(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    if tokens:
        at = chance.randrange(len(tokens))
        token = bytearray(tokens[at])
        if token:
            token[chance.randrange(len(token))] ^= 1 << chance.randrange(8)
        tokens[at] = bytes(token)


def _cut_off(chance: random.Random, tokens: Tokens, _: Tokens) -> None:
    del tokens[chance.randrange(len(tokens) + 1) :]


_CHANGES = (_delete, _repeat, _swap, _replace, _replace, _insert, _insert, _lines, _indent, _flip, _cut_off)
_ENCODINGS = ("utf-8-sig", "utf-16-le", "utf-16", "latin-1", "gb18030")


def _written(chance: random.Random, text: bytes) -> bytes:
    """The text with other line ends, or in another encoding, now and then."""
    if chance.random() < 0.08:
        text = text.replace(b"\n", chance.choice((b"\r", b"\r\n")))
    if chance.random() < 0.03:
        text = text.decode("utf-8", "replace").encode(chance.choice(_ENCODINGS), "replace")
    return text


class Notebooks:
    """Notebooks around mutants of Python and Markdown: most are sound JSON, or nothing would ever be found in them."""

    def __init__(self) -> None:
        self._code, self._prose, self._raw = Mutants("python"), Mutants("markdown"), Mutants("notebook")

    def make(self, number: int) -> bytes:
        """The notebook of that number."""
        chance = random.Random(f"notebooks {number}")
        if chance.random() < 0.2:
            return self._raw.make(number)
        cells = [self._cell(chance, number * 8 + place) for place in range(chance.randrange(5))]
        kernel = chance.choice((None, "python", "julia", "r", "nonsense", 3))
        value = {
            "cells": cells,
            "metadata": {"kernelspec": {"language": kernel}},
            "nbformat": chance.choice((3, 4)),
        }
        indent = chance.choice((None, None, 1))
        text = json.dumps(value, indent=indent, ensure_ascii=chance.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
        if chance.random() < 0.2:
            tokens = _TOKEN.findall(text)
            chance.choice(_CHANGES)(chance, tokens, MARKS)
            text = b"".join(tokens)
        return text

    def _cell(self, chance: random.Random, number: int) -> dict[str, object]:
        kind = chance.choice(("code", "code", "markdown", "raw", "nonsense"))
        text = (self._prose if kind == "markdown" else self._code).make(number)[:2000]
        source: object = text.decode("utf-8", chance.choice(("replace", "surrogateescape")))
        if chance.random() < 0.7:
            source = str(source).splitlines(keepends=True)
        elif chance.random() < 0.1:
            source = chance.choice((None, 3, {}, [None, "x"], [["x"]]))
        return {"cell_type": kind, "source": source, "outputs": [], "metadata": {}}
