"""What cutting costs: processor seconds for all files of a language below some paths.

Usage: ``python -m tests.benchmarks.chunking LANGUAGE PATH...``. Prints one row: files, megabytes, seconds for the bare
parse (`ast` or tree-sitter), seconds for the whole of it, their ratio, chunks, fallbacks. As in the parser processes,
no garbage is looked for meanwhile.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tree_sitter import Parser

from indexer.chunk import chunk, python, walk
from indexer.settings import ChunkSettings
from tests.benchmarks.ctags_coverage import files_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def bare_parse(language: str) -> Callable[[bytes], object]:
    """The parse alone, by the parser that the language's chunker uses."""
    if language == "python":
        return python.parse_source
    compiled = walk.load(language)
    if compiled is None:
        raise SystemExit(f"{language} has no grammar here")
    return Parser(compiled.language).parse


def seconds(work: Callable[[bytes], object], texts: Iterable[bytes]) -> float:
    """Processor seconds of this process."""
    start = time.process_time()
    for text in texts:
        work(text)
    return time.process_time() - start


def main(language: str, *paths: str) -> int:
    texts = [
        text for file in files_of(language, map(Path, paths)) if len(text := file.read_bytes()) <= 1_000_000
    ]
    settings = ChunkSettings()
    counts = [0, 0]

    def cut(text: bytes) -> None:
        found = chunk(language, text, settings)
        counts[0] += len(found.chunks)
        counts[1] += bool(found.fallback)

    cut(b"x\n")
    counts[:] = 0, 0
    gc.disable()
    parse, whole = seconds(bare_parse(language), texts), seconds(cut, texts)
    size = sum(map(len, texts)) / 1e6
    sys.stdout.write(
        f"| {language} | {len(texts)} files | {size:.1f} MB | parse {parse:.2f} s | whole {whole:.2f} s "
        f"| x{whole / parse if parse else 0:.2f} | {counts[0]} chunks | {counts[1]} fallbacks |\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
