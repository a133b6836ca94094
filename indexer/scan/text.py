"""Bytes to text: which encoding a file is in, decided by evidence and never by silent replacement.

In order: a byte-order mark (UTF-8, UTF-16, UTF-32); a NUL byte means binary; UTF-8; then the encodings of the
settings, each accepted only when it decodes every byte *and* reads like text (`plausible`). What is left
is kept as the bytes it is, under the name "unknown-8bit": its ASCII words are searchable, and `status` tells of it.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

from indexer.scan.plausible import is_chinese, plausibility
from indexer.types import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence

UNKNOWN = "unknown-8bit"

# The four-byte marks first: UTF-32's little-endian one begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Bytes no text in any 8-bit encoding holds; tab, line and page ends, backspace and escape (ANSI colours) do occur.
_CONTROLS = bytes([*range(1, 8), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
_MOST_CONTROLS = 0.02


class Text(NamedTuple):
    """A file's text form: UTF-8 (but for "unknown-8bit"), a byte-order mark kept as its three bytes."""

    encoding: str
    utf8: bytes


def decode(data: bytes, encodings: Sequence[str]) -> Text | str:
    """Return the text form of a file's bytes, or why it has none, as a word of `Reason`.

    For a UTF-8 file ``utf8`` is ``data`` itself. ``encodings`` are tried in order on what is not Unicode.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _marked(data, name)
    if b"\0" in data:
        return Reason.BINARY
    if data.isascii() or _is_utf8(data):
        return Text("utf-8", data)
    if len(data.translate(None, delete=_CONTROLS)) < len(data) * (1 - _MOST_CONTROLS):
        return Reason.BINARY
    return _by_evidence(data, encodings) or Text(UNKNOWN, data)


def _by_evidence(data: bytes, encodings: Sequence[str]) -> Text | None:
    """Take the first encoding that gives a plausible text; of several Chinese ones, the most plausible."""
    best, most = None, 0.0
    for name in encodings:
        if best is not None and not is_chinese(name):
            break
        utf8 = _as_utf8(data, name)
        weight = 0.0 if utf8 is None else plausibility(utf8.decode(), name)
        if utf8 is not None and weight > most:
            best, most = Text(name, utf8), weight
            if not is_chinese(name):
                break
    return best


def _marked(data: bytes, name: str) -> Text | str:
    utf8 = _as_utf8(data, name)
    if utf8 is None:
        return Reason.ENCODING
    return Reason.BINARY if b"\0" in utf8 else Text(name, utf8)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _as_utf8(data: bytes, name: str) -> bytes | None:
    try:
        return data.decode(name).encode()
    except UnicodeError:
        return None
