"""What a daemon does before the first question comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.search import prepare
from indexer.serve.allocator import give_back_memory

if TYPE_CHECKING:
    from indexer.embed import Embedder
    from indexer.search import Corpus


def warm(corpus: Corpus, embedder: Embedder) -> None:
    """Make the columns that questions need; what that took beside them is given back."""
    prepare(corpus, embedder)
    give_back_memory()
