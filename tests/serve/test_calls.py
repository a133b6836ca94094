"""Bodies to calls: JSON-RPC 2.0 by the letter, and nothing a client sends raises more than the one error."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexer.serve import schema
from indexer.serve.calls import Call, Wrong, params_of, read_calls
from indexer.serve.protocol import Code, RpcError

MOST = 8
PARAMS = sorted({shape.params for shape in schema.METHODS.values()}, key=lambda kind: kind.__name__)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
envelopes = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"]),
    json_values | st.sampled_from(["2.0", "index/search", 1]),
)


def one(message: object) -> Call | Wrong:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    found = read_calls(body, MOST)
    assert not found.batch
    assert len(found.calls) == 1
    return found.calls[0]


def wrong(message: object) -> tuple[object, int, str]:
    found = one(message)
    assert isinstance(found, Wrong)
    return found.id, found.error.code, found.error.message


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=100) | (envelopes | json_values | st.lists(envelopes, max_size=10)).map(
    lambda value: json.dumps(value).encode()
))  # fmt: skip
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
@example(b"[" + b"{}," * 500_000 + b"{}]")
@example(b'{"id":' + b"1" * 100_000 + b"}")
@example(b'"\xff"')
@example(b'["\\udcff",{"\\udcff":1,"method":"\\udcff"}]')
@example(b'{"x":"\\udcff","params":' + b"[" * 30_000 + b"]" * 30_000 + b"}")
@example(b'{"x":"\\udcff","params":' + b"1" * 5000 + b"}")
@example(b'{"id":"\xff"}')
@example(b"")
def test_any_body_is_calls_or_errors(body: bytes) -> None:
    found = read_calls(body, MOST)
    assert len(found.calls) <= MOST
    for call in found.calls:
        if isinstance(call, Wrong):
            assert call.error.code in {Code.PARSE, Code.INVALID_REQUEST}
            assert "\n" not in call.error.message
            continue
        for kind in PARAMS:
            with contextlib.suppress(RpcError):
                params_of(call.params, kind)


@settings(deadline=None, max_examples=300)
@given(
    st.binary(max_size=50) | json_values.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(PARAMS),
)
@example(b'{"query":' + b"[" * 100_000, schema.SearchParams)
@example(b'{"query":"\\udcff","x":' + b"[" * 20_000 + b"]" * 20_000 + b"}", schema.SearchParams)
@example(b'{"query":"\\udcff","k":' + b"1" * 5000 + b"}", schema.SearchParams)
def test_any_params_are_read_or_refused(params: bytes, kind: type) -> None:
    codes = {Code.INVALID_PARAMS}
    with contextlib.suppress(RpcError):
        try:
            params_of(params, kind)
        except RpcError as error:
            codes.add(error.code)
            raise
    assert codes <= {Code.INVALID_PARAMS, Code.PARSE}


def test_a_call_is_read() -> None:
    assert one({"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"a": 1}}) == Call(1, "m", b'{"a": 1}')
    assert one({"jsonrpc": "2.0", "id": "x", "method": "m"}) == Call("x", "m", b"null")
    assert one({"jsonrpc": "2.0", "method": "m"}) == Call(None, "m", b"null")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"jsonrpc": "2.0", "id": 3, "method": 5}, (3, -32600, "method: Expected `str`, got `int`")),
        ({"jsonrpc": "2.0", "id": 3}, (3, -32600, "method: missing")),
        ({"id": 3, "method": "m"}, (3, -32600, "jsonrpc: missing")),
        ({"jsonrpc": "1.0", "id": 3, "method": "m"}, (3, -32600, "jsonrpc: Invalid enum value '1.0'")),
        ({"jsonrpc": "2.0", "id": None, "method": "m"}, (None, -32600, "id: Expected `int | str`, got `null`")),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "m"}, (None, -32600, "id: Expected `int | str`, got `float`")),
        ({"jsonrpc": "2.0", "id": [], "method": "m"}, (None, -32600, "id: Expected `int | str`, got `array`")),
        (5, (None, -32600, "a request is a JSON object: Expected `object`, got `int`")),
        ([], (None, -32600, "a batch holds 1 to 8 calls, not 0")),
        ([{}] * 9, (None, -32600, "a batch holds 1 to 8 calls, not 9")),
        (b"{", (None, -32700, "Input data was truncated")),
        (b"{} {}", (None, -32700, "JSON is malformed: trailing characters (byte 4)")),
        (b"[" * 100_000, (None, -32700, "JSON is nested too deeply")),
    ],
)  # fmt: skip
def test_what_is_no_call_is_told_what_is_wrong_with_it(
    message: object, expected: tuple[object, int, str]
) -> None:
    assert wrong(message) == expected


def test_a_batch_of_too_many_bytes_is_not_looked_at() -> None:
    assert wrong(b"[" + b"1," * 600_000 + b"1]")[1:] == (-32600, "a batch is at most 1048576 bytes long")


def test_answers_of_a_client_are_left_out() -> None:
    assert read_calls(b'{"jsonrpc":"2.0","id":1,"result":5}', MOST).calls == ()
    assert read_calls(b'[{"id":1,"error":{}},{"jsonrpc":"2.0","method":"m"}]', MOST).calls == (
        Call(None, "m", b"null"),
    )


def test_parameters_name_the_field_and_what_was_expected() -> None:
    def refused(params: bytes) -> str:
        with pytest.raises(RpcError) as caught:
            params_of(params, schema.SearchParams)
        assert caught.value.code == Code.INVALID_PARAMS
        return caught.value.message

    assert refused(b"[1]") == "params: Expected `object`, got `array`"
    assert refused(b"null") == "params: Object missing required field `query`"
    assert refused(b'{"query":"a","k":0}') == "params: Expected `int` >= 1 - at `$.k`"
    assert refused(b'{"query":"a","path":["x",5]}') == "params: Expected `str`, got `int` - at `$.path[1]`"
    assert refused(b'{"query":"a","freshnes":"now"}') == "params: Object contains unknown field `freshnes`"
    assert "lone surrogate" in refused(b'{"query":"a","mode":"\\udcff"}')
    assert refused(b'{"query":"\\udcff","k":"1"}') == "params: Expected `int | null`, got `str` - at `$.k`"


def test_a_path_that_is_no_utf8_comes_through_alone_and_in_a_batch() -> None:
    message = {"jsonrpc": "2.0", "id": 4, "method": "m", "params": {"path": "caf\udce9.py", "line": 1}}
    call, in_batch = one(message), read_calls(json.dumps([message]).encode(), MOST).calls[0]
    for found in (call, in_batch):
        assert isinstance(found, Call)
        assert found[:2] == (4, "m")
        assert params_of(found.params, schema.RelatedParams).path == "caf\udce9.py"
    assert wrong({"jsonrpc": "2.0", "id": "\udce9", "method": "m"})[:2] == (None, -32600)
    assert wrong(["\udce9"] * 9)[2] == "a batch holds 1 to 8 calls, not 9"
    assert wrong(b'"\\udce9"')[1] == -32600


def test_a_decoder_that_lets_misspelt_fields_pass_is_caught() -> None:
    """The suite can fail: with types that forgive, the field is silently ignored."""
    assert params_of(b'{"query":"a","freshnes":"now"}', schema.WorkspaceSymbolParams).query == "a"
