"""Doc comments as plain English: markers, tags and markup taken off, the first sentence, the first paragraph.

What is taken off: comment markers of every language; everything from the first block tag on (``@param``, its twin in Doxygen,
Rust's ``# Examples``, fenced code), but for the tags that hold the description itself; XML around C#'s
``<summary>``; HTML tags; the braces of ``{@link X}``. What is left keeps its paragraphs, with an empty line between.
"""

from __future__ import annotations

import html
import re

_MARKER = re.compile(r"^\s*(?:/\*[*!]*<?|\*+/|///+<?!?|//[!<]?|#+(?![\w\[])|--+\||\*(?!/)|;+)?[ \t]?")
_CLOSING = re.compile(r"\s*\*+/\s*$")
_RULER = re.compile(r"^[\s*/#=_~+.<>|-]*$")
_DESCRIPTION = re.compile(
    r"^[@\\](?:brief|summary|short|desc|description|classdesc|details|remarks|abstract)\b:?\s*"
)
_TAG = re.compile(r"^(?:[@\\](?!link\b)[a-zA-Z]\w*|:[a-z][\w -]*:|#+ \S.*|={3,}|-{3,}|~{3,})")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_CREF = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:\w:)?([^\"]*)\"\s*/?>")
_LINK = re.compile(r"\{@(?:link|linkplain|code|literal|see|value|tutorial)\s+([^}\s]*)\s*([^}]*)\}")
_HTML = re.compile(r"</?[a-zA-Z][\w:-]*(?:\s[^<>]*)?/?>")
_BREAK = re.compile(r"</?(?:p|pre|ul|ol|li|br|h\d|blockquote|dl)\b[^<>]*>", re.IGNORECASE)
_MARKDOWN_LINK = re.compile(r"!?\[([^\]\[]+)\](?:\([^)]*\)|\[[^\]]*\])?")
_SENTENCE = re.compile(r"(.+?[.!?。！？])(?:\s|$|(?<=[。！？]))", re.DOTALL)


def plain(language: str, comment: str) -> str:
    """The words of a comment or doc comment, as written in its file, paragraphs kept apart by an empty line."""
    lines = [_unmarked(line) for line in comment.strip().splitlines()]
    text = "\n".join(lines)
    if language == "csharp" and "<summary" in text:
        found = _SUMMARY.search(text)
        text = found.group(1) if found else ""
    text = _without_markup(text) if language != "python" else text
    return "\n".join(_described(text.splitlines(), language)).strip()


def _unmarked(line: str) -> str:
    line = _CLOSING.sub("", _MARKER.sub("", line, count=1))
    return "" if _RULER.match(line) else line.rstrip()


def _without_markup(text: str) -> str:
    text = _CREF.sub(lambda found: found.group(1).split(".")[-1], text)
    text = _LINK.sub(lambda found: found.group(2) or found.group(1).lstrip("#"), text)
    text = _HTML.sub("", _BREAK.sub("\n\n", text))
    return html.unescape(_MARKDOWN_LINK.sub(r"\1", text))


def _described(lines: list[str], language: str) -> list[str]:
    """The lines before the first tag, and those of the tags that describe."""
    kept: list[str] = []
    open_, fenced = True, False
    for raw in lines:
        line = raw.strip()
        if _FENCE.match(raw):
            fenced = not fenced
            continue
        if language != "python" and (found := _DESCRIPTION.match(line)):
            open_, line = True, line[found.end() :]
        elif language != "python" and _TAG.match(line):
            open_ = False
        if open_ and not fenced:
            kept.append(line)
    return kept


def first_paragraph(text: str) -> str:
    """The first paragraph, on one line."""
    return re.sub(r"\s+", " ", re.split(r"\n\s*\n", text.strip())[0]).strip()


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph: up to a full stop with white space behind it, or all of it."""
    paragraph = first_paragraph(text)
    found = _SENTENCE.match(paragraph)
    return (found.group(1) if found else paragraph).strip()
