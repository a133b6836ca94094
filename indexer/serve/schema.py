"""What each method takes and gives, as types; `schema` prints them as JSON Schema.

Parameters are decoded by these types, and an unknown field is an error, so that a misspelt one is not silently
ignored; only where LSP says what the parameters are (``initialize``, ``workspace/symbol``) may there be more. Results
are plain objects; their types here are what the tests hold every answer against. A client ignores fields it does not
know. Times are milliseconds, lines are 1-based unless LSP says otherwise.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from indexer import types
from indexer.serve import events
from indexer.serve.protocol import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Mapping

WAIT_MS = 2000  # how long a question waits for freshness, if it does not say otherwise
Count = Annotated[int, Meta(ge=0)]
Line = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Most = Annotated[int, Meta(ge=1, le=1000, description="at most so many hits")]
Millis = Annotated[int, Meta(ge=0, le=600_000, description="milliseconds")]
Words = str | tuple[str, ...]
Mode = Literal["hybrid", "lexical", "dense"]


# --- parameters


class NoParams(Struct, frozen=True):
    """Whatever is given is ignored, so that a client of any version can say it."""


class Initialize(Struct, frozen=True):
    """Hello. ``protocol`` is the client's; without one it is taken to be the daemon's. More fields are ignored."""

    protocol: Any = None


class Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No parameters, and none are ignored."""


class Fresh(Strict, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``wait``: hold every change made before the question, or say why not after ``timeout_ms``. ``now``: as it stands."""

    freshness: events.Freshness = "wait"
    timeout_ms: Millis = WAIT_MS


class SearchParams(Fresh, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question. What is not given is as the settings say. ``literal`` finds ``query`` as exact text.

    Filters: several values of one mean any of them, one that begins with ``!`` leaves out what it matches. They may also
    stand in ``query``, as ``kind:class`` or ``-path:tests``; with filters the rest of it may be empty: then everything that
    passes is listed. ``explain``: tell what each score is made of.
    """

    query: str
    k: Most | None = None
    mode: Mode | None = None
    path: Words = ()
    lang: Words = ()
    kind: Words = ()
    name: Words = ()
    calls: Words = ()
    inherits: Words = ()
    min_score: float | None = None
    literal: bool = False
    explain: bool = False


class SymbolsParams(Fresh, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A name, a part of one, or a glob; ``Class.method`` and ``ns::name`` work. Filters are those of ``index/search``."""

    name: str
    k: Most = 50
    path: Words = ()
    lang: Words = ()
    kind: Words = ()


class RelatedParams(Fresh, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of an indexed file: a path relative to the root, an absolute one inside it, or a file URI.

    ``within`` are the globs of paths that hits may have; these and the other filters are those of ``index/search``.
    """

    path: str
    line: Line
    k: Most | None = None
    within: Words = ()
    lang: Words = ()
    kind: Words = ()


class ReindexParams(Strict, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``full``: make the index anew from nothing."""

    full: bool = False


class SyncParams(Strict, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Wait until the index is current, at most so long."""

    timeout_ms: Millis = WAIT_MS


class WorkspaceSymbolParams(Struct, frozen=True):
    """LSP 3.17, "WorkspaceSymbolParams"; progress tokens are ignored. An empty query lists the first definitions."""

    query: str


class CancelParams(Struct, frozen=True):
    """LSP 3.17, "CancelParams"."""

    id: int | str


# --- results


class Result(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing that is not named here is in a result."""


class SignalObject(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reason for a score: what was seen, and what it adds to the ranking's sum, or takes away.

    The contributions add up to the signal "sum"; what the score makes of it follows, with contributions of 0.
    """

    name: str
    value: float
    contribution: float


class HitObject(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hit. ``also``: other places (path, line) of the same content. ``stale``: the file has changed since."""

    path: str
    start_line: Line
    end_line: Line
    symbol: str
    scope: str
    kind: str
    language: str
    score: float
    text: str
    also: tuple[tuple[str, Line], ...] | UnsetType = UNSET
    stale: bool | UnsetType = UNSET
    explain: tuple[SignalObject, ...] | UnsetType = UNSET


class Answer(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hits, the best first. ``reason`` is there when ``fresh`` is false. ``ms``: milliseconds the search itself took.

    ``weak``: none of the hits is likely to be an answer; absent where that was not judged. ``notes``: what was cut, or is
    nowhere. ``mode`` is "list" for filters without a question.
    """

    epoch: str
    generation: Count
    fresh: bool
    mode: Literal["hybrid", "lexical", "dense", "list", "literal", "symbols", "related"]
    ms: float
    hits: tuple[HitObject, ...]
    weak: bool | UnsetType = UNSET
    notes: tuple[str, ...] | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class Synced(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The generation that answers now. ``reason`` is there when ``fresh`` is false. ``ms``: milliseconds it took."""

    epoch: str
    generation: Count
    fresh: bool
    ms: float
    reason: str | UnsetType = UNSET


class Subscribed(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The generation that answers now; later ones are told as ``index/generation``."""

    epoch: str
    generation: Count


class Daemon(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The process that answers. ``clients``: open connections."""

    pid: int
    protocol: int
    version: str
    clients: Count


class ServerInfo(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "InitializeResult"."""

    name: str
    version: str


class Capabilities(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "ServerCapabilities"; ``experimental.index`` lists our own methods."""

    workspaceSymbolProvider: Literal[True]  # noqa: N815  (LSP's spelling)
    positionEncoding: Literal["utf-16"]  # noqa: N815
    experimental: dict[str, tuple[str, ...]]


class Initialized(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hello back: LSP's "InitializeResult", with the daemon's protocol and version and the root it serves."""

    protocol: int
    version: str
    root: str
    capabilities: Capabilities
    serverInfo: ServerInfo  # noqa: N815


class Position(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "Position": both count from 0, ``character`` in UTF-16 units."""

    line: Count
    character: Count


class Range(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "Range": ``end`` is exclusive."""

    start: Position
    end: Position


class Location(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "Location"."""

    uri: Annotated[str, Meta(pattern="^file:///")]
    range: Range


class SymbolInformation(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "SymbolInformation"."""

    name: str
    kind: Annotated[int, Meta(ge=1, le=26)]
    location: Location
    containerName: str | UnsetType = UNSET  # noqa: N815


class LogMessage(Result, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """LSP 3.17, "LogMessageParams": why an answer that has no room for it may be behind the disk."""

    type: Literal[2]
    message: str


def _status() -> type[Struct]:
    hints = get_type_hints(events.ServiceStatus)
    rows = [(field.name, hints[field.name]) for field in fields(events.ServiceStatus)]
    said = {"__doc__": f"{events.ServiceStatus.__doc__}\n\n``daemon`` is the process that answers."}
    return msgspec.defstruct(
        "Status", [*rows, ("daemon", Daemon)], bases=(Result,), namespace=said, kw_only=True
    )


Status = _status()


class Shape(NamedTuple):
    """What a method takes and gives."""

    params: Any
    result: Any


METHODS: Mapping[str, Shape] = {
    "initialize": Shape(Initialize, Initialized),
    "shutdown": Shape(NoParams, None),
    "exit": Shape(NoParams, None),
    "workspace/symbol": Shape(WorkspaceSymbolParams, tuple[SymbolInformation, ...]),
    "index/search": Shape(SearchParams, Answer),
    "index/symbols": Shape(SymbolsParams, Answer),
    "index/related": Shape(RelatedParams, Answer),
    "index/status": Shape(Strict, Status),
    "index/reindex": Shape(ReindexParams, types.Report),
    "index/sync": Shape(SyncParams, Synced),
    "index/subscribe": Shape(Strict, Subscribed),
    "index/stop": Shape(NoParams, None),
}
# Told by the client, and not answered.
TOLD: Mapping[str, Any] = {"initialized": NoParams, "exit": NoParams, "$/cancelRequest": CancelParams}
# Told by the daemon.
EVENTS: Mapping[str, Any] = {
    "index/generation": events.Generation,
    "index/progress": events.Progress,
    "window/logMessage": LogMessage,
}


def schema() -> dict[str, Any]:
    """Everything as one JSON Schema document (2020-12): ``methods`` and notifications refer into ``$defs``."""
    kinds = [kind for shape in METHODS.values() for kind in shape] + [*TOLD.values(), *EVENTS.values()]
    out, defs = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    found = iter(out)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "indexer: JSON-RPC 2.0 over a Unix socket",
        "protocol": PROTOCOL,
        "methods": {name: {"params": next(found), "result": next(found)} for name in METHODS},
        "notifications_to_daemon": {name: next(found) for name in TOLD},
        "notifications_from_daemon": {name: next(found) for name in EVENTS},
        "$defs": defs,
    }
