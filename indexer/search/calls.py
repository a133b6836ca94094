"""Which chunks call a function: those that hold its name, by the postings; then each one's text is read to make sure.

A call is the name as the language applies it (`lexis`), outside comments and strings and not where it is defined; a
call inside an interpolated string counts. The name may be qualified (``os.open``): what stands before it must stand
there in the text. Case counts, but in PHP and SQL. A chunk of a file that has changed since is not looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from indexer import tokens
from indexer.search.lexis import LEXIS
from indexer.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from indexer.search import show
    from indexer.search.corpus import Corpus
    from indexer.search.lexis import Lexis
    from indexer.types import Chunk

MOST_FILES = 4000  # that are read for one name
MOST = 5000  # chunks with the name in them that are read closely

_SEPARATOR = re.compile(r"\.|::|->|#|/")
_BEFORE = re.compile(rb"([\w\x80-\xff]+|[>\])])[ \t]*([ \t]|[*&]+)\Z")
_DEFINING = frozenset(
    b"def defp defmacro defmacrop function func fn fun sub class struct interface trait enum record object type module"
    b" macro proc procedure method let val external".split()
)
# Words that may stand before an expression, where two neighbouring words are otherwise a type and a name.
_EXPRESSION = frozenset(
    b"return new else throw await yield case in and or not go defer do delete sizeof typeof co_await co_return co_yield"
    b" instanceof is as when where from select assert void async of if while goto using then match with begin"
    b" lazy".split()
)
_DECLARING = frozenset(
    {Kind.INTERFACE, Kind.ENUM}
)  # what looks like a call in them is a signature or a variant
_LONGEST_ARGUMENTS = 2000


@dataclass(slots=True)
class Calling:
    """Rows (r,) that call, and how many could not be judged: too many of them, or changed since they were indexed."""

    rows: NDArray[np.bool_]
    left: int = 0
    changed: int = 0


def rows_calling(corpus: Corpus, reader: show.Reader, name: str, among: NDArray[np.bool_]) -> Calling:
    """Find the rows of ``among`` whose text calls ``name``: of very many the first, by path and place."""
    found = Calling(np.zeros(corpus.rows, np.bool_))
    code = np.array([corpus.string_id(language) for language in LEXIS], np.int64)
    rows = np.flatnonzero(_holding(corpus, name, among) & np.isin(corpus.snapshot.language, code))
    files, first = np.unique(corpus.file[rows], return_index=True)
    groups = np.split(rows, first[1:])
    mentioning: list[int] = []
    others: list[int] = []
    for at, file in enumerate(files.tolist()):
        if at == MOST_FILES or len(mentioning) >= MOST:
            found.left = sum(map(len, groups[at:]))
            break
        for row, mentions in _mentions(corpus, reader, file, groups[at].tolist(), name):
            (mentioning if mentions else others).append(row)
    current = reader.are_current(mentioning)
    found.changed = sum(1 for is_so in (*current, *reader.are_current(others)) if not is_so)
    for row in (row for row, is_so in zip(mentioning, current, strict=True) if is_so):
        chunk = corpus.snapshot.chunk(row)
        text = reader.text(corpus.path(row)) or b""
        found.rows[row] = chunk.kind not in _DECLARING and _calls(
            text, chunk, name, _first_byte(corpus, row, chunk)
        )
    return found


def _mentions(
    corpus: Corpus, reader: show.Reader, file: int, rows: Sequence[int], name: str
) -> list[tuple[int, bool]]:
    """Rows of a file, and whether the last part of the name stands in each; none if it is nowhere in the file."""
    text = reader.text(corpus.snapshot.paths[file])
    if text is None:
        return [(row, False) for row in rows]
    language = corpus.snapshot.string(int(corpus.snapshot.language[rows[0]]))
    mention = _mention_of(name, ignore_case=LEXIS[language].ignore_case)
    places = [place.start() for place in mention.finditer(text)]
    if not places:
        return []
    spans = [(row, corpus.snapshot.spans(row)) for row in rows]
    return [(row, any(s.start <= at < s.end for s in own for at in places)) for row, own in spans]


@lru_cache(16)
def _mention_of(name: str, *, ignore_case: bool) -> re.Pattern[bytes]:
    # It begins with plain text, which is searched for many times as fast as anything else.
    last = _parts(name)[-1].encode("utf-8", "surrogateescape")
    return re.compile(re.escape(last) + rb"(?![\w\x80-\xff])", re.IGNORECASE if ignore_case else 0)


def _parts(name: str) -> list[str]:
    return [part for part in _SEPARATOR.split(name) if part] or [name]


def _holding(corpus: Corpus, name: str, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows with all the terms of the name's parts in their text."""
    contents = np.ones(corpus.snapshot.content_count, np.bool_)
    for term in tokens.hash_terms(list(dict.fromkeys(tokens.terms_of(name)))).tolist():
        holding = np.zeros(len(contents), np.bool_)
        holding[corpus.snapshot.postings(term)[0]] = True
        contents &= holding
    return among & contents[corpus.content]


def _first_byte(corpus: Corpus, row: int, chunk: Chunk) -> int:
    """Where to begin to read: a part of a split definition, or of the rest of a file, may begin inside a string."""
    if chunk.kind == Kind.REST:
        return 0
    parent = corpus.snapshot.parent(row)
    return corpus.snapshot.spans(parent)[0].start if chunk.part and parent >= 0 else chunk.spans[0].start


def _calls(text: bytes, chunk: Chunk, name: str, begin: int) -> bool:
    call = _call_of(chunk.language, name)
    first = True
    for span in chunk.spans:
        start = begin if first else span.start
        first = False
        defined = call.last == chunk.symbol
        for at in call.places(text, start, span.end):
            if defined and chunk.signature[0] <= at < chunk.signature[1]:
                defined = False  # the first time it is its own name
            elif at >= span.start:
                return True
    return False


class _Call:
    """How one name is called in one language."""

    def __init__(self, lexis: Lexis, name: str) -> None:
        parts = _parts(name)
        self.last = parts[-1]
        self._lexis = lexis
        self._head = parts[0].encode("utf-8", "surrogateescape")
        between = rb"\s{0,40}(?:\?\.|\.|::|->|#|/|:)\s{0,40}"
        joined = between.join(re.escape(part.encode("utf-8", "surrogateescape")) for part in parts)
        named = rb"(?<![\w\x80-\xff" + lexis.sigils + rb"])" + joined + rb"(?![\w\x80-\xff])"
        call = lexis.call.replace(b"NAME", named)
        flags = re.IGNORECASE if lexis.ignore_case else 0
        self.pattern = re.compile(call, flags)
        self._scanner = re.compile(rb"(?P<skip>" + lexis.skip + rb")|(?:" + call + rb")", flags)
        self._hole = re.compile(lexis.hole) if lexis.hole else None

    def places(self, text: bytes, start: int, end: int) -> Iterator[int]:
        """Yield where in a range the name is called."""
        # On beyond the end: a string that goes on there is one all the same.
        for match in self._scanner.finditer(text, start):
            if match.start() >= end:
                return
            if match["skip"] is None:
                at = max(match.start(), text.find(self._head, match.start(), match.end()))
                if not self._declares(text, match.start(), at, match.end()):
                    yield at
            elif self._called_within(text, match):
                yield match.start()

    def _called_within(self, text: bytes, skipped: re.Match[bytes]) -> bool:
        """Tell whether the name is called in the code inside a string."""
        if self._hole is None:
            return False
        before = text[max(0, skipped.start() - 2) : skipped.start()]
        if self._lexis.prefix and not any(byte in before for byte in self._lexis.prefix):
            return False
        return any(self.pattern.search(hole[1]) for hole in self._hole.finditer(skipped[0]))

    def _declares(self, text: bytes, start: int, at: int, end: int) -> bool:
        """Tell a declaration from a call, by what stands before the name and behind the parentheses."""
        before = _BEFORE.search(text, max(0, at - 100), at)
        if before is not None:
            word = before[1]
            if word in _DEFINING:
                return True
            if self._lexis.heads:
                return word not in _EXPRESSION and word != b">"
            if self._lexis.typed and word not in _EXPRESSION:
                # "char *name(" and "T& name(" declare; "a * name(" multiplies.
                return word not in {b")", b"]"}
        return self._lexis.blocks and text[end - 1 : end] == b"(" and _opens_block(text, end, start)


def _opens_block(text: bytes, at: int, start: int) -> bool:
    """Tell whether a block follows the parenthesis that was opened just before ``at``: a method is defined there."""
    line = text[text.rfind(b"\n", 0, start) + 1 : start]
    if re.fullmatch(rb"[ \t]*(?:[a-z]+[ \t]+)*[*]?", line) is None:
        return False
    depth = 1
    for bracket in re.finditer(rb"[()]", text[at : at + _LONGEST_ARGUMENTS]):
        depth += 1 if bracket[0] == b"(" else -1
        if depth == 0:
            behind = text[at + bracket.end() : at + bracket.end() + 200]
            return re.match(rb"\s*(?::[^={};()\n]*|throws[\w\s,.]*)?\{", behind) is not None
    return False


@lru_cache(256)
def _call_of(language: str, name: str) -> _Call:
    return _Call(LEXIS[language], name)
