"""Parsing by tree-sitter within bounds that bytes and counts decide, never the clock."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tree_sitter import Parser

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

# tree-sitter reports about every hundred steps, real code has one report in 30 to 130 bytes, and the worst
# ambiguous C++ that was tried one in ten: what needs one a byte is not worth the time.
_REPORTS_FREE, _REPORTS_PER_BYTE = 5_000, 1
_NODES_FREE, _NODES_PER_BYTE = 10_000, 8
TOO_MANY_STEPS = "the parse took too many steps"
TOO_MANY_NODES = "the syntax tree has too many nodes"
# Some scanners (Perl, Scala) look ahead so often that the text is asked for 150 times a kilobyte: each answer is small.
_READ = 1 << 10
_LONGEST_SIGNATURE = 400
_LONE_CR = re.compile(rb"\r(?!\n)")


def parse(language: Language, text: bytes) -> Tree | None:
    """The tree of ``text``, or None when it would take more steps than its length allows."""
    left = _REPORTS_FREE + _REPORTS_PER_BYTE * len(text)
    if b"\r" in text:  # to most grammars a lone CR ends neither a line nor a comment
        text = _LONE_CR.sub(b"\n", text)

    def read(offset: int, _point: object) -> bytes:
        return text[offset : offset + _READ]

    def over_budget(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001  (tree-sitter calls it)
        nonlocal left
        left -= 1
        return left < 0

    # A parser of its own for each text: they are cheap, and none is left in the middle of an aborted parse.
    try:
        return Parser(language).parse(read, progress_callback=over_budget)
    except ValueError:
        return None


def node_budget(text: bytes) -> int:
    """How many nodes of a tree may be visited."""
    return _NODES_FREE + _NODES_PER_BYTE * len(text)


def shorten(text: bytes, start: int, end: int) -> tuple[int, int]:
    """A signature's range, cut (between two characters) where it is longer than anybody reads."""
    if end - start > _LONGEST_SIGNATURE:
        end = start + _LONGEST_SIGNATURE
        while end > start and 0x80 <= text[end] < 0xC0:
            end -= 1
    return (start, end) if end > start else (0, 0)
