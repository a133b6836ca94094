"""A toy indexer for tests: every non-empty line of a file is one chunk, its first word the symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

from indexer import tokens
from indexer.columns import columns_of
from indexer.keys import keys_of
from indexer.store import Identity, Writer
from indexer.store.disk import Disk
from indexer.types import Chunk, FileChunks, FileRecord, FileStat, Span

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

DIM = 4
IDENTITY = Identity("hashing", DIM, "1", "tokens-1", "chunks-1")


class QuickDisk(Disk):
    """The real disk, which does not wait for the platters."""

    def sync(self, path: Path) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


def digest(data: bytes) -> bytes:
    return xxhash.xxh3_128_digest(data)


def cut(data: bytes) -> tuple[FileChunks, list[bytes]]:
    """Chunks of the toy language, and their texts. Of two lines, the second's parent is the first."""
    chunks: list[Chunk] = []
    texts = []
    at = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            words = line.decode(errors="replace").split()
            span = Span(at, at + len(line), number, number)
            chunks.append(
                Chunk(
                    kind="function",
                    symbol=words[0],
                    scope="Toy" if len(words) > 1 else "",
                    language="toy",
                    spans=(span, Span(span.end, span.end + 1, number, number)) if len(words) > 2 else (span,),
                    line=number,
                    signature=(at, at + len(words[0])),
                    docstring=(0, 0),
                    parent=0 if len(chunks) == 1 else -1,
                    part=len(chunks) % 2,
                    bases=tuple(words[1:3]),
                )
            )
            texts.append(line)
        at += len(line) + 1
    return FileChunks(tuple(chunks), imports=tuple(sorted({c.symbol for c in chunks})), fallback=""), texts


def vectors_of(texts: list[bytes], dim: int = DIM) -> NDArray[np.float32]:
    """One vector a text, of nothing but the text."""
    if not texts:
        return np.zeros((0, dim), np.float32)
    seeds = [xxhash.xxh3_64_intdigest(text) for text in texts]
    return np.stack([np.random.default_rng(seed).standard_normal(dim) for seed in seeds]).astype(np.float32)


def stat_of(path: str, data: bytes) -> FileStat:
    """A stat that depends on path and data alone; times before 1970 and large inodes are among them."""
    seed = xxhash.xxh3_64_intdigest(path.encode(errors="surrogateescape") + b"\0" + data)
    return FileStat(path, len(data), seed % 10**18 - 10**17, seed % 10**17, seed)


def record_of(path: str, data: bytes) -> FileRecord:
    return FileRecord(stat_of(path, data), digest(data), "toy", racy=len(data) % 5 == 0)


def put(writer: Writer, path: str, data: bytes) -> int:
    """Index one file; gives the number of texts that had to be embedded."""
    if not data:
        writer.put_file(FileRecord(stat_of(path, data), reason="binary", detail="empty"), None)
        return 0
    embedded = 0
    block = writer.find_block(digest(data), "toy")
    if block is None:
        chunks, texts = cut(data)
        keys = keys_of(texts)
        new = [text for text, absent in zip(texts, writer.missing(keys).tolist(), strict=True) if absent]
        if new:
            writer.add_contents(
                keys_of(new), tokens.count_terms(new), vectors_of(new, writer.snapshot.identity.dim)
            )
            embedded = len(new)
        block = add_block(writer, (digest(data), "toy"), chunks, keys)
    writer.put_file(record_of(path, data), block)
    return embedded


def add_block(writer: Writer, name: tuple[bytes, str], chunks: FileChunks, keys: NDArray[np.uint64]) -> int:
    """Add the chunks of one file content, by its hash and language; gives its block's id."""
    return writer.add_blocks([name], columns_of([chunks]), keys)[0]


def build(
    root: Path, files: Mapping[str, bytes], identity: Identity = IDENTITY, disk: Disk | None = None
) -> Path:
    """Make an index of these files and nothing else; gives its directory."""
    root.mkdir(parents=True, exist_ok=True)
    with Writer(root, root / ".indexer", identity, disk=disk or QuickDisk()) as writer:
        for path, data in files.items():
            put(writer, path, data)
        writer.commit()
    return root / ".indexer"
