"""Cutting one text into chunks.

What every chunker here promises:

- Pure: the chunks depend on the language's name, the text's bytes and the settings, on nothing else.
- Every byte that is not white space is in exactly one chunk, but for the overlap of a definition that was split. (Of
  a notebook this is said of its cells' sources alone: outputs, metadata and the JSON around belong to no chunk.)
  Spans are ascending and begin and end between characters; lines come from the line table (LF, CRLF, lone CR).
- Every named definition is a chunk, nested ones too; decorators, attributes and the comments directly above and
  on its last line belong to it. What is nobody's is gathered in chunks of the rest.
- The bytes of a chunk do not change when something elsewhere in the file does.
- No text is refused and none takes unbounded time: where the planned way fails, a simpler one is taken, and
  `FileChunks.fallback` says so. An exception is our bug.

A chunker is a module with ``chunk(language, text, settings) -> FileChunks`` and a row in `CHUNKERS`, or a table
of node types (`indexer.chunk.grammar`) and a row in `indexer.chunk.tables.LANGUAGES`. Everything else is cut as plain text.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

from indexer.chunk.tables import LANGUAGES

if TYPE_CHECKING:
    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks


# Language -> module of this package. Loaded when the first text of its language comes.
CHUNKERS: dict[str, str] = {
    "html": "embedded",
    "markdown": "markdown",
    "notebook": "notebook",
    "python": "python",
    "rst": "rst",
    "sql": "sql",
    "svelte": "embedded",
    "vue": "embedded",
}
_TEXT = "text"
_GRAMMAR = "walk"


class Chunker(Protocol):
    """What each module in `CHUNKERS` offers."""

    def chunk(self, language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
        """Cut ``text``, whose language is ``language``."""
        ...


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Cut ``text`` (UTF-8, or bytes of an unknown encoding) as its language asks for."""
    name = CHUNKERS.get(language, _GRAMMAR if language in LANGUAGES else _TEXT)
    chunker = cast("Chunker", importlib.import_module(f"indexer.chunk.{name}"))
    return chunker.chunk(language, text, settings)
