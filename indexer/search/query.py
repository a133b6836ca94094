"""What is asked: the request as it comes in, and the question as the ranking reads it.

Any text but an empty one is a question; an empty one with filters is a list of what passes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from indexer import tokens
from indexer.errors import QueryError
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

MODES = ("hybrid", "lexical", "dense")
FILTERS = ("path", "lang", "kind", "name", "calls", "inherits")
KINDS = frozenset(value for name, value in vars(Kind).items() if name.isupper())

_READ = 10_000  # characters of a question that are looked at; a pasted file says enough with its beginning
_MOST_NAMES = 24

# What is worth how much as the name of a definition: the question itself, what is written like a name in a sentence,
# neighbouring words run together, a plain word.
_ASKED, _WRITTEN, _JOINED, _PLAIN = 1.0, 0.5, 0.5, 0.15

_NAME = re.compile(r"[^\W\d]\w*(?:(?:::|->|[.#/])~?[^\W\d]\w*)*[!?]?")
_SEPARATOR = re.compile(r"::|->|[.#/]~?")
_SHAPED = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]{2}|::|->|[.#]")
_WORD = re.compile(r"[^\W\d_]\w*")

# How much a question asks for places that are ranked lower otherwise. To mention tests is not yet to ask for them: it is
# what questions about a test framework, or about testing for a condition, do.
_TOPICS = [
    (topic, share, re.compile(rf"\b(?:{words})\b", re.IGNORECASE))
    for topic, share, words in (
        ("test", 0.5, "tests?|testing|tested|testcases?|specs?|mock(?:s|ed|ing)?|fixtures?"),
        (
            "test",
            1.0,
            "(?:tests?|specs?) (?:for|of|that|about|covering)|(?:unit|integration|regression)[ _-]?tests?",
        ),
        ("test", 1.0, "(?:is|are|gets?) \\w+ tested|test[ _-]?(?:case|suite)s?|unit_?tests?|where .* tested"),
        ("example", 1.0, "examples?|samples?|demos?|tutorials?|bench(?:mark)?s?|benchmarking"),
        ("docs", 1.0, "docs?|documentation|readme|guides?|changelog|release notes|licen[cs]e"),
        ("vendor", 1.0, "vendor(?:ed)?|third[ _-]?party|bundled|extern(?:al)?s?"),
        ("generated", 1.0, "generated|minified|protobuf|dist"),
        ("legacy", 1.0, "legacy|deprecated|compat(?:ibility)?|old"),
        (
            "data",
            1.0,
            "config(?:uration)?|settings?|translations?|manifest|lock ?file|build file|css|json|ya?ml|toml",
        ),
    )
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What may be shown. Wrong values: `QueryError`.

    Several values of one filter mean any of them, several filters mean all of them, and a value that begins with ``!``
    leaves out what it matches; see `indexer.search.filters`.
    """

    path: tuple[str, ...] = ()
    lang: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    inherits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for filter_name in FILTERS:
            if not all(value.strip("!/ ") for value in getattr(self, filter_name)):
                raise QueryError(f"{filter_name}: a pattern is empty")
        if wrong := sorted({kind.removeprefix("!") for kind in self.kind} - KINDS):
            raise QueryError(f'kind: "{wrong[0]}" is none of {", ".join(sorted(KINDS))}')
        if patterns := [name for name in self.calls if "*" in name]:
            raise QueryError(f'calls: "{patterns[0]}" is a pattern; give the whole name')

    @property
    def any_given(self) -> bool:
        """Whether there is any filter."""
        return any(getattr(self, name) for name in FILTERS)


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Request(Filters):
    """One question with its filters; with filters it may be empty. Wrong values: `QueryError`.

    ``weak_below`` is the score below which the best hit is said to be weak (0: never); ``explain`` asks for each hit's
    signals.
    """

    query: str
    k: int = 10
    mode: str = "hybrid"
    min_score: float = 0.0
    weak_below: float = 0.0
    explain: bool = False

    def __post_init__(self) -> None:
        if self.k < 1:
            raise QueryError(f"k: expected at least 1, got {self.k}")
        if self.mode not in MODES:
            raise QueryError(f'mode: expected one of {", ".join(MODES)}, got "{self.mode}"')
        Filters.__post_init__(self)
        if not self.query.strip(" \t\r\n\0") and not self.any_given:
            raise QueryError("the question is empty: give some words, a name or a piece of code")


class Term(NamedTuple):
    """A term of the question, its hash, and how much it says."""

    text: str
    hash: int
    weight: float = 1.0


class Name(NamedTuple):
    """Something in the question that may be the name of a definition.

    ``key`` is `name_key` of it, ``scope`` the keys of what stands before it (``Class`` in ``Class.method``). ``weight``
    is 1 if it is all of the question, and less for a plain word in a sentence.
    """

    text: str
    key: str
    scope: tuple[str, ...]
    weight: float


class Question(NamedTuple):
    """A question as the ranking reads it. ``topics``: how much it asks for tests, examples, ...: 0 (left out) to 1."""

    text: str
    terms: tuple[Term, ...]
    names: tuple[Name, ...]
    files: tuple[str, ...]
    topics: Mapping[str, float]
    is_name: bool


def parse(query: str) -> Question:
    """Read a question: its terms, the names in it, the files it mentions, the places it asks for."""
    text = query[:_READ].replace("\0", " ").strip()
    mentions = _NAME.findall(text)
    single = len(text.split()) == 1
    names = [
        name_of(mention, _ASKED if single else _WRITTEN)
        for mention in mentions
        if single or _SHAPED.search(mention)
    ]
    if not single:
        names += _plain_names(text)
    files = tuple(dict.fromkeys(m.lower().rstrip("!?") for m in mentions if "/" in m or "." in m))
    topics: dict[str, float] = {}
    for topic, share, pattern in _TOPICS:
        if share > topics.get(topic, 0.0) and pattern.search(text):
            topics[topic] = share
    return Question(text, _terms(text), _best(names), files, topics, single)


def name_key(name: str) -> str:
    """Return a name without case and underscores: the names that a question may mean by one word are equal then."""
    return name.replace("_", "").casefold() or name


def _terms(text: str) -> tuple[Term, ...]:
    found = list(dict.fromkeys(tokens.terms_of(text)))
    return tuple(map(Term, found, tokens.hash_terms(found).tolist()))


def name_of(mention: str, weight: float = 1.0) -> Name:
    """Read a name with what stands before it: ``Class.method``, ``ns::name``, ``pkg.Func``."""
    parts = [part for part in _SEPARATOR.split(mention) if part] or [mention]
    return Name(parts[-1], name_key(parts[-1]), tuple(name_key(part) for part in parts[:-1]), weight)


def _plain_names(text: str) -> list[Name]:
    """Each plain word as a name, and two or three neighbours run together: "string view" may mean ``StringView``."""
    words = [w for w in _WORD.findall(text) if not w.isascii() or len(w) > 2]
    plain = [name_of(word, _PLAIN) for word in words if word.lower() not in tokens.STOP_WORDS]
    joined = [
        name_of("".join(words[i : i + n]), _JOINED)
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
