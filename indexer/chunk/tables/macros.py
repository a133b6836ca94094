"""Macros that a parser of C or C++ stumbles over, made invisible to it, and functions that macros make.

Without the preprocessor, ``NAMESPACE_BEGIN`` on a line of its own, ``class EXPORT Name : Base`` or ``void f() GUARDED(mu) {``
is a syntax error, and a definition after it may be lost. The parser is given the text with such macros replaced by
as many spaces, so that all offsets stay; the chunks hold the text as it is.

``TEST(Suite, name) {...}`` is a function that is made by a macro: ``name`` in the scope ``Suite``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexer.chunk.grammar import Found
from indexer.types import Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from indexer.chunk.grammar import Site

# All repetitions are bounded where they could be tried from many places: a hostile file must not cost its square.
_MACRO = rb"(?:[A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{0,60}|[A-Z][A-Z0-9]{2,60})(?![A-Za-z0-9_])"
_ARGUMENTS = rb"\([^()\r\n]{0,200}\)"
_WORDS = rb"\(\s{0,20}\w{1,100}(?:\s{0,20},\s{0,20}\w{1,100}){0,4}\s{0,20}\)"
# Begun by the end of the line before, which such a pattern is looked for by: three times as quick as by the place.
_ALONE = re.compile(
    rb"\n[ \t]*%s[ \t]*(?:%s)?[ \t]*(?=\r?\n(?!\s{0,200}[{=,()?:;.+\-*/|&<>\"]))" % (_MACRO, _ARGUMENTS)
)
# One of these is in whatever the pattern after them matches; each is looked for by its word, and seldom found in C.
_TAGS = [re.compile(rb"%s[ \t]+[A-Z]" % word) for word in (b"class", b"struct", b"union")]
_BEFORE_NAME = re.compile(
    rb"\b(?:class|struct|union)[ \t]+(%s(?:%s)?)(?=[ \t]+[A-Za-z_]\w{0,200}\s{0,20}(?:<[^;{}<>]{0,200}>\s{0,20})?"
    rb"(?:final\s{0,20})?[:{])" % (_MACRO, _ARGUMENTS)
)
_AFTER_PARAMETERS = re.compile(
    rb"\)\s{0,20}(?=[A-Zcnof])(?:(?:const|noexcept|override|final)\s{1,20}){0,4}((?:%s%s\s{0,20}){1,4})(?=[{:])"
    % (_MACRO, _ARGUMENTS)
)
_MADE = re.compile(rb"%s(%s)\s{0,200}\{" % (_MACRO, _WORDS))
_MADE_LINE = re.compile(rb"\n(%s)(%s)(?=\s{0,200}\{)" % (_MACRO, _WORDS))
_JOINED = bytes.maketrans(b", \t\r\n", b"_____")


def hidden(text: bytes) -> bytes:
    """The text, equally long, with the macros that are in a parser's way blanked out."""
    text = _ALONE.sub(lambda match: b"\n" + b" " * (len(match[0]) - 1), b"\n" + text)[1:]
    if any(tag.search(text) for tag in _TAGS):
        text = _BEFORE_NAME.sub(_without_first_group, text)
    return _AFTER_PARAMETERS.sub(_without_first_group, text)


def hidden_for_c(text: bytes) -> bytes:
    """As `hidden`; and C has no function without a type, so that a macro's arguments must look like one name."""
    return _MADE_LINE.sub(
        lambda match: b"\n" + match[1] + b"(" + match[2][1:-1].translate(_JOINED) + b")",
        b"\n" + hidden(text),
    )[1:]


def _without_first_group(match: re.Match[bytes]) -> bytes:
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    whole = match[0]
    blank = bytes(byte if byte in b"\r\n" else 0x20 for byte in whole[start:end])
    return whole[:start] + blank + whole[end:]


def made(node: Node, site: Site) -> Found | None:
    """The function that a macro makes here; None for an ordinary one (a constructor may look alike)."""
    match = _MADE.match(site.text, node.start_byte)
    if match is None or (site.parents and site.parents[-1].type == "field_declaration_list"):
        return None
    words = [word.strip() for word in match[1][1:-1].decode("utf-8", "replace").split(",")]
    last = match.start(1) + 1 + max(match[1].rfind(b","), 0)
    while site.text[last] in b" \t\r\n,(":
        last += 1
    return Found(Kind.FUNCTION, words[-1], last, match.end() - 1, ".".join(words[:-1]))
