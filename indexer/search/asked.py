"""From what is typed to a `Request`: filters that stand inside the question are taken out of its text.

A filter is a word ``NAME:VALUE`` (``kind:class``, ``lang:go``, ``path:src/**``, ``name:test_*``, ``calls:print``,
``inherits:BaseModel``) or ``NAME:"a value with blanks"``; ``-NAME:VALUE`` and ``NAME:!VALUE`` leave out what it
matches. Any other word with a colon (``std::vector``, ``http://x``) is text, and so is one that can only be code
(``name:str,``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from indexer.search.query import FILTERS, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

_READ = 10_000  # characters in which filters are looked for: behind them there is a pasted file
_FILTER = re.compile(rf'(?<!\S)(-?)({"|".join(FILTERS)}):(!?)(?:"([^"\n]+)"|([^\s"]+))(?!\S)')
_CODE = re.compile(r"[(){},;=]")


class Asked(NamedTuple):
    """The text that is left of a question, and the values of the filters that stood in it."""

    text: str
    filters: dict[str, tuple[str, ...]]


def take_filters(query: str) -> Asked:
    """Take the filters out of a question. Whatever the text, this raises nothing."""
    found: dict[str, tuple[str, ...]] = {}
    left: list[str] = []
    done = 0
    for match in _FILTER.finditer(query, 0, _READ):
        minus, name, exclamation, quoted, plain = match.groups()
        value = quoted or (plain.removesuffix("()") if name == "calls" else plain)
        if not value.strip("!/ ") or (quoted is None and _CODE.search(value)):
            continue
        excluded = "!" if minus or exclamation else ""
        found[name] = (*found.get(name, ()), excluded + value)
        left.append(query[done : match.start()].rstrip())
        done = match.end()
    return Asked("".join([*left, query[done:]]).strip() if found else query, found)


def read_request(
    query: str, given: Mapping[str, tuple[str, ...]], *, literal: bool = False, **options: object
) -> Request:
    """Make a request of a question and the filters ``given`` beside it; of one filter all values count.

    A ``literal`` text stays as it stands. ``options`` are the other fields of `Request`. Raises `QueryError` for what
    cannot be asked.
    """
    text, filters = Asked(query, {}) if literal else take_filters(query)
    values = {name: (*given.get(name, ()), *filters.get(name, ())) for name in FILTERS}
    return Request(text, **values, **options)  # type: ignore[arg-type]  # checked where they come from
