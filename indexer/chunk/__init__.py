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
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, cast

from indexer.chunk.tables import LANGUAGES

_METADATA = ".dist-info"

if TYPE_CHECKING:
    from indexer.settings import ChunkSettings
    from indexer.types import FileChunks


def _version(package: str) -> str:
    """Return the version of an installed package, by the name of its folder of metadata.

    `importlib.metadata` reads it from a file there, and importing that costs more than all else of a short command.
    """
    wanted = package.replace("-", "_")
    for folder in sys.path:
        with suppress(OSError):
            for entry in os.listdir(folder):
                name, _, found = entry.removesuffix(_METADATA).rpartition("-")
                if entry.endswith(_METADATA) and name.replace("-", "_").lower() == wanted:
                    return found
    from importlib.metadata import version

    return version(package)


# Raise the number whenever any text would be cut in another way; grammars bring their own versions.
VERSION = "5 " + " ".join(
    f"{package}-{_version(package)}"
    for package in ("tree-sitter", "tree-sitter-language-pack", "tree-sitter-c-sharp")
)

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
