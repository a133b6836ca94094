"""The manifest: which segments make up a generation, and what made them.

Read typed: an error carries the path of the key that is wrong. The file carries its own checksum, taken over its
compact form with an empty ``checksum``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import msgspec
import xxhash

from indexer.errors import StoreError
from indexer.store.format import FORMAT, SEGMENT_NAME, Counts

Natural = Annotated[int, msgspec.Meta(ge=0)]
# A name is a path below the index directory: nothing but our own pattern may stand there.
SegmentName = Annotated[str, msgspec.Meta(pattern=f"^{SEGMENT_NAME}$")]

if TYPE_CHECKING:
    from pathlib import Path

    from indexer.store.disk import Disk


@dataclass(frozen=True, slots=True)
class Identity:
    """What made an index. Two indexes of different identity never mix."""

    embedder: str
    dim: int
    embedder_version: str
    tokenizer: str
    chunker: str

    def difference(self, other: Identity) -> str:
        """Name the first part that differs, with both values; empty when none does."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine != theirs:
                return f"{field.name} is {mine!r}, not {theirs!r}"
        return ""


class SegmentEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One segment, oldest first. ``first`` and ``last`` are the generations it covers."""

    name: SegmentName
    size: Natural
    checksum: str
    first: Natural
    last: Natural
    strings: Natural
    contents: Natural
    blocks: Natural
    bindings: Natural
    files: Natural

    @property
    def counts(self) -> Counts:
        """How many rows of each kind."""
        return Counts(self.strings, self.contents, self.blocks, self.bindings, self.files)


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One generation. ``unbound`` estimates how many binding rows no live file uses."""

    format: int
    checksum: str
    epoch: str
    generation: Natural
    complete: bool
    identity: Identity
    unbound: Natural
    segments: tuple[SegmentEntry, ...]

    @property
    def names(self) -> frozenset[str]:
        """Names of its segments."""
        return frozenset(entry.name for entry in self.segments)


class FormatError(StoreError):
    """The manifest is of another format: not damaged, but not ours to read."""


class _Version(msgspec.Struct):
    format: int


def encode(manifest: Manifest) -> bytes:
    """Give the file's bytes, checksum filled in."""
    sealed = msgspec.structs.replace(manifest, checksum=_checksum(manifest))
    return msgspec.json.format(msgspec.json.encode(sealed), indent=1) + b"\n"


def decode(data: bytes, where: str) -> Manifest:
    """Read the file's bytes. StoreError: another format, a wrong type (with the key's path), a wrong checksum."""
    try:
        version = msgspec.json.decode(data, type=_Version).format
        if version != FORMAT:
            raise FormatError(
                f"{where}: format {version}, this version reads {FORMAT}; `indexer reindex` rebuilds it"
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except msgspec.DecodeError as error:
        raise StoreError(f"{where}: {_plain(str(error))}") from error
    except UnicodeDecodeError as error:
        raise StoreError(f"{where}: not UTF-8") from error
    if manifest.checksum != _checksum(manifest):
        raise StoreError(f"{where}: checksum: the manifest was changed or damaged")
    return manifest


def load(disk: Disk, path: Path) -> Manifest:
    """Read one manifest. VanishedError when there is none, StoreError when it cannot be used."""
    return decode(disk.read(path), path.name)


def _checksum(manifest: Manifest) -> str:
    return xxhash.xxh3_128_hexdigest(msgspec.json.encode(msgspec.structs.replace(manifest, checksum="")))


def _plain(message: str) -> str:
    """Turn "Expected `int`, got `str` - at `$.a.b`" into "a.b: expected int, got str"."""
    text, _, place = message.partition(" - at ")
    key = place.strip("`").removeprefix("$").removeprefix(".")
    text = text.replace("`", "")
    text = text[:1].lower() + text[1:]
    return f"{key}: {text}" if key else text
