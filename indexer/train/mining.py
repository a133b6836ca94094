"""The pairs of one file, and what a text must be to be one side of a pair."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexer.train.doctext import first_paragraph, first_sentence
from indexer.train.documented import FUNCTIONS, Documented, definitions, is_test
from indexer.train.reading import Pair
from indexer.train.remarks import remarks

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

WORDS = 200  # of code that are kept
FEWEST_WORDS = 15  # of a definition whose body is one line
MOST_WORDS = 60  # of a question
_WORD = re.compile(r"\w+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\u3130-\u318f\uac00-\ud7af]")
_LICENCE = re.compile(
    r"copyright|licen[sc]e|all rights reserved|spdx|redistribut|warrant(?:y|ies)\b", re.IGNORECASE
)
_NOTHING_SAID = re.compile(
    r"^(?:\W*(?:get(?:ter|s)? (?:for|the value)|set(?:ter|s)? (?:for|the value)|(?:default )?(?:constructor|destructor)\b"
    r"|(?:\{?@?inherit(?:ed|doc|s)?\b)|auto-?generated|generated\b|non-javadoc|see (?:also|above|below|the base|base)"
    r"|todo|fixme|xxx|hack\b|not implemented|deprecated|undocumented|internal\b|private\b|ditto|same as above|no-?op\b"
    r"|eslint|jshint|jslint|istanbul|prettier|noinspection|noqa|type:|pylint|pragma|nolint|clang|mypy|ts-|region\b"
    r"|endregion|end of\b|begin\b|phpstan|psalm|rubocop|language=|flake8|cspell|codeql|sourcemapping|import\b|#include"
    r"|http))",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[;{}]\s*$|^\s*(?:if|for|while|return|var|let|const|else|elif)\b.*[:({;]\s*$|\w\(.*\)\s*;?$|[=<>!]=|=>|->|\w\.\w+\("
)
_LINT = re.compile(r"^(?:[:@\\]\w+|\.\.|>>>)")


def pairs_of_file(language: str, text: bytes, project: str, dropped: Counter[str]) -> Iterator[Pair]:
    """Every pair of a file; what was left out is counted in ``dropped``."""
    if language != "markdown":
        for one in definitions(language, text):
            yield from _of_definition(one, language, project, dropped)
    for remark in remarks(language, text.decode("utf-8", "replace")):
        said = first_paragraph(remark.text)
        if _CODE.search(said):
            dropped["comment that is code"] += 1
        elif len(_WORD.findall(remark.code)) < 8:
            dropped["too little code"] += 1
        elif kind := _judge(said, "comment", 4, dropped):
            yield Pair(
                shortened(said, MOST_WORDS),
                shortened(remark.code, WORDS),
                kind,
                remark.language or language,
                project,
            )


def _of_definition(one: Documented, language: str, project: str, dropped: Counter[str]) -> Iterator[Pair]:
    if is_test(one):
        dropped["test"] += 1
        return
    if one.body < 2 and (one.body < 1 or len(_WORD.findall(one.code[:500])) < FEWEST_WORDS):
        dropped["too little code"] += 1
        return
    code = shortened(one.code, WORDS)
    for question in questions(one) if one.doc else ():
        if kind := _judge(question, "doc" if one.formal else "comment", 3, dropped):
            yield Pair(question, code, kind, language, project)
    if one.kind in FUNCTIONS and one.body >= 3 and one.signature and len(in_words(one.symbol).split()) > 1:
        left = f"{in_words(one.symbol)} {shortened(one.signature, 40)}"
        yield Pair(left, shortened(one.inner, WORDS), "name", language, project)


def questions(one: Documented) -> list[str]:
    """The first sentence of the documentation and, where it says more, the first paragraph.

    The definition's own name at its head, as Go's custom has it, is taken off.
    """
    sentence, paragraph = (
        _beheaded(text, one.symbol) for text in (first_sentence(one.doc), first_paragraph(one.doc))
    )
    paragraph = shortened(paragraph, MOST_WORDS)
    longer = len(paragraph.split()) >= len(sentence.split()) + 4 or len(paragraph) >= len(sentence) + 12
    return [sentence, paragraph] if longer else [sentence]


def _beheaded(text: str, symbol: str) -> str:
    head, _, rest = text.partition(" ")
    return rest.strip() if head.strip("`*_:,()") == symbol else text


def _judge(text: str, kind: str, fewest: int, dropped: Counter[str]) -> str:
    """The kind of pair a text may be the question of; "" with a count when of none."""
    han = len(_HAN.findall(text))
    words = len(text.split())
    if _OTHER_SCRIPT.search(text):
        reason = "neither English nor Chinese"
    elif han >= 4 and han * 3 >= len(text) - text.count(" "):
        return "zhdoc"
    elif words < fewest or not re.search(r"[a-z]{2}", text):
        reason = "too few words"
    elif words > 2 * MOST_WORDS:
        reason = "too many words"
    elif _LICENCE.search(text):
        reason = "licence"
    elif _NOTHING_SAID.match(text) or _LINT.match(text):
        reason = "says nothing"
    else:
        return kind
    dropped[reason] += 1
    return ""


def in_words(name: str) -> str:
    """An identifier as the words it is made of, in lower case."""
    return " ".join(part.lower() for part in _CAMEL.split(name) if part)


def shortened(text: str, words: int) -> str:
    """The first so many words of a text, with what stands between them."""
    for number, found in enumerate(_WORD.finditer(text), 1):
        if number == words:
            return text[: found.end()]
    return text
