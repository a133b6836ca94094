"""What scores mean in this repository: how those of right answers lie, of wrong ones, and of answers to nonsense.

Right answers are known for questions that are made from the repository itself: a definition's documentation (its first
sentence) and its name, in words, ask for that definition. Both stand in the definition's own text, so that it is found
more easily than by a stranger's question: the scores of right answers are on the optimistic side, those by name less
so. Nonsense is a list of everyday questions (`offtopic`). The sample is the same for equal trees.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer import tokens
from indexer.keys import keys_of
from indexer.search.offtopic import QUESTIONS
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from indexer.search import show
    from indexer.search.columns import I64
    from indexer.search.corpus import Corpus
    from indexer.search.found import Found
    from indexer.types import Chunk, Hit

    Ask = Callable[[str], Found]
    Progress = Callable[[str, int, int], None]

_QUANTILES = (5, 25, 50, 75, 95)
_NONSENSE = "nonsense"
_SAMPLE = 200
_MOST_TRIED = 5000  # definitions that are looked at for documentation
_FEWEST_TERMS = 4  # a shorter sentence says too little to be a question
_DOCUMENTED = frozenset(
    {Kind.FUNCTION, Kind.METHOD, Kind.CLASS, Kind.INTERFACE, Kind.STRUCT, Kind.ENUM, Kind.TRAIT, Kind.TYPE}
)
_MARKS = re.compile(r"""^[\s/*#;"'`!<>|(-]+|[\s*/"'`]+$|^\s*(?:[rbuRBU]{0,2}["']{3})""", re.MULTILINE)
_COMMENT = re.compile(r"\s*(?:/[/*]|\*|#(?![\[!])|--|;|%)")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？]|\n\s*\n|\n\s*[@:\\]")
_TAG = re.compile(r"</?\w[^<>]*>|\{@\w+ ([^{}]*)\}")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


class Example(NamedTuple):
    """A definition, and the two questions that ask for it."""

    path: str
    line: int
    doc: str
    name: str


@dataclass(frozen=True, slots=True)
class Scores:
    """How some scores lie: how many there are, and the score below which 5 %, 25 % ... of them are; 0 without any."""

    count: int
    quantiles: dict[str, float]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scores of right answers and of the best wrong ones, by documentation and by name, and of nonsense.

    ``first``: the share of right answers that come first, ``found``: that are among the hits at all. Thresholds:
    ``keeps_right`` keeps 95 % of the right answers that are found, and lets the share ``nonsense_kept`` of the nonsense
    through; ``drops_nonsense`` shuts out 95 % of the nonsense, and with it the share ``right_dropped`` of the right
    answers. ``weak``: the share of each kind of question whose answer says of itself that it is weak.
    """

    sample: int
    first: dict[str, float]
    found: dict[str, float]
    scores: dict[str, Scores]
    keeps_right: float
    nonsense_kept: float
    drops_nonsense: float
    right_dropped: float
    weak: dict[str, float]


@dataclass(slots=True)
class _Asked:
    """What came of the questions of one kind: scores of right answers and of the best other ones."""

    questions: int = 0
    right: list[float] = field(default_factory=list)
    wrong: list[float] = field(default_factory=list)
    first: int = 0
    weak: int = 0

    def add(self, found: Found, example: Example | None) -> None:
        self.questions += 1
        self.weak += bool(found.weak)
        judged = [(hit.score, example is not None and _is(hit, example)) for hit in found.hits]
        self.right += [score for score, is_right in judged if is_right][:1]
        self.wrong.append(next((score for score, is_right in judged if not is_right), 0.0))
        self.first += bool(judged and judged[0][1])

    def share(self, count: int) -> float:
        return round(count / self.questions, 3) if self.questions else 0.0


def calibrate(corpus: Corpus, reader: show.Reader, ask: Ask, progress: Progress) -> Calibration:
    """Ask all questions and lay out the scores; ``ask`` answers one with its best hits, ``progress`` is told how far."""
    examples = sample(corpus, reader)
    questions: list[tuple[str, str, Example | None]] = []
    for example in examples:
        questions += [("doc", example.doc, example), ("name", example.name, example)]
    questions += [(_NONSENSE, question, None) for question in QUESTIONS]
    asked = {"doc": _Asked(), "name": _Asked(), _NONSENSE: _Asked()}
    for at, (way, question, answer) in enumerate(questions):
        progress("calibrate", at, len(questions))
        asked[way].add(ask(question), answer)
    return _laid_out(asked)


def _laid_out(asked: dict[str, _Asked]) -> Calibration:
    nonsense = asked[_NONSENSE].wrong
    ways = {way: one for way, one in asked.items() if way != _NONSENSE}
    scores = {}
    for way, one in ways.items():
        scores[f"right, by {way}"] = _scores(one.right)
        scores[f"wrong, by {way}"] = _scores(one.wrong)
    scores[_NONSENSE] = _scores(nonsense)
    right = [score for one in ways.values() for score in one.right]
    keeps, drops = _quantile(right, 5), _quantile(nonsense, 95)
    return Calibration(
        asked["doc"].questions,
        {way: one.share(one.first) for way, one in ways.items()},
        {way: one.share(len(one.right)) for way, one in ways.items()},
        scores,
        keeps,
        _share(nonsense, lambda score: score >= keeps),
        drops,
        _share(right, lambda score: score <= drops),
        {way: one.share(one.weak) for way, one in asked.items()},
    )


def _scores(values: Sequence[float]) -> Scores:
    return Scores(len(values), {str(percent): _quantile(values, percent) for percent in _QUANTILES})


def _quantile(values: Sequence[float], percent: int) -> float:
    return round(float(np.percentile(values, percent)), 3) if values else 0.0


def _share(values: Sequence[float], fits: Callable[[float], bool]) -> float:
    return round(sum(map(fits, values)) / len(values), 3) if values else 0.0


def _is(hit: Hit, example: Example) -> bool:
    return (example.path, example.line) in {(hit.path, hit.start_line), *hit.also}


def sample(corpus: Corpus, reader: show.Reader, most: int = _SAMPLE) -> list[Example]:
    """Choose documented definitions, production code first, then by a hash: the same ones for equal trees."""
    snapshot = corpus.snapshot
    kinds = np.array([corpus.string_id(kind) for kind in sorted(_DOCUMENTED)], np.int64)
    defined = np.isin(snapshot.kind, kinds) & (snapshot.part == 0)
    chosen: dict[str, Example] = {}
    for row in _shuffled(corpus, np.flatnonzero(defined & (snapshot.symbol != corpus.string_id(""))))[
        :_MOST_TRIED
    ]:
        if (example := _example(corpus, reader, row)) is not None:
            chosen.setdefault(example.doc, example)
        if len(chosen) == most:
            break
    return list(chosen.values())


def _shuffled(corpus: Corpus, rows: I64) -> list[int]:
    if not len(rows):
        return []
    places = [f"{corpus.path(row)}:{corpus.snapshot.line[row]}" for row in rows.tolist()]
    keys = keys_of([place.encode("utf-8", "surrogateescape") for place in places])[:, 0]
    elsewhere = corpus.tree.places(corpus.file[rows]) != 0
    shuffled: list[int] = rows[np.lexsort((keys, elsewhere))].tolist()
    return shuffled


def _example(corpus: Corpus, reader: show.Reader, row: int) -> Example | None:
    chunk = corpus.snapshot.chunk(row)
    path = corpus.path(row)
    if not reader.is_current(row):
        return None
    sentence = first_sentence(_documentation(reader.text(path) or b"", chunk))
    words = " ".join(_PARTS.findall(chunk.symbol)).lower()
    if len(set(tokens.terms_of(sentence))) < _FEWEST_TERMS or not tokens.terms_of(words):
        return None
    if chunk.scope:
        words += " " + " ".join(_PARTS.findall(chunk.scope.split(".")[-1])).lower()
    return Example(path, chunk.spans[0].start_line, sentence, words)


def _documentation(text: bytes, chunk: Chunk) -> str:
    """Return the definition's documentation: what the chunker found, or the comment above it."""
    start, end = chunk.docstring
    if start < end:
        return text[start:end].decode("utf-8", "replace")
    above = text[chunk.spans[0].start : max(chunk.spans[0].start, chunk.signature[0])].decode(
        "utf-8", "replace"
    )
    return "\n".join(line for line in above.splitlines() if _COMMENT.match(line))


def first_sentence(documentation: str) -> str:
    """Return the first sentence of a comment or docstring, without its marks, on one line."""
    lines = [_MARKS.sub("", line) for line in documentation.splitlines()]
    while lines and not lines[0].strip():
        lines.pop(0)
    plain = _TAG.sub(r"\1", "\n".join(lines))
    end = _SENTENCE_END.search(plain)
    return " ".join(plain[: end.start() if end else len(plain)].split())[:300]
