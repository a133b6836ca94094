"""The filters of a request as a mask over rows, applied before anything is ranked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from indexer.search.corpus import Corpus
    from indexer.search.query import Request


def allowed_rows(corpus: Corpus, request: Request) -> NDArray[np.bool_]:
    """Rows (r,) that may be shown."""
    snapshot = corpus.snapshot
    mask = np.ones(corpus.rows, np.bool_)
    if request.path:
        mask &= np.array(allowed_paths(snapshot.paths, request.path), np.bool_)[corpus.file]
    if request.lang:
        mask &= _in(snapshot.language, [snapshot.string_id(lang.lower()) for lang in request.lang])
    if request.kind:
        mask &= _in(snapshot.kind, [snapshot.string_id(kind) for kind in request.kind])
    return mask


def _in(column: NDArray[np.uint32], wanted: Sequence[int | None]) -> NDArray[np.bool_]:
    return np.isin(column, np.array([number for number in wanted if number is not None], np.uint32))


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


_PIECE = re.compile(r"\*\*/|\*+|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def _translate(glob: str) -> str:
    return "".join(map(_translate_piece, _PIECE.findall(glob)))


def _translate_piece(piece: str) -> str:
    match piece:
        case "**/":
            return "(?:.*/)?"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
    if piece.startswith("**"):
        return ".*"
    if len(piece) > 1:
        return _translate_class(piece[1:-1])
    return re.escape(piece)


def _translate_class(inside: str) -> str:
    negated = inside.startswith("!")
    # Escaped as a whole, then the range's hyphen is given its meaning back.
    text = re.escape(inside[negated:]).replace(r"\-", "-")
    try:
        re.compile(f"[{text}]")
    except re.error:  # a range that runs backwards: the characters as they stand
        text = text.replace("-", r"\-")
    return f"[{'^/' if negated else ''}{text}]"
