"""The manifest: which segments make up a generation, and what made them.

Read typed: an error carries the path of the key that is wrong. The file carries its own checksum, taken over its
compact form with an empty ``checksum``.
"""

from __future__ import annotations

import json

import xxhash

from indexer.errors import StoreError
from indexer.plainly import TYPE_CHECKING, NamedTuple
from indexer.store.format import FORMAT, NONE, SEGMENT_NAME, Counts
from indexer.store.typed import (
    WrongError,
    below,
    boolean,
    dump,
    matching,
    natural,
    parse,
    record,
    several,
    text,
    whole,
)  # fmt: skip

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Disk


class Identity(NamedTuple):
    """What made an index. Two indexes of different identity never mix."""

    embedder: str
    dim: int
    embedder_version: str
    tokenizer: str
    chunker: str

    def difference(self, other: Identity) -> str:
        """Name the first part that differs, with both values; empty when none does."""
        for name, mine, theirs in zip(self._fields, self, other, strict=True):
            if mine != theirs:
                return f"{name} is {mine!r}, not {theirs!r}"
        return ""


class SegmentEntry(NamedTuple):
    """One segment, oldest first. ``first`` and ``last`` are the generations it covers."""

    name: str
    size: int
    checksum: str
    first: int
    last: int
    strings: int
    contents: int
    blocks: int
    bindings: int
    files: int

    @property
    def counts(self) -> Counts:
        """How many rows of each kind."""
        return Counts(self.strings, self.contents, self.blocks, self.bindings, self.files)


class Manifest(NamedTuple):
    """One generation. ``unbound`` estimates how many binding rows no live file uses."""

    format: int
    checksum: str
    epoch: str
    generation: int
    complete: bool
    identity: Identity
    unbound: int
    segments: tuple[SegmentEntry, ...]

    @property
    def names(self) -> frozenset[str]:
        """Names of its segments."""
        return frozenset(entry.name for entry in self.segments)


class FormatError(StoreError):
    """The manifest is of another format: not damaged, but not ours to read."""


_identity = record(Identity, embedder=text, dim=whole, embedder_version=text, tokenizer=text, chunker=text)
_generation = below(NONE)  # it stands in columns of uint32, and so does the next
_segment = record(
    SegmentEntry,
    name=matching(SEGMENT_NAME),  # it becomes a path below the index directory
    size=natural,
    checksum=text,
    first=_generation,
    last=_generation,
    **dict.fromkeys(Counts._fields, natural),
)
_manifest = record(
    Manifest,
    format=whole,
    checksum=text,
    epoch=text,
    generation=_generation,
    complete=boolean,
    identity=_identity,
    unbound=natural,
    segments=several(_segment),
)


def encode(manifest: Manifest) -> bytes:
    """Give the file's bytes, checksum filled in."""
    plain = _plain(manifest)
    plain["checksum"] = _checksum(plain)
    return json.dumps(plain, indent=1, ensure_ascii=False).encode("utf-8") + b"\n"


def decode(data: bytes, where: str) -> Manifest:
    """Read the file's bytes. StoreError: another format, a wrong type (with the key's path), a wrong checksum."""
    try:
        value = parse(data)
        version = value["format"] if isinstance(value, dict) and "format" in value else FORMAT
        if type(version) is int and version != FORMAT:
            raise FormatError(
                f"{where}: format {version}, this version reads {FORMAT}; `indexer reindex` rebuilds it"
            )
        manifest = _manifest(value)
    except WrongError as error:
        raise StoreError(f"{where}: {error}") from error
    if manifest.checksum != _checksum(value):
        raise StoreError(f"{where}: checksum: the manifest was changed or damaged")
    return manifest


def load(disk: Disk, path: Path) -> Manifest:
    """Read one manifest. VanishedError when there is none, StoreError when it cannot be used."""
    return decode(disk.read(path), path.name)


def _checksum(plain: dict[str, object]) -> str:
    return xxhash.xxh3_128_hexdigest(dump({**plain, "checksum": ""}))


def _plain(manifest: Manifest) -> dict[str, object]:
    """The manifest as JSON has it."""
    segments = [entry._asdict() for entry in manifest.segments]
    return {**manifest._asdict(), "identity": manifest.identity._asdict(), "segments": segments}
