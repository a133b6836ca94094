"""Framing and messages: any bytes in any pieces, never an exception but the one that is promised, never without bound."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from indexer.serve.protocol import (
    Code,
    Decoder,
    FrameError,
    Framing,
    Notification,
    Request,
    Response,
    RpcError,
    decode,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

LIMIT = 1000
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)
bodies = json_values.map(lambda value: json.dumps({"v": value}).encode()).filter(lambda b: len(b) <= LIMIT)


def run(pieces: Iterable[bytes], decoder: Decoder | None = None) -> tuple[list[bytes], FrameError | None]:
    """Feed pieces one after the other; return the bodies, and the error the stream ended with."""
    decoder = decoder or Decoder(LIMIT)
    found: list[bytes] = []
    for piece in pieces:
        decoder.feed(piece)
        assert decoder.waiting <= LIMIT + len(piece) + 4096
        try:
            while (body := decoder.next()) is not None:
                found.append(body)
        except FrameError as error:
            assert decoder.waiting == 0
            decoder.feed(b"more")
            assert decoder.next() is None
            assert decoder.waiting == 0
            return found, error
    return found, None


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in pairwise(bounds)]


@settings(deadline=None)
@given(st.sampled_from(Framing), st.lists(bodies, max_size=5), st.lists(st.integers(0, 10_000), max_size=20))
def test_messages_survive_any_cutting(framing: Framing, sent: list[bytes], places: list[int]) -> None:
    stream = b"".join(framing.frame(body) for body in sent)
    assert run(cut(stream, places)) == (sent, None)
    assert run([stream[i : i + 1] for i in range(len(stream))]) == (sent, None)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=6000), st.lists(st.integers(0, 6000), max_size=10))
@example(b"Content-Length: " + b"9" * 5000, [100])
@example(b"a" * 5000, [1])
@example(b"\n" * 5000, [])
@example(b"A: b\r\n" * 1000, [])
@example(b"Content-Length: 0\r\n\r\n" * 3, [5])
@example(b"[" * 5000, [7])
def test_any_bytes_end_in_bodies_or_the_one_error(data: bytes, places: list[int]) -> None:
    whole, wrong = run([data])
    pieces, wrong_too = run(cut(data, places))
    assert pieces == whole
    assert (wrong is None) == (wrong_too is None)
    assert all(len(body) <= LIMIT for body in whole)


@settings(deadline=None)
@given(st.lists(st.sampled_from([
    b"Content-Length: 5\r\n", b"Content-Length:5\n", b"content-length: 7\r\n", b"Content-Type: a; charset=utf8\r\n",
    b"Content-Type: a; charset=latin-1\r\n", b"\r\n", b"\n", b"{}   ", b"{}", b"x: y\r\n", b"Content-Length: -1\r\n", b":", b"\0",
]), max_size=12))  # fmt: skip
def test_almost_right_headers_end_in_bodies_or_the_one_error(parts: list[bytes]) -> None:
    stream = b"".join(parts)
    whole = run([stream])
    bytewise = run([stream[i : i + 1] for i in range(len(stream))])
    assert whole[0] == bytewise[0]
    assert str(whole[1]) == str(bytewise[1])


@pytest.mark.parametrize(
    ("stream", "framing"),
    [
        (b"Content-Length: 2\r\n\r\n{}", Framing.HEADERS),
        (b"content-type: x\r\ncontent-length: 2\r\n\r\n{}", Framing.HEADERS),
        (b"\r\n Content-Length: 2\n\n{}", Framing.HEADERS),
        (b"{}\n", Framing.LINES),
        (b"  \r\n\r\n{}\r\n\n", Framing.LINES),
        (b"{}   \r\n", Framing.LINES),
    ],
)  # fmt: skip
def test_the_first_byte_tells_the_framing(stream: bytes, framing: Framing) -> None:
    decoder = Decoder()
    assert run([stream], decoder) == ([b"{}"], None)
    assert decoder.framing is framing


def test_blank_lines_between_framed_messages_mean_nothing() -> None:
    assert run([b"Content-Length: 2\r\n\r\n{}\r\n\r\nContent-Length: 2\r\n\r\n[]"]) == ([b"{}", b"[]"], None)


@pytest.mark.parametrize(
    ("stream", "complaint"),
    [
        (b"Content-Length: 1073741824\r\n", "at most 1000 bytes, 1073741824 announced"),
        (b"Content-Length: " + b"9" * 30 + b"\r\n", "expected a number"),
        (b"Content-Length: 0x10\r\n", "expected a number"),
        (b"Content-Length: -1\r\n", "expected a number"),
        (b"Content-Length: \r\n", "expected a number"),
        (b"Content-Length: \xb2\r\n", "expected a number"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n", "given twice"),
        (b"Content-Type: application/json; charset=latin-1\r\n", "charset"),
        (b"X: y\r\n\r\n", "without a Content-Length"),
        (b"GET / HTTP/1.1\r\n", "without a colon"),
        (b"X" * 5000, "longer than 4096"),
        (b"X: y\r\n" * 1000, "longer than 4096"),
        (b"[" * 1001, "longer than 1000"),
        (b"[" * 1001 + b"\n", "longer than 1000"),
    ],
)
def test_what_cannot_be_read_further_is_refused_at_once(stream: bytes, complaint: str) -> None:
    bodies, error = run([stream])
    assert bodies == []
    assert error is not None
    assert error.code == Code.INVALID_REQUEST
    assert complaint in str(error)


def test_half_a_message_waits_and_is_seen_as_such() -> None:
    decoder = Decoder()
    assert run([b'Content-Length: 10\r\n\r\n{"a'], decoder) == ([], None)
    assert decoder.waiting
    decoder = Decoder()
    assert run([b"Content-Length: 10\r\n"], decoder) == ([], None)
    assert decoder.waiting
    decoder = Decoder()
    assert run([b"{}\n"], decoder) == ([b"{}"], None)
    assert not decoder.waiting


def test_a_message_that_comes_byte_by_byte_costs_its_length() -> None:
    """Each byte is looked at once: 2 MB in pieces of one byte would not end otherwise."""
    decoder = Decoder()
    body = b'"' + b"x" * 2_000_000 + b'"'
    for at in range(0, len(body), 16):
        decoder.feed(body[at : at + 16])
        assert decoder.next() is None
    decoder.feed(b"\n")
    assert decoder.next() == body


# --- messages


ids = st.integers() | st.text(st.characters(), min_size=1)
messages = (
    st.builds(Request, ids, st.text(), json_values)
    | st.builds(Notification, st.text(), json_values)
    | st.builds(Response, ids | st.none(), json_values)
)


@settings(deadline=None)
@given(messages)
def test_a_message_comes_back_as_it_was(message: Request | Notification | Response) -> None:
    body = encode(message)
    assert b"\n" not in body
    assert body.isascii()
    assert decode(body) == message


def test_an_error_comes_back_as_it_was() -> None:
    found = decode(encode(Response(1, error=RpcError(-5, "no", {"kind": "x"}))))
    assert isinstance(found, Response)
    assert found.error is not None
    assert (found.error.code, found.error.message, found.error.data) == (-5, "no", {"kind": "x"})


@settings(deadline=None)
@given(st.binary(max_size=200) | json_values.map(lambda v: json.dumps(v).encode()))
@example(b"[" * 100_000)
@example(b'{"id":' + b"1" * 5000 + b"}")
@example(b"\xff")
def test_what_is_no_message_is_one_error(body: bytes) -> None:
    codes = set()
    with contextlib.suppress(RpcError):
        try:
            decode(body)
        except RpcError as error:
            codes.add(error.code)
            raise
    assert codes <= {Code.PARSE, Code.INVALID_REQUEST}


def test_a_path_that_is_no_utf8_passes() -> None:
    sent = Request(1, "index/related", {"path": "caf\udce9.py"})
    assert decode(encode(sent)) == sent


def test_importing_it_loads_nothing_but_the_standard_library() -> None:
    script = (
        "import sys, indexer.serve.protocol; "
        "print(sorted({name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names - {'__main__'}), "
        "'asyncio' in sys.modules, 'dataclasses' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True, cwd="."
    )
    assert done.stdout.split() == ["['indexer']", "False", "False"]


# --- the suite can fail


class Forgetful(Decoder):
    """Planted fault: looks for a line's end only in what came last."""

    def feed(self, data: bytes) -> None:
        super().feed(data)
        self._searched = max(len(self._buffer) - len(data) + 1, 0)


def test_a_decoder_that_forgets_is_caught() -> None:
    stream = b"{}\n" * 3
    assert run([stream[i : i + 1] for i in range(len(stream))], Forgetful(LIMIT)) != ([b"{}"] * 3, None)
