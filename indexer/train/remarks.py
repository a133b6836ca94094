"""Comments inside of code with the code they speak of, and headings and paragraphs with the code block behind them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indexer.train.doctext import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_HASH = frozenset({"python", "ruby", "bash", "perl", "r", "julia", "elixir"})
_DASHES = frozenset({"lua", "haskell", "sql"})
_MOST_LINES = 15
_FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*([\w+#.-]*)")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
# Blocks that show a shell session, an output or a setting say nothing about code.
_NO_CODE = frozenset(
    [
        "sh",
        "bash",
        "shell",
        "console",
        "text",
        "txt",
        "json",
        "yaml",
        "yml",
        "toml",
        "diff",
        "ini",
        "xml",
        "html",
        "css",
    ]
)


class Remark(NamedTuple):
    """What is said, the code it is said of, and the language of the code."""

    text: str
    code: str
    language: str


def remarks(language: str, text: str) -> Iterator[Remark]:
    """Comments on lines of their own that stand inside something, each with the lines that follow it.

    The lines are those up to an empty one, the next comment, or one that stands further left; fifteen at most.
    """
    if language == "markdown":
        yield from _blocks(text)
        return
    mark = "#" if language in _HASH else "--" if language in _DASHES else "//"
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not _is_remark(lines[at], mark):
            at += 1
            continue
        start = at
        while at < len(lines) and _is_remark(lines[at], mark):
            at += 1
        code = _following(lines, at, len(lines[start]) - len(lines[start].lstrip()), mark)
        if code:
            yield Remark(plain(language, "\n".join(lines[start:at])), code, language)


def _is_remark(line: str, mark: str) -> bool:
    bare = line.lstrip()
    return len(bare) < len(line) and bare.startswith(mark) and not bare.startswith((mark + "!", mark * 3))


def _following(lines: list[str], at: int, margin: int, mark: str) -> str:
    kept: list[str] = []
    for line in lines[at : at + _MOST_LINES]:
        bare = line.lstrip()
        if not bare or bare.startswith(mark) or len(line) - len(bare) < margin:
            break
        kept.append(line[margin:])
    return "\n".join(kept).rstrip()


def _blocks(text: str) -> Iterator[Remark]:
    """Fenced code blocks of a Markdown text, each with the heading and the paragraph before it."""
    heading, paragraph, block = "", [""], [""]
    fence = language = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            if found and found.group(2).startswith(fence):
                if language not in _NO_CODE:
                    yield Remark(_said(heading, paragraph), "\n".join(block).strip("\n"), language)
                fence, paragraph = "", []
            else:
                block.append(line)
        elif found:
            fence, language, block = found.group(2), found.group(3).lower(), []
        elif head := _HEADING.match(line):
            heading, paragraph = head.group(1), []
        elif line.strip():
            paragraph.append(line.strip())
        elif paragraph and paragraph[-1]:
            paragraph = [*paragraph[-3:], ""]


def _said(heading: str, paragraph: list[str]) -> str:
    last: list[str] = []
    for line in reversed(paragraph):
        if not line and last:
            break
        if line:
            last.append(line)
    said = " ".join(reversed(last)).rstrip(":")
    return plain("markdown", f"{heading}. {said}" if heading and len(said.split()) < 6 else said or heading)
