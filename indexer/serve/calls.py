"""From the body of a message to calls: what JSON-RPC 2.0 allows, and a clear error for everything else.

A body is looked at no deeper than it must be. Parameters stay bytes until their method says what they should be; what
does not fit is refused at the first value that does not, and never becomes Python objects.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import msgspec

from indexer.serve.protocol import Code, RpcError

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexer.serve.protocol import Id

T = TypeVar("T")

_MAX_BATCH_BYTES = 1024 * 1024  # a batch of numbers makes forty times its size in objects
_MAX_SECOND_CHANCE = 64 * 1024
_NOTHING = msgspec.Raw(b"null")


class Call(NamedTuple):
    """One call; without an ``id`` it is a notification. ``params`` is JSON."""

    id: Id | None
    method: str
    params: bytes


class Wrong(NamedTuple):
    """What is no call, and the error to answer with; ``id`` is None where none can be read."""

    id: Id | None
    error: RpcError


class Calls(NamedTuple):
    """The calls of one message; of a ``batch`` the answers go out together. A client's own answers are left out."""

    calls: tuple[Call | Wrong, ...]
    batch: bool


class _Envelope(msgspec.Struct):
    jsonrpc: msgspec.Raw = _NOTHING
    id: msgspec.Raw = _NOTHING
    method: msgspec.Raw = _NOTHING
    params: msgspec.Raw = _NOTHING
    result: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING


_envelope = msgspec.json.Decoder(_Envelope)
_id = msgspec.json.Decoder(int | str)
_method = msgspec.json.Decoder(str)
_version = msgspec.json.Decoder(Literal["2.0"])
_batch = msgspec.json.Decoder(list[msgspec.Raw])
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def read_calls(body: bytes, most: int) -> Calls:
    """Read one message, a batch of at most ``most`` calls. Whatever the bytes, this raises nothing."""
    if body.lstrip()[:1] != b"[":
        return Calls(tuple(_read(body)), batch=False)
    try:
        parts = _parts(body, most)
    except RpcError as error:
        return Calls((Wrong(None, error),), batch=False)
    return Calls(tuple(call for part in parts for call in _read(bytes(part))), batch=True)


def _parts(body: bytes, most: int) -> list[msgspec.Raw]:
    if len(body) > _MAX_BATCH_BYTES:
        raise RpcError(Code.INVALID_REQUEST, f"a batch is at most {_MAX_BATCH_BYTES} bytes long")
    parts = _decode(_batch, body, _parts_again)
    if not 0 < len(parts) <= most:
        raise RpcError(Code.INVALID_REQUEST, f"a batch holds 1 to {most} calls, not {len(parts)}")
    return parts


def _read(body: bytes) -> list[Call | Wrong]:
    """Read one call; an answer of the client's is none. We ask clients nothing, so that there is nothing to answer."""
    try:
        envelope = _decode(_envelope, body, _envelope_again)
    except RpcError as error:
        return [Wrong(None, error)]
    if envelope.method is _NOTHING and not (envelope.result is _NOTHING and envelope.error is _NOTHING):
        return []
    number: Id | None = None
    try:
        number = None if envelope.id is _NOTHING else _field(_id, envelope.id, "id")
        _field(_version, envelope.jsonrpc, "jsonrpc")
        return [Call(number, _field(_method, envelope.method, "method"), bytes(envelope.params))]
    except RpcError as error:
        return [Wrong(number, error)]


def _field(decoder: msgspec.json.Decoder[T], value: msgspec.Raw, name: str) -> T:
    """Read one field of a request; what it is not makes the request invalid (JSON-RPC 2.0, section 4)."""
    if value is _NOTHING:
        raise RpcError(Code.INVALID_REQUEST, f"{name}: missing")
    try:
        return decoder.decode(value)
    except msgspec.MsgspecError as error:
        raise RpcError(Code.INVALID_REQUEST, f"{name}: {error}") from None


def _decode(decoder: msgspec.json.Decoder[T], body: bytes, again: Callable[[Any], T]) -> T:
    try:
        try:
            return decoder.decode(body)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            if not _second_chance(body):
                raise
        return again(json.loads(body))
    except msgspec.ValidationError as error:
        raise RpcError(Code.INVALID_REQUEST, f"a request is a JSON object: {error}") from None
    except ValueError as error:
        raise RpcError(Code.PARSE, str(error)) from None
    except RecursionError:
        raise RpcError(Code.PARSE, "JSON is nested too deeply") from None


def _second_chance(body: bytes) -> bool:
    return len(body) <= _MAX_SECOND_CHANCE and b"\\u" in body


def _envelope_again(value: Any) -> _Envelope:
    if not isinstance(value, dict):
        raise msgspec.ValidationError("Expected `object`, got `str`")
    return _Envelope(**{name: _raw(value[name]) for name in _Envelope.__struct_fields__ if name in value})


def _parts_again(value: Any) -> list[msgspec.Raw]:
    return [_raw(part) for part in value]


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode("ascii"))


def params_of(params: bytes, kind: type[T]) -> T:
    """Read parameters as what a method takes. Raises `RpcError` with the field's path and what was expected there."""
    if params == b"null":
        params = b"{}"
    try:
        try:
            return _decoder(kind).decode(params)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            if not _second_chance(params):
                raise
        return msgspec.convert(json.loads(params), kind)
    except msgspec.ValidationError as error:
        raise RpcError(Code.INVALID_PARAMS, f"params: {error}") from None
    except UnicodeEncodeError:
        raise RpcError(
            Code.INVALID_PARAMS, "params: a lone surrogate is part of a word that has none"
        ) from None
    except ValueError as error:
        raise RpcError(Code.PARSE, f"params: {error}") from None
    except RecursionError:
        raise RpcError(Code.PARSE, "params: JSON is nested too deeply") from None


def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    if kind not in _decoders:
        _decoders[kind] = msgspec.json.Decoder(kind)
    return _decoders[kind]
