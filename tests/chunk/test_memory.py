"""What a parser process keeps of the texts that it has cut: nothing."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from indexer.chunk import chunk, walk
from indexer.chunk.languages import language_of
from indexer.chunk.tree import parse
from indexer.settings import ChunkSettings
from tests.trees import SAMPLES

_BY_NAME = {path: language_of(path.name, path.read_bytes()) for path in SAMPLES.rglob("*") if path.is_file()}
LANGUAGES = sorted({language for language in _BY_NAME.values() if language and walk.load(language)})


def kept_by(work: Callable[[], object], times: int) -> int:
    """Bytes that Python's own allocator has handed out for good, more after many times than after a few."""
    work()
    gc.collect()
    tracemalloc.start()
    try:
        work()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(times):
            work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_that_were_cut_are_let_go(language: str) -> None:
    """The binding of tree-sitter keeps what a callable gives it."""
    sample = next(path.read_bytes() for path, its in sorted(_BY_NAME.items()) if its == language)
    text, settings = sample * (1 + 4000 // len(sample)), ChunkSettings()
    assert kept_by(lambda: chunk(language, text, settings), 8) < 2 * len(text)


def test_threads_do_not_write_into_each_others_texts() -> None:
    compiled = walk.load("c")
    assert compiled is not None
    texts = [b"int f%d(int a) { return a + %d; }\n" % (number, number) * 400 for number in range(8)]
    wanted = [str(parse(compiled.language, text).root_node) for text in texts]  # type: ignore[union-attr]
    with ThreadPoolExecutor(8) as pool:
        trees = list(pool.map(lambda text: parse(compiled.language, text), texts * 4))
    assert [str(tree.root_node) for tree in trees] == wanted * 4  # type: ignore[union-attr]
