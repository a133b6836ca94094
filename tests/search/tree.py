"""A small real tree with a real index: written, cut, stored and opened with the package's own rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

from indexer import chunk, tokens
from indexer.chunk.languages import language_of
from indexer.embed import load
from indexer.keys import keys_of
from indexer.search import Corpus, Request, search
from indexer.settings import ChunkSettings
from indexer.store import Identity, Writer, open_snapshot
from indexer.types import FileRecord, FileStat
from indexer.versions import CHUNKER
from tests.store.samples import add_block

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from indexer.embed import TermEmbedder
    from indexer.types import Hit


class Tree:
    """Files under a root, and their index beside it."""

    def __init__(self, base: Path, embedder: TermEmbedder | None = None) -> None:
        self.root = base / "root"
        self.index_dir = base / "index"
        self.root.mkdir(parents=True)
        loaded = embedder or load("hashing")
        self.embedder: TermEmbedder = loaded  # type: ignore[assignment]

    def write(self, files: dict[str, str]) -> Tree:
        for path, text in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        return self

    def index(self, *gone: str, only: Collection[str] | None = None) -> Corpus:
        """Put every file on disk (or some) into the index, unbind those that are gone, and open what came of it."""
        e = self.embedder
        identity = Identity(e.name, e.dim, e.version, tokens.VERSION, CHUNKER)
        with Writer(self.root, self.index_dir, identity) as writer:
            for path in gone:
                writer.remove_file(path)
            for place in sorted(self.root.rglob("*")):
                path = place.relative_to(self.root).as_posix()
                if place.is_file() and (only is None or path in only):
                    self._put(writer, path, place.read_bytes())
            writer.commit()
        return Corpus(open_snapshot(self.index_dir))

    def _put(self, writer: Writer, path: str, data: bytes) -> None:
        language = language_of(path, data)
        found = chunk.chunk(language, data, ChunkSettings(max_tokens=64, overlap=8))
        texts = [b"".join(data[span.start : span.end] for span in one.spans) for one in found.chunks]
        keys = keys_of(texts) if texts else np.zeros((0, 2), np.uint64)
        counts = tokens.count_terms(texts)
        writer.add_contents(keys, counts, self.embedder.embed_terms(counts))
        digest = xxhash.xxh3_128_digest(data)
        block = writer.find_block(digest, language)
        if block is None:
            block = add_block(writer, (digest, language), found, keys)
        writer.put_file(FileRecord(FileStat(path, len(data), 0, 0, 0), digest, language), block)

    def read(self, path: str) -> bytes | None:
        place = self.root / path
        return place.read_bytes() if place.is_file() else None

    def ask(self, corpus: Corpus, query: str, **filters: object) -> list[Hit]:
        request = Request(query, **filters)  # type: ignore[arg-type]
        return search(corpus, request, embedder=self.embedder, read_text=self.read)
