"""Answers as programs read them, whichever door they come through: the command line's ``--json`` or the socket."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexer.oneshot import Answer
    from indexer.types import Hit


def json_bytes(value: Any) -> bytes:
    r"""One JSON text without a line break, in UTF-8. Lone surrogates (bytes of names that are no UTF-8) are escapes."""
    text = json.dumps(value, ensure_ascii=False)
    # A lone surrogate, as Python's escape \udcff, is also JSON's.
    return text.encode("utf-8", "backslashreplace")


def as_json(value: Any) -> str:
    """`json_bytes` as text that any stream of UTF-8 takes."""
    return json_bytes(value).decode("utf-8")


def hit_object(hit: Hit) -> dict[str, Any]:
    """One hit as the contract has it; ``also``, ``stale`` and ``explain`` only where there is something to say."""
    # `asdict` would load `dataclasses` in a client that needs nothing else of it, and copies what need not be copied.
    value: dict[str, Any] = {name: getattr(hit, name) for name in hit.__dataclass_fields__}
    if not hit.also:
        del value["also"]
    if not hit.stale:
        del value["stale"]
    if hit.explain:
        value["explain"] = [signal._asdict() for signal in hit.explain]
    else:
        del value["explain"]
    return value


def answer_object(answer: Answer) -> dict[str, Any]:
    """One answer as the contract has it, with its epoch; ``reason`` only where it is not fresh.

    ``weak`` is there where that was judged, ``notes`` where there are any.
    """
    value: dict[str, Any] = {
        "epoch": answer.epoch,
        "generation": answer.generation,
        "fresh": answer.fresh,
        "mode": answer.mode,
        "ms": answer.ms,
        "hits": [hit_object(hit) for hit in answer.hits],
    }
    if answer.weak is not None:
        value["weak"] = answer.weak
    if answer.notes:
        value["notes"] = list(answer.notes)
    if answer.reason:
        value["reason"] = answer.reason
    return value
