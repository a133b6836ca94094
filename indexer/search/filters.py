"""The filters of a request as a mask over rows, applied before anything is ranked.

- ``path``: globs over paths (`path_pattern`);
- ``lang``: a language's name, or a suffix of its files (``py``, ``c++``);
- ``kind``: a kind of chunk, see `indexer.types.Kind`;
- ``name``: a glob over the names of definitions, or over scope and name where it holds a dot (``Class.get_*``);
  letters' case counts only if there is an upper-case one in it;
- ``inherits``: a glob, as ``name``, over the bases that a class names itself: one whole or its last part
  (``models.Model``, ``Model``), type arguments aside. Bases of bases are not looked at;
- ``calls``: a function's name, qualified or not, see `indexer.search.calls`.

Several values of one filter mean any of them; values that begin with ``!`` leave out what they match.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from indexer.chunk.languages import language_of
from indexer.search.calls import rows_calling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from indexer.search import show
    from indexer.search.corpus import Corpus
    from indexer.search.query import Filters

    Bools = NDArray[np.bool_]

_OTHERWISE_CALLED = {"c#": "csharp", "golang": "go", "shell": "bash", "objective-c": "objc"}
_ARGUMENTS = re.compile(r"[<\[(].*", re.DOTALL)
_MOST_LISTED = 12


class Allowed(NamedTuple):
    """Rows (r,) that may be shown, and what is to be told: what no row has, what could not be looked at."""

    rows: Bools
    notes: list[str]


def allowed_rows(corpus: Corpus, filters: Filters, reader: show.Reader) -> Allowed:
    """Apply all filters; ``reader`` gives the texts in which calls are looked for."""
    mask, notes = np.ones(corpus.rows, np.bool_), []
    if filters.path:
        mask &= np.array(allowed_paths(corpus.snapshot.paths, filters.path), np.bool_)[corpus.file]
        notes += _absent("path", filters.path, mask)
    for filter_name, values, rows_of in (
        ("lang", filters.lang, _of_language),
        ("kind", filters.kind, _of_kind),
        ("name", filters.name, rows_named),
        ("inherits", filters.inherits, _inheriting),
    ):
        if values:
            own = _any_but(values, corpus.rows, partial(rows_of, corpus))
            notes += _absent(filter_name, values, own)
            mask &= own
    if filters.calls:
        left = mask.copy()
        mask &= _any_but(filters.calls, corpus.rows, lambda name: _calling(corpus, reader, name, left, notes))
    if filters.lang and not mask.any():
        notes += _languages_note(corpus, filters.lang)
    return Allowed(mask, notes)


def _any_but(values: Sequence[str], rows: int, rows_of: Callable[[str], Bools]) -> Bools:
    """Rows of any of the values, less those of the values that begin with ``!``."""
    wanted = [value for value in values if not value.startswith("!")]
    mask = np.zeros(rows, np.bool_) if wanted else np.ones(rows, np.bool_)
    for value in wanted:
        mask |= rows_of(value)
    for value in values:
        if value.startswith("!"):
            mask &= ~rows_of(value[1:])
    return mask


def _absent(filter_name: str, values: Sequence[str], mask: Bools) -> list[str]:
    wanted = ", ".join(value for value in values if not value.startswith("!"))
    return [f"{filter_name}: nothing here is {wanted}"] if wanted and len(mask) and not mask.any() else []


def _of_language(corpus: Corpus, value: str) -> Bools:
    name = value.lower()
    column = corpus.snapshot.language
    mask: Bools = column == corpus.string_id(name)
    if mask.any():
        return mask
    other = _OTHERWISE_CALLED.get(name) or language_of(f"x.{name}", b"")
    return mask if other == "text" else column == corpus.string_id(other)


def _languages_note(corpus: Corpus, values: Sequence[str]) -> list[str]:
    """Name the languages that there are, if one that was asked for is not among them."""
    if any(_of_language(corpus, value.removeprefix("!")).any() for value in values):
        return []
    ids, counts = np.unique(corpus.snapshot.language, return_counts=True)
    names = [corpus.snapshot.string(number) for number in ids[np.argsort(-counts, kind="stable")].tolist()]
    return [f"lang: there are {', '.join(names[:_MOST_LISTED])}"]


def _of_kind(corpus: Corpus, value: str) -> Bools:
    mask: Bools = corpus.snapshot.kind == corpus.string_id(value)
    return mask


def rows_named(corpus: Corpus, glob: str) -> Bools:
    """Rows (r,) whose names match a glob."""
    whole = name_pattern(glob)
    mask = _with_symbols(corpus, [number for number, text in corpus.symbols if whole.match(text)])
    scope, dot, last = _dotted(glob).strip(".").rpartition(".")
    if not dot:
        return mask
    below, named = name_pattern(f"*.{scope}"), name_pattern(last)
    rows = np.flatnonzero(
        _with_symbols(corpus, [number for number, text in corpus.symbols if named.match(text)])
    )
    scopes = corpus.snapshot.scope[rows]
    fitting = [s for s in np.unique(scopes).tolist() if below.match("." + _dotted(corpus.snapshot.string(s)))]
    mask[rows[np.isin(scopes, fitting)]] = True
    return mask


def _with_symbols(corpus: Corpus, symbols: Sequence[int]) -> Bools:
    return np.isin(corpus.snapshot.symbol, np.array(symbols, np.uint32))


def _dotted(name: str) -> str:
    return re.sub(r"::|->|[#/]", ".", name)


def name_pattern(glob: str) -> re.Pattern[str]:
    """Compile a glob over names: ``*``, ``?``, ``[ab]``; without an upper-case letter in it case does not count."""
    flags = re.IGNORECASE if glob == glob.lower() else 0
    return re.compile(translate(_dotted(glob)), flags)


def _inheriting(corpus: Corpus, glob: str) -> Bools:
    stack = corpus.snapshot.stack
    bases = stack.column("bases")
    pattern = name_pattern(glob)
    fitting = [n for n in np.unique(bases).tolist() if _is_base(corpus.snapshot.string(n), pattern)]
    bindings = np.zeros(stack.total.bindings, np.bool_)
    bindings[stack.base_owners[np.isin(bases, np.array(fitting, np.uint32))]] = True
    mask: Bools = bindings[corpus.snapshot.rows.binding]
    return mask


def _is_base(text: str, pattern: re.Pattern[str]) -> bool:
    plain = _dotted(_ARGUMENTS.sub("", text)).strip()
    name = plain.rpartition(" ")[2]  # "public Base", "virtual Base"
    return any(pattern.match(form) for form in (text, plain, name, name.rpartition(".")[2]))


def _calling(corpus: Corpus, reader: show.Reader, name: str, among: Bools, notes: list[str]) -> Bools:
    found = rows_calling(corpus, reader, name, among)
    if found.left:
        notes.append(f"calls: {found.left:,} more chunks hold {name} and were not read; add a filter")
    if found.changed:
        notes.append(
            f"calls: {found.changed:,} chunks have changed since they were indexed and were not read"
        )
    return found.rows


def allowed_paths(paths: Sequence[str], globs: Sequence[str]) -> list[bool]:
    """Tell for each path whether any of the globs matches it and none of those that start with ``!``."""
    wanted = [path_pattern(glob) for glob in globs if not glob.startswith("!")]
    unwanted = [path_pattern(glob[1:]) for glob in globs if glob.startswith("!")]
    return [
        (not wanted or any(p.match(path) for p in wanted)) and not any(p.match(path) for p in unwanted)
        for path in paths
    ]


def path_pattern(glob: str) -> re.Pattern[str]:
    """Compile a glob over paths relative to the root.

    ``*`` and ``?`` stop at ``/``, ``**`` does not, ``[ab]`` is a class. A glob with a ``/`` before its end starts at the
    root; any other one matches a file or folder of that name anywhere. What matches a folder matches all below it.
    """
    body = glob.removeprefix("./").strip("/")
    anchored = "/" in body or glob.startswith(("/", "./"))
    head = "" if anchored else "(?:.*/)?"
    return re.compile(f"(?s:{head}{_translate(body)}(?:/.*)?)\\Z")


_PIECE = re.compile(r"(?<![^/])\*\*/|\*+|\?|\[(?:!.|[^!])[^\]]*\]|.", re.DOTALL)
_GAPS = {"*": "[^/]*?", "**/": "(?:[^/]*/)*?", "**": "(?s:.*?)"}


def _translate(glob: str) -> str:
    """The expression of a glob, in which no place is tried twice: clients send what they like.

    What lies between two gaps is looked for at its first place, once (an atomic group): whatever can follow a later
    place can follow the first one too. Only the last piece is bound to an end, and is looked for until it is there.
    """
    stretches: list[tuple[str, list[tuple[str, str]]]] = [("", [("", "")])]
    for piece in _PIECE.findall(glob):
        gap = "**" if piece.startswith("***") else piece
        if gap == "*":
            stretches[-1][1].append((_GAPS[gap], ""))
        elif gap in _GAPS:
            stretches.append((_GAPS[gap], [("", "")]))
        else:
            star, before = stretches[-1][1][-1]
            stretches[-1][1][-1] = star, before + _translate_piece(piece)
    *earlier, (gap, last) = stretches
    atomic = "".join(f"(?>{gap}{_stretch(pieces, last=False)})" for gap, pieces in earlier)
    return atomic + gap + _stretch(last, last=True)


def _stretch(pieces: Sequence[tuple[str, str]], *, last: bool) -> str:
    """The expression of what crosses no component but where it says so; of the ``last`` one the last piece may move."""
    free = pieces[-1:] if last else []
    atomic = "".join(f"(?>{star}{piece})" for star, piece in pieces[: len(pieces) - len(free)])
    return atomic + "".join(star + piece for star, piece in free)


def _translate_piece(piece: str) -> str:
    if piece == "?":
        return "[^/]"
    if len(piece) > 1:
        return _translate_class(piece[1:-1])
    return re.escape(piece)


def _translate_class(inside: str) -> str:
    """A class with every character escaped; a range that runs backwards is the three characters as they stand."""
    negated = inside.startswith("!")
    text, left = "^/" if negated else "", inside[negated:]
    while left:
        is_range = len(left) > 2 and left[1] == "-" and left[0] <= left[2]
        text += "-".join(map(re.escape, left[0:3:2] if is_range else left[0]))
        left = left[3 if is_range else 1 :]
    return f"[{text}]"
