"""Answers a retrieval benchmark's questions: ``python -m tests.benchmarks.eval_adapter PATH``.

Indexes PATH into a temporary folder, prints ``{"ready": true, "index_s": S}``, and then for each line of standard input,
``{"query": Q, "k": 10}``, prints ``{"hits": [{"path", "start_line", "end_line"}, ...], "ms": M}``; the paths are
relative to PATH. A question that cannot be asked is answered with ``{"hits": [], "error": "..."}``.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexer import embed
from indexer.errors import IndexerError
from indexer.oneshot import text_reader
from indexer.reindex import reindex
from indexer.search import Corpus, Request, search
from indexer.settings import Settings
from indexer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Index, then answer until standard input ends."""
    settings = Settings()
    with tempfile.TemporaryDirectory() as folder:
        embedder = embed.load(settings.embed.model)
        space = Workspace(Path(sys.argv[1]).resolve(), Path(folder) / "index", settings, embedder)
        started = time.perf_counter()
        corpus = Corpus(reindex(space).snapshot)
        _say({"ready": True, "index_s": round(time.perf_counter() - started, 3), "chunks": corpus.rows})
        read_text = text_reader(space)
        for line in sys.stdin:
            _say(_answer(space, corpus, read_text, json.loads(line)))


def _answer(
    space: Workspace, corpus: Corpus, read_text: Callable[[str], bytes | None], asked: dict[str, Any]
) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        request = Request(asked["query"], asked.get("k", 10))
        hits = search(corpus, request, embedder=space.embedder, read_text=read_text)
    except IndexerError as error:
        return {"hits": [], "error": str(error)}
    ms = round((time.perf_counter() - started) * 1000, 3)
    places = [{"path": hit.path, "start_line": hit.start_line, "end_line": hit.end_line} for hit in hits]
    return {"hits": places, "ms": ms}


def _say(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
