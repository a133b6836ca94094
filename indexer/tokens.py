"""The one tokenizer: for postings, for term-based embeddings, for the sizes of chunks.

A *run* is a maximal stretch of ASCII letters, digits, underscores and bytes above 0x7f; every term comes from a
single run, so the terms of a run can be remembered and the rest is arithmetic on arrays. Inside a run:

- an identifier gives its parts, cut at case, digits and underscores, and the whole of it without underscores:
  ``HTTPServer2`` -> http server httpserver2, ``get_queryset`` -> get queryset getqueryset. So ``queryset``,
  ``QuerySet`` and ``query set`` meet. Everything is lower-cased and stemmed lightly (Snowball, English);
- scripts written without spaces (Han, kana, Hangul, Thai ...) give single characters and pairs of neighbours;
- other letters make words: NFKC, case-folded;
- a few English stop words and single ASCII characters give nothing.

A term's number (64 bits) is the upper 40 bits of the xxh3-64 of its UTF-8, then 12 bits that depend on its first
four characters alone, and 12 on its last four (`heads`, `tails`): whoever has only numbers can still tell that two
terms may begin or end alike, which is how the static embedder guesses at a term it has never met.

What is a letter is said here by fixed ranges, and NFKC is that of Unicode 3.2 (frozen in every Python), so that
Pythons with different Unicode tables give the same terms. Case folding is Python's own: it agrees between the
versions we support (3.11 to 3.13), since no cased letter was added between Unicode 14 and 15.1.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections import Counter
from functools import cache
from itertools import chain, compress
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import ucd_3_2_0

import numpy as np
import Stemmer  # type: ignore[import-not-found]  # compiled, without stubs
from xxhash import xxh3_64_intdigest, xxh32_intdigest

from indexer.ragged import firsts, ranges
from indexer.versions import TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

VERSION = TOKENIZER

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from have how if in into is it its not of on or that the this to"
        " was were what when where which who why with",
    )
)

BUCKETS = 4096  # beginnings, and as many endings, that a term's number tells apart
_LONGEST = (
    128  # characters: a longer word (base64, minified code) is one term, whole, and is not cut into parts
)
_BLOCK = (
    4096  # characters: NFKC sorts combining marks quadratically, so a hostile run is normalised in blocks
)
_SLICE = 2_000_000  # bytes counted at once: the arrays stay in the processor's cache
_ROOM = 64_000_000  # bytes that the remembered runs may take, roughly, before they are all forgotten

# Scripts without spaces between words: Thai and Lao, Myanmar, Khmer, kana and Bopomofo, Han, Hangul.
_UNSPACED = (
    "\u0e01-\u0e5b\u0e81-\u0eff\u1000-\u109f\u1780-\u17dd\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Everything else above ASCII that is no punctuation, symbol, emoji, private or special code point. Letter-like
# symbols (2100-214f, 1d400-1d7ff, ff10-ff5a) are here because NFKC makes plain letters of them.
_OTHER = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0e00\u0e5c-\u0e80\u0f00-\u0fff\u10a0-\u177f\u17de-\u1fff"
    "\u2071\u207f\u2090-\u209c\u2100-\u218b\u2c00-\u2dff\ua000-\uabff\ud7b0-\ud7ff\ufb00-\ufdff\ufe70-\ufefc"
    "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U00010000-\U0001cfff\U0001d400-\U0001d7ff\U0001e000-\U0001efff"
)
# Parts of an ASCII identifier; between them are the others, lower-case ones, and underscores.
_PARTS = re.compile("([0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z]+)")
_FOLDED_PARTS = re.compile("[0-9]+|[^0-9_]+")

_WORD_BYTES = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz") | frozenset(
    range(128, 256)
)
_RUNS = bytes(
    b if b in _WORD_BYTES else 0x20 for b in range(256)
)  # translate, then split: 4x as fast as a regex
_IN_WORD = 0x61
_EDGES = bytes(_IN_WORD if b in _WORD_BYTES else 0x20 for b in range(256))

_stem = Stemmer.Stemmer("english", 0).stemWord


class TermCounts(NamedTuple):
    """How often each term stands in each of n texts, as compressed rows.

    Text i has ``terms[offsets[i]:offsets[i + 1]]``, ascending and unique, and their ``counts``, which stop at 65535.
    """

    offsets: NDArray[np.int64]
    terms: NDArray[np.uint64]
    counts: NDArray[np.uint16]

    def take(self, rows: Sequence[int] | NDArray[np.int64]) -> TermCounts:
        """Return those of some of the texts, in the order of ``rows``."""
        lengths = np.diff(self.offsets)[rows]
        at = ranges(self.offsets[rows], lengths)
        return TermCounts(np.append(0, np.cumsum(lengths)), self.terms[at], self.counts[at])

    @staticmethod
    def joined(parts: Sequence[TermCounts]) -> TermCounts:
        """Return those of the texts of all parts, one after the other."""
        sizes = [np.diff(part.offsets) for part in parts]
        return TermCounts(
            np.concatenate([[0], *sizes]).cumsum(dtype=np.int64),
            np.concatenate([np.empty(0, np.uint64), *(part.terms for part in parts)]),
            np.concatenate([np.empty(0, np.uint16), *(part.counts for part in parts)]),
        )


@cache
def _words() -> re.Pattern[str]:
    """Match the words of a run above ASCII. Made when it is first needed, as the next two, which takes milliseconds."""
    return re.compile(f"[{_UNSPACED}]+|[0-9A-Za-z_{_OTHER}]+")


@cache
def _units() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]|[0-9A-Za-z_{_OTHER}]+")


@cache
def _an_unspaced() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


def runs_of(text: bytes) -> list[bytes]:
    """Return the runs of a text, in order, repeated as often as they occur."""
    return text.translate(_RUNS).split()


def is_unspaced(term: str) -> bool:
    """Whether a term is of a script that is written without spaces between words."""
    return _an_unspaced().match(term) is not None


def terms_of(text: str | bytes) -> list[str]:
    """Return the terms of a text as readable strings, in order, repeated as often as they occur."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return [term for run in runs_of(data) for term in _terms_of_run(run)]


def hash_terms(terms: Sequence[str]) -> NDArray[np.uint64]:
    """Return the number of each term, shape (len(terms),); the module's docstring says what is in it."""
    return np.fromiter(map(_hash, terms), np.uint64, len(terms))


def heads(terms: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return what stands for the first four characters of each term, 0 to `BUCKETS` - 1."""
    return (terms >> np.uint64(12)).astype(np.int64) & (BUCKETS - 1)


def tails(terms: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return what stands for the last four characters of each term, 0 to `BUCKETS` - 1."""
    return terms.astype(np.int64) & (BUCKETS - 1)


def count_terms(texts: Sequence[bytes]) -> TermCounts:
    """Count the hashed terms of each text: the same as counting ``hash_terms(terms_of(text))``, only quicker."""
    parts = [_count_slice(part) for part in _slices(texts)]
    return parts[0] if len(parts) == 1 else TermCounts.joined(parts)


def count_one(text: str) -> TermCounts:
    """`count_terms` of one text that is short and not worth a vocabulary, such as a question."""
    numbers = map(_hash, terms_of(text))
    often = sorted(Counter(numbers).items())
    return TermCounts(
        np.array([0, len(often)], np.int64),
        np.array([number for number, _ in often], np.uint64),
        np.array([min(count, 65535) for _, count in often], np.uint16),
    )


def size(data: bytes) -> int:
    """Return the number of words: an identifier or number is one, a Han, kana, Hangul or Thai character is one."""
    edges = data.translate(_EDGES)
    runs = edges.count(b" a") + edges.startswith(b"a")
    if data.isascii():
        return runs
    wide = [run for run in runs_of(data) if not run.isascii()]
    return runs - len(wide) + sum(len(_units().findall(run.decode("utf-8", "replace"))) for run in wide)


def sizes(data: bytes, bounds: Sequence[tuple[int, int]]) -> list[int]:
    """Return the `size` of some ranges of ``data``, none of them empty."""
    if not data.isascii():
        return [size(data[start:end]) for start, end in bounds]
    edges = data.translate(_EDGES)
    return [edges.count(b" a", start, end) + (edges[start] == _IN_WORD) for start, end in bounds]


def _hash(term: str) -> int:
    whole = term.encode("utf-8", "surrogatepass")
    head, tail = whole[:4], whole[-4:]
    if len(whole) != len(term):
        head, tail = term[:4].encode("utf-8", "surrogatepass"), term[-4:].encode("utf-8", "surrogatepass")
    upper = xxh3_64_intdigest(whole) & 0xFFFFFFFFFF000000
    # Two seeds, so that short terms, which begin and end with the same four, do not meet the same others twice.
    return upper | (xxh32_intdigest(head, 0) & 0xFFF) << 12 | xxh32_intdigest(tail, 1) & 0xFFF


def _terms_of_run(run: bytes) -> list[str]:
    if run.isascii():
        return _identifier(run.decode("ascii"))
    text = run.decode("utf-8", "replace")
    terms: list[str] = []
    for start in range(0, len(text), _BLOCK):
        block = ucd_3_2_0.normalize("NFKC", text[start : start + _BLOCK])
        for word in _words().findall(block):
            terms += _unspaced(word) if _an_unspaced().match(word) else _identifier(word)
    return terms


def _identifier(word: str) -> list[str]:
    """Return the parts of an identifier, then the whole of it where that is something else."""
    if len(word) > _LONGEST:
        whole = word.replace("_", "").casefold()
        return [whole] if whole else []
    if word.isascii():
        parts = _parts_of([word])[0]
    else:
        folded = word.casefold()
        # Of Cherokee the lower case is not the folded one.
        parts = [part.lower() for part in _FOLDED_PARTS.findall(folded)]
        if len(parts) > 1:
            parts.append(folded.replace("_", ""))
    return [_stem(part) for part in parts if _counts(part)]


def _parts_of(words: Sequence[str]) -> list[list[str]]:
    """Return the parts of each ASCII identifier, then the whole of it where that is something else, in lower case."""
    spaced = " ".join(_PARTS.split("\n".join(words))).replace("_", " ").lower()
    found = [line.split() for line in spaced.split("\n")] if words else []
    for parts in found:
        if len(parts) > 1:
            parts.append("".join(parts))
    return found


def _counts(part: str) -> bool:
    """Whether a part makes a term."""
    return part not in STOP_WORDS and (len(part) > 1 or not part.isascii())


def _unspaced(word: str) -> list[str]:
    return [*word, *(word[i : i + 2] for i in range(len(word) - 1))]


class _Numbered(dict[str, int]):
    """Terms -> their places in ``hashes``, their numbers."""

    def __init__(self) -> None:
        self.hashes = array("Q")

    def __missing__(self, term: str) -> int:
        place = self[term] = len(self.hashes)
        self.hashes.append(_hash(term))
        return place


class _Parts(dict[str, int]):
    """Parts of identifiers, in lower case -> the place of their term, -1 where they make none."""

    def __init__(self, terms: _Numbered) -> None:
        self._terms = terms

    def __missing__(self, part: str) -> int:
        place = self[part] = self._terms[_stem(part)] if _counts(part) else -1
        return place


class _Vocabulary(dict[bytes, int]):
    """Runs seen by this thread -> their number. Run i's terms are at ``lengths[i]`` ``places`` from ``starts[i]`` on.

    It only saves time: what is in it never changes a result. Threads do not share one, so that no lock can be
    caught half-held by a fork.
    """

    def __init__(self) -> None:
        self._terms = _Numbered()
        self._parts = _Parts(self._terms)
        self._new: list[bytes] = []  # runs that have a number, and whose terms are not looked at yet
        self.starts = self.lengths = self.places = np.zeros(0, np.int64)
        self.room = 0

    def __missing__(self, run: bytes) -> int:
        number = self[run] = len(self)
        self._new.append(run)
        return number

    def numbers(self, texts: Sequence[bytes], sizes: list[int]) -> NDArray[np.int64]:
        """Number the runs of texts, one text after the other; ``sizes`` takes how many each has."""

        def runs(text: bytes) -> list[bytes]:
            found = runs_of(text)
            sizes.append(len(found))
            return found

        # One array for all of them: of names, which are short, to make an array takes longer than all else.
        return np.fromiter(map(self.__getitem__, chain.from_iterable(map(runs, texts))), np.int64)

    def learn(self) -> None:
        """Find the terms of the new runs: all at once, which takes half as long as one by one."""
        new, self._new = self._new, []
        plain = [run.isascii() and len(run) <= _LONGEST for run in new]
        cut = _parts_of([run.decode("ascii") for run in compress(new, plain)])
        others = [_terms_of_run(run) for run, done in zip(new, plain, strict=True) if not done]
        places = [
            *map(self._parts.__getitem__, chain.from_iterable(cut)),
            *map(self._terms.__getitem__, chain.from_iterable(others)),
        ]
        order = np.argsort(~np.array(plain, np.bool_), kind="stable")
        sizes = np.array([*map(len, cut), *map(len, others)], np.int64)
        self._add(np.repeat(order, sizes), np.array(places, np.int64), order)
        self.room += sum(map(len, new)) + 200 * len(new) + 50 * len(places)

    def _add(self, run: NDArray[np.int64], places: NDArray[np.int64], order: NDArray[np.int64]) -> None:
        """Add rows for the new runs: ``places`` by ``run``, the runs one after the other in ``order``."""
        there = places >= 0
        lengths = np.bincount(run[there], minlength=len(order))
        ends = np.cumsum(lengths[order])
        starts = np.empty(len(order), np.int64)
        starts[order] = ends - lengths[order] + len(self.places)
        self.starts = np.concatenate([self.starts, starts])
        self.lengths = np.concatenate([self.lengths, lengths])
        self.places = np.concatenate([self.places, places[there]])

    def hashes(self) -> NDArray[np.uint64]:
        """Return the number of the term at each place."""
        return np.array(
            self._terms.hashes
        )  # a copy: a view would forbid the array to grow while anybody held it


_local = threading.local()


def _vocabulary() -> _Vocabulary:
    vocabulary: _Vocabulary | None = getattr(_local, "vocabulary", None)
    if vocabulary is None or vocabulary.room > _ROOM:
        vocabulary = _local.vocabulary = _Vocabulary()
    return vocabulary


def _slices(texts: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Cut the texts where about `_SLICE` bytes are together (also bounds what a vocabulary takes in at once)."""
    start = total = 0
    for i, text in enumerate(texts):
        total += len(text)
        if total >= _SLICE:
            yield texts[start : i + 1]
            start, total = i + 1, 0
    if start < len(texts) or not texts:
        yield texts[start:]


def _count_slice(texts: Sequence[bytes]) -> TermCounts:
    vocabulary = _vocabulary()
    _local.vocabulary = None  # one that fails half-way (no memory left, Ctrl-C) is not whole any more
    sizes: list[int] = []
    words = vocabulary.numbers(texts, sizes)
    vocabulary.learn()
    lengths = vocabulary.lengths[words]
    owner = np.repeat(np.repeat(np.arange(len(texts)), sizes), lengths)
    places = vocabulary.places[ranges(vocabulary.starts[words], lengths)]
    _local.vocabulary = vocabulary
    return _compress(len(texts), owner, places, vocabulary.hashes())


def _compress(
    n: int, owner: NDArray[np.int64], places: NDArray[np.int64], hashes: NDArray[np.uint64]
) -> TermCounts:
    """Count (text, term) pairs, the terms given by their places in ``hashes``, in the order of text and number."""
    there = np.zeros(len(hashes), np.bool_)
    there[places] = True
    used = np.flatnonzero(there)
    rank = np.empty(len(hashes), np.int64)
    order = np.argsort(hashes[used])
    ordered = hashes[used[order]]
    # Two terms may have one number. (`numpy.unique` would do, at the cost of importing `numpy.ma`: 30 ms.)
    new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    rank[used[order]] = np.cumsum(new) - 1
    terms = ordered[new]
    bits = len(terms).bit_length()
    pairs, counts = _runs_of(np.sort(owner << bits | rank[places]))
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(pairs >> bits, minlength=n), out=offsets[1:])
    return TermCounts(offsets, terms[pairs & ((1 << bits) - 1)], np.minimum(counts, 65535).astype(np.uint16))


def _runs_of(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values of a sorted array and how often each occurs."""
    first = firsts(keys)
    return keys[first], np.diff(first, append=len(keys))
