"""Files of pairs: JSON lines of two texts that should be near each other, what they are, and whose.

``{"left": "...", "right": "...", "kind": "doc", "language": "python", "project": "black"}``. The kinds are ``doc`` (the
first sentence of documentation, and the code it documents), ``name`` (name and signature, and the body), ``comment`` (a comment or
heading, and what follows it), ``zh`` (a sentence in Chinese, and in English), ``zhdoc`` (Chinese documentation, and code).
A pair of a project that no model may be trained on stops the reading.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from xxhash import xxh3_64_intdigest

from indexer.train.excluded import reason

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LONGEST = 3000  # characters of a text that are read: what is behind them seldom says what the whole is about


class PairFileError(ValueError):
    """A line that is no pair, or that may not be trained on; the message names file and line."""


class Pair(NamedTuple):
    """Two texts that should be near each other."""

    left: str
    right: str
    kind: str
    language: str
    project: str


class _Line(msgspec.Struct):
    left: str
    right: str
    kind: str
    language: str
    project: str


def read_pairs(paths: Iterable[Path]) -> Iterator[Pair]:
    """Yield the pairs of all files, each pair of texts once. Raises PairFileError."""
    decoder = msgspec.json.Decoder(_Line)
    seen: set[int] = set()
    for path in sorted(paths):
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    one = decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise PairFileError(f"{path}:{number}: {error}") from error
                why = _excluded(one.project)
                if why:
                    raise PairFileError(f"{path}:{number}: {one.project} may not be trained on: {why}")
                pair = Pair(one.left[:LONGEST], one.right[:LONGEST], one.kind, one.language, one.project)
                key = xxh3_64_intdigest(f"{pair.left}\0{pair.right}".encode("utf-8", "surrogatepass"))
                if key not in seen:
                    seen.add(key)
                    yield pair


_excluded = cache(reason)
