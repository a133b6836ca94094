"""The methods: from parameters to the JSON of a result. The table at the end is the list of them.

A handler runs on the event loop and only waits there; what computes goes through the session's lane into a thread, with
the writing of the JSON. Handlers raise `RpcError`, or an `IndexerError` that says whose fault it is; anything else is a
fault of ours.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from indexer import __version__, search
from indexer.answers import answer_object, json_bytes
from indexer.oneshot import text_reader
from indexer.oneshot import told as told_answer
from indexer.search import show
from indexer.serve import lsp, schema
from indexer.serve.calls import params_of
from indexer.serve.events import Generation
from indexer.serve.protocol import PROTOCOL, Code, RpcError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from indexer.search import Corpus
    from indexer.serve.calls import Call
    from indexer.serve.events import Event, Freshness, Service, View
    from indexer.serve.lane import Lane
    from indexer.serve.protocol import Id
    from indexer.types import Hit

    Handler = Callable[["Session", Any], Awaitable[bytes]]
    ReadText = Callable[[str], bytes | None]

T = TypeVar("T")

_SYMBOLS_SHOWN = 256  # definitions that one workspace/symbol brings
_ALWAYS = frozenset({"initialize", "shutdown", "exit", "index/stop"})  # whatever protocol the client speaks


@dataclass(slots=True)
class Session:
    """One connection, as its methods see it.

    ``notify`` sends a notification; ``clients`` counts the open connections. The rest is what the client has said so
    far; once it is ``stopping``, and the answer is out, the daemon is to end.
    """

    service: Service
    lane: Lane
    notify: Callable[[str, Any], None]
    clients: Callable[[], int]
    greeted: bool = False
    mismatch: str = ""
    shut_down: bool = False
    stopping: bool = False
    unsubscribe: Callable[[], None] | None = field(default=None)

    def close(self) -> None:
        """End what was subscribed to."""
        if self.unsubscribe is not None:
            self.unsubscribe()
            self.unsubscribe = None


async def perform(session: Session, call: Call) -> bytes:
    """Do what a request asks and return the JSON of its result. Raises as the module says."""
    method = METHODS.get(call.method)
    if method is None:
        raise RpcError(Code.UNKNOWN_METHOD, f"{call.method[:100]}: there is no such method")
    if session.shut_down and call.method not in _ALWAYS:
        raise RpcError(Code.INVALID_REQUEST, "after shutdown only exit follows")
    if session.mismatch and call.method not in _ALWAYS:
        raise RpcError(Code.FAILED, session.mismatch, {"kind": "ProtocolMismatch"})
    return await method.handler(session, method.read(call.params))


def told(call: Call) -> Id | None:
    """Read a notification: the id of a request that is not wanted any more, or nothing that matters."""
    if call.method == "$/cancelRequest":
        try:
            return params_of(call.params, schema.CancelParams).id
        except RpcError:
            return None  # a notification has no answer, not even this one
    return None


# --- hello and goodbye


async def _initialize(session: Session, params: schema.Initialize) -> bytes:
    session.greeted = True
    session.mismatch = ""
    if params.protocol is not None and params.protocol != PROTOCOL:
        session.mismatch = (
            f"the daemon ({__version__}) speaks protocol {PROTOCOL} and this client {str(params.protocol)[:20]}; "
            "`indexer daemon restart` puts it right"
        )
    own = tuple(name for name in METHODS if name.startswith("index/"))
    return json_bytes(
        {
            "protocol": PROTOCOL,
            "version": __version__,
            "root": str(session.service.root),
            "capabilities": {
                "workspaceSymbolProvider": True,
                "positionEncoding": "utf-16",
                "experimental": {"index": own},
            },
            "serverInfo": {"name": "indexer", "version": __version__},
        }
    )


async def _shutdown(session: Session, _: schema.NoParams) -> bytes:
    """End this connection's work, and nobody else's."""
    session.shut_down = True
    session.close()
    return b"null"


async def _stop(session: Session, _: schema.NoParams) -> bytes:
    session.stopping = True
    return b"null"


# --- questions


def _answer(
    session: Session, view: View, find: Callable[[Corpus, ReadText], search.Found]
) -> Awaitable[bytes]:
    def work() -> bytes:
        read = text_reader(view.space)
        return _encoded(
            answer_object(told_answer(view.corpus, view.reason, lambda corpus: find(corpus, read)))
        )

    return session.lane.run(work)


def _encoded(value: Any) -> bytes:
    """`json_bytes` of what may be large: twenty times as quick, and for as long the interpreter is everybody's."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # a lone surrogate: a name that is no UTF-8
        return json_bytes(value)


def _words(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given


async def _view(session: Session, freshness: Freshness, timeout_ms: int) -> View:
    return await session.service.view(freshness, timeout_ms / 1000)


async def _search(session: Session, params: schema.SearchParams) -> bytes:
    lsp.check_globs(_words(params.path))
    view = await _view(session, params.freshness, params.timeout_ms)
    defaults, embedder = view.space.settings.search, view.space.embedder
    request = search.read_request(
        params.query,
        {name: _words(getattr(params, name)) for name in search.FILTERS},
        literal=params.literal,
        k=defaults.k if params.k is None else params.k,
        mode=params.mode or defaults.mode,
        min_score=defaults.min_score if params.min_score is None else params.min_score,
        weak_below=defaults.weak_below,
        explain=params.explain,
    )
    lsp.check_globs(request.path)
    if params.literal:
        return await _answer(
            session, view, lambda corpus, read: search.literal(corpus, request, read_text=read)
        )
    return await _answer(
        session,
        view,
        lambda corpus, read: search.find(corpus, request, embedder=embedder, read_text=read),
    )


async def _symbols(session: Session, params: schema.SymbolsParams) -> bytes:
    where = search.Filters(path=_words(params.path), lang=_words(params.lang), kind=_words(params.kind))
    view = await _view(session, params.freshness, params.timeout_ms)
    return await _answer(
        session,
        view,
        lambda corpus, read: search.symbols(corpus, params.name, read_text=read, k=params.k, where=where),
    )


async def _related(session: Session, params: schema.RelatedParams) -> bytes:
    where = search.Filters(path=_words(params.within), lang=_words(params.lang), kind=_words(params.kind))
    view = await _view(session, params.freshness, params.timeout_ms)
    settings = view.space.settings.search
    mode = search.resolve_mode(settings.mode, view.space.embedder)
    k = settings.k if params.k is None else params.k

    def find(corpus: Corpus, read: ReadText) -> search.Found:
        path = lsp.path_in_root(session.service.root, params.path)  # here: it may ask the disk
        return search.related(corpus, path, params.line, mode=mode, read_text=read, k=k, where=where)

    return await _answer(session, view, find)


async def _workspace_symbol(session: Session, params: schema.WorkspaceSymbolParams) -> bytes:
    view = await _view(session, "wait", schema.WAIT_MS)
    if not view.fresh and session.greeted:
        # There is no room for it in the answer.
        session.notify("window/logMessage", {"type": 2, "message": f"indexer: {view.reason}"})
    root = session.service.root

    def work() -> bytes:
        read = text_reader(view.space)
        query = params.query.strip()
        if query:
            hits = search.symbols(view.corpus, query, read_text=read, k=_SYMBOLS_SHOWN).hits
        else:
            hits = _definitions(view.corpus, read)
        return _encoded([lsp.symbol_information(root, hit) for hit in hits])

    return await session.lane.run(work)


def _definitions(corpus: Corpus, read: ReadText) -> list[Hit]:
    """The first definitions, by path and place."""
    snapshot = corpus.snapshot
    named = (snapshot.symbol != corpus.string_id("")) & (snapshot.part == 0)
    reader = show.Reader(corpus, read)
    return show.definition_hits(
        reader, [(row, 1.0) for row in np.flatnonzero(named)[:_SYMBOLS_SHOWN].tolist()]
    )


# --- the index itself


async def _status(session: Session, _: schema.Strict) -> bytes:
    daemon = {
        "pid": os.getpid(),
        "protocol": PROTOCOL,
        "version": __version__,
        "clients": session.clients(),
    }
    return json_bytes({**asdict(session.service.status()), "daemon": daemon})


async def _reindex(session: Session, params: schema.ReindexParams) -> bytes:
    return json_bytes(asdict(await session.service.reindex(full=params.full)))


async def _sync(session: Session, params: schema.SyncParams) -> bytes:
    started = time.perf_counter()
    view = await _view(session, "wait", params.timeout_ms)
    snapshot = view.corpus.snapshot
    value: dict[str, Any] = {
        "epoch": snapshot.epoch,
        "generation": snapshot.generation,
        "fresh": view.fresh,
        "ms": round((time.perf_counter() - started) * 1000, 3),
    }
    if not view.fresh:
        value["reason"] = view.reason
    return json_bytes(value)


async def _subscribe(session: Session, _: schema.Strict) -> bytes:
    if session.unsubscribe is None:
        session.unsubscribe = session.service.subscribe(lambda event: _tell(session, event))
    status = session.service.status()
    return json_bytes({"epoch": status.epoch, "generation": status.generation})


def _tell(session: Session, event: Event) -> None:
    name = "index/generation" if isinstance(event, Generation) else "index/progress"
    session.notify(name, asdict(event))


# --- the table


class Method(NamedTuple):
    """A handler, and how its parameters are read from JSON."""

    handler: Handler
    read: Callable[[bytes], Any]


def _strictly(kind: type[T]) -> Callable[[bytes], T]:
    return lambda params: params_of(params, kind)


def _hello(params: bytes) -> schema.Initialize:
    """Whatever a client says with its hello, it is greeted."""
    try:
        return params_of(params, schema.Initialize)
    except RpcError:
        return schema.Initialize()


_HANDLERS: Mapping[str, Handler] = {
    "initialize": _initialize,
    "shutdown": _shutdown,
    "exit": _shutdown,
    "workspace/symbol": _workspace_symbol,
    "index/search": _search,
    "index/symbols": _symbols,
    "index/related": _related,
    "index/status": _status,
    "index/reindex": _reindex,
    "index/sync": _sync,
    "index/subscribe": _subscribe,
    "index/stop": _stop,
}


def _reader(kind: Any) -> Callable[[bytes], Any]:
    if kind is schema.Initialize:
        return _hello
    if kind is schema.NoParams:
        return lambda _: schema.NoParams()
    return _strictly(kind)


METHODS: Mapping[str, Method] = {
    name: Method(handler, _reader(schema.METHODS[name].params)) for name, handler in _HANDLERS.items()
}
