"""What is asked: the request as it comes in, and the question as the ranking reads it.

Any text but an empty one is a question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from indexer import tokens
from indexer.errors import QueryError
from indexer.types import Kind

MODES = ("hybrid", "lexical", "dense")
KINDS = frozenset(value for name, value in vars(Kind).items() if name.isupper())

_READ = 10_000  # characters of a question that are looked at; a pasted file says enough with its beginning
_MOST_NAMES = 24

# Words that questions are made of and that say little about what is asked for.
_WEAK = frozenset(
    tokens.terms_of(
        "across after all also any before between both code different file files function functions get handle handled"
        " handles handling implement implementation implemented implements internally logic make makes manage managed"
        " management manages method methods multiple object objects other process provide provides set should single"
        " some support supports them they through type types use used uses using value values various via way within"
        " work works"
    )
)
_WEAK_WEIGHT = 0.4

_NAME = re.compile(r"[^\W\d]\w*(?:(?:::|->|[.#/])~?[^\W\d]\w*)*[!?]?")
_SEPARATOR = re.compile(r"::|->|[.#/]~?")
_SHAPED = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2}|::|->|[.#]")
_WORD = re.compile(r"[^\W\d_]\w*")

# What a question has to hold for these places not to be ranked lower.
_TOPICS = {
    "test": re.compile(
        r"\b(?:unit)?_?(?:tests?|testing|tested|testcases?|specs?|mock(?:s|ed|ing)?|fixtures?)\b",
        re.IGNORECASE,
    ),
    "example": re.compile(
        r"\b(?:examples?|samples?|demos?|tutorials?|bench(?:mark)?s?|benchmarking)\b", re.IGNORECASE
    ),
    "docs": re.compile(
        r"\b(?:docs?|documentation|readme|guides?|changelog|changes|release notes|licen[cs]e)\b",
        re.IGNORECASE,
    ),
    "vendor": re.compile(r"\b(?:vendor(?:ed)?|third[ _-]?party|bundled|extern(?:al)?s?)\b", re.IGNORECASE),
    "generated": re.compile(r"\b(?:generated|minified|protobuf|dist)\b", re.IGNORECASE),
}


@dataclass(frozen=True, slots=True)
class Request:
    """One question with its filters; several values of one filter mean any of them. Wrong values: `QueryError`.

    ``path`` holds globs (`filters.path_pattern`); one that starts with ``!`` excludes.
    """

    query: str
    k: int = 10
    mode: str = "hybrid"
    path: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    min_score: float = 0.0

    def __post_init__(self) -> None:
        if not self.query.strip(" \t\r\n\0"):
            raise QueryError("the question is empty: give some words, a name or a piece of code")
        if self.k < 1:
            raise QueryError(f"k: expected at least 1, got {self.k}")
        if self.mode not in MODES:
            raise QueryError(f'mode: expected one of {", ".join(MODES)}, got "{self.mode}"')
        if wrong := sorted(set(self.kind) - KINDS):
            raise QueryError(f'kind: "{wrong[0]}" is none of {", ".join(sorted(KINDS))}')
        if not all(glob.strip("!/ ") for glob in self.path):
            raise QueryError("path: a pattern is empty")


class Term(NamedTuple):
    """A term of the question, its hash, and how much it says (1, or less for a word that questions are made of)."""

    text: str
    hash: int
    weight: float


class Name(NamedTuple):
    """Something in the question that may be the name of a definition.

    ``key`` is `name_key` of it, ``scope`` the keys of what stands before it (``Class`` in ``Class.method``). ``weight``
    is 1 for what is written like a name, and less for plain words and for neighbouring words run together.
    """

    text: str
    key: str
    scope: tuple[str, ...]
    weight: float


class Question(NamedTuple):
    """A question as the ranking reads it. ``topics`` are the keys of `_TOPICS` it asks for."""

    text: str
    terms: tuple[Term, ...]
    names: tuple[Name, ...]
    files: tuple[str, ...]
    topics: frozenset[str]
    is_name: bool


def parse(query: str) -> Question:
    """Read a question: its terms, the names in it, the files it mentions, the places it asks for."""
    text = query[:_READ].replace("\0", " ").strip()
    mentions = _NAME.findall(text)
    single = len(text.split()) == 1
    names = [name_of(mention, 1.0) for mention in mentions if single or _SHAPED.search(mention)]
    if not single:
        names += _plain_names(text)
    files = tuple(dict.fromkeys(m.lower().rstrip("!?") for m in mentions if "/" in m or "." in m))
    topics = frozenset(topic for topic, pattern in _TOPICS.items() if pattern.search(text))
    return Question(text, _terms(text), _best(names), files, topics, single)


def name_key(name: str) -> str:
    """Return a name without case and underscores: the names that a question may mean by one word are equal then."""
    return name.replace("_", "").casefold() or name


def _terms(text: str) -> tuple[Term, ...]:
    found = list(dict.fromkeys(tokens.terms_of(text)))
    hashes = tokens.hash_terms(found).tolist()
    weak = _WEAK if not set(found) <= _WEAK else frozenset[str]()
    terms = [Term(t, h, _WEAK_WEIGHT if t in weak else 1.0) for t, h in zip(found, hashes, strict=True)]
    return tuple(terms)


def name_of(mention: str, weight: float = 1.0) -> Name:
    """Read a name with what stands before it: ``Class.method``, ``ns::name``, ``pkg.Func``."""
    parts = [part for part in _SEPARATOR.split(mention) if part] or [mention]
    return Name(parts[-1], name_key(parts[-1]), tuple(name_key(part) for part in parts[:-1]), weight)


def _plain_names(text: str) -> list[Name]:
    """Each plain word as a name, and two or three neighbours run together: "string view" may mean ``StringView``."""
    words = [w for w in _WORD.findall(text) if not w.isascii() or len(w) > 2]
    plain = [name_of(word, 0.3) for word in words if word.lower() not in tokens.STOP_WORDS]
    joined = [
        name_of("".join(words[i : i + n]), 0.6)
        for n in (2, 3)
        for i in range(len(words) - n + 1)
        if not tokens.STOP_WORDS.intersection(word.lower() for word in words[i : i + n])
    ]
    return joined + plain


def _best(names: list[Name]) -> tuple[Name, ...]:
    best: dict[tuple[str, tuple[str, ...]], Name] = {}
    for name in sorted(names, key=lambda name: -name.weight):
        best.setdefault((name.key, name.scope), name)
    return tuple(best.values())[:_MOST_NAMES]
