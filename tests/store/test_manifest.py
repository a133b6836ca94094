"""Manifests: what is read of one, typed, and what is said of what is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from indexer.errors import StoreError
from indexer.store.format import FORMAT, MANIFEST, is_ours, segment_name
from indexer.store.manifest import decode, encode
from tests.store.samples import build

if TYPE_CHECKING:
    from pathlib import Path


GOOD: dict[str, Any] = {
    "format": FORMAT,
    "checksum": "",
    "epoch": "0123456789abcdef",
    "generation": 3,
    "complete": True,
    "identity": {"embedder": "e", "dim": 4, "embedder_version": "1", "tokenizer": "t", "chunker": "c"},
    "unbound": 0,
    "segments": [
        {
            "name": "g0000000003-0123abcd.seg",
            "size": 10,
            "checksum": "00",
            "first": 1,
            "last": 3,
            "strings": 1,
            "contents": 1,
            "blocks": 1,
            "bindings": 1,
            "files": 1,
        }
    ],
}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("segments", 0, "files"), "7", r"manifest.json: segments\[0\].files: expected int, got str"),
        (("segments", 0, "files"), -1, r"segments\[0\].files: expected int >= 0"),
        (("segments", 0, "first"), 1 << 32, r"segments\[0\].first: expected int < 4294967295"),
        (("generation",), 10**30, "generation: expected int < 4294967295"),
        (("epoch",), "\ud800", "epoch: half of a surrogate pair"),
        (("segments", 0, "name"), "../../etc", r"segments\[0\].name: expected str matching regex"),
        (("segments", 0, "extra"), 1, r"segments\[0\]: object contains unknown field extra"),
        (("identity", "dim"), None, r"identity.dim: expected int, got null"),
        (("epoch",), ..., "object missing required field epoch"),
        (("generation",), 4, "checksum: the manifest was changed or damaged"),
        (("format",), FORMAT + 1, f"format {FORMAT + 1}, this version reads {FORMAT}"),
        (("segments",), {}, "segments: expected array, got object"),
    ],
)
def test_a_manifest_is_read_typed(path: tuple[str | int, ...], value: object, message: str) -> None:
    data = json.loads(json.dumps(GOOD))
    place = data
    for key in path[:-1]:
        place = place[key]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(StoreError, match=message):
        decode(json.dumps(data).encode(), "manifest.json")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"format": "\xff"}', b"[" * 100_000]
)
def test_not_a_manifest(data: bytes) -> None:
    with pytest.raises(StoreError, match=r"manifest.json: "):
        decode(data, "manifest.json")


def test_a_manifest_for_people(root: Path) -> None:
    data = (build(root, {"a": b"one\n"}) / MANIFEST).read_bytes()
    assert encode(decode(data, "")) == data
    assert b'\n "generation": 1,\n' in data


def test_names_we_may_sweep() -> None:
    assert is_ours(segment_name(7, "0123abcd", folder=True))
    assert is_ours("tmp-" + segment_name(7, "0123abcd", folder=False))
    assert is_ours("tmp-manifest.prev.json")
    for name in (
        "daemon.json",
        "manifest.json",
        "g1",
        "config.toml",
        "bad-g0000000007-0123abcd",
        ".gitignore",
    ):
        assert not is_ours(name)
