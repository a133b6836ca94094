"""What an answer says of itself: its hits, whether they are any good, and what is to be told about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from indexer.search.corpus import MOST_TERMS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from indexer.search.corpus import Corpus
    from indexer.search.query import Question, Request
    from indexer.types import Hit

_MOST_UNKNOWN = 0.5  # of the informative words of a question, how many may be nowhere in the index


@dataclass(frozen=True, slots=True)
class Found:
    """Hits, the best first, and how they were found.

    ``weak``: nothing that is here is likely to be an answer; None where that was not judged. ``notes`` are lines for
    whoever asked: what was cut, what no file has.
    """

    mode: str
    hits: list[Hit] = field(default_factory=list)
    weak: bool | None = None
    notes: tuple[str, ...] = ()


def judged(
    corpus: Corpus,
    request: Request,
    question: Question,
    found: Found,
    *,
    best: float,
    there: NDArray[np.bool_] | None,
) -> Found:
    """Say whether what is found is any good; ``best`` is the best score, of hits that min_score left out too.

    ``there`` tells of the question's first terms whether they stand anywhere, if the ranking has looked at all of them.

    Hits are weak if the best score is below ``request.weak_below``, or if most of what the question asks about is nowhere
    in the index. Scores of mode "dense" lie on another scale and are not judged.
    """
    if not found.hits:
        note = f"no hit reaches min_score {request.min_score:g}; the best scores {best:.2f}"
        return replace(found, weak=True, notes=(*found.notes, *([note] if best > 0 else [])))
    if found.mode == "dense":
        return found
    if request.weak_below <= 0:
        return replace(found, weak=False)
    unknown = unknown_share(corpus, question, there)
    if best >= request.weak_below and unknown <= _MOST_UNKNOWN:
        return replace(found, weak=False)
    return replace(found, weak=True, notes=(*found.notes, _weak_note(best, request.weak_below, unknown)))


def unknown_share(corpus: Corpus, question: Question, there: NDArray[np.bool_] | None = None) -> float:
    """Which share of the question's terms stands nowhere in the index, neither in a text nor in a name: 0 to 1.

    Of a very long question (a pasted file) the ranking has looked at some of its terms only: then they are looked up.
    """
    count = len(question.terms)
    if not count:
        return 0.0
    if there is not None and count <= MOST_TERMS:
        return 1 - int(np.count_nonzero(there[:count])) / count
    hashes = np.array([term.hash for term in question.terms], np.uint64)
    known = corpus.holding(hashes) > 0
    known[corpus.snapshot.names_holding(hashes).place] = True
    return 1 - int(np.count_nonzero(known)) / count


def _weak_note(best: float, below: float, unknown: float) -> str:
    if best < below:
        return (
            f"no good match: the best of these scores {best:.2f}, right answers usually score above {below:g}"
        )
    return f"no good match: {round(unknown * 100)} % of the question's words are nowhere in the index"
