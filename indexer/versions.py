"""What is said of an index's making and must not cost the loading of what makes it: of the tokenizer and the chunkers."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

import Stemmer  # type: ignore[import-not-found]  # compiled, without stubs

_METADATA = ".dist-info"
_GRAMMARS = ("tree-sitter", "tree-sitter-language-pack", "tree-sitter-c-sharp")


def _installed() -> dict[str, str]:
    """Return the versions of installed packages, by the names of their folders of metadata, until ours are found.

    `importlib.metadata` reads them from files there, and importing that costs more than all else of a short command.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        with suppress(OSError):
            for entry in os.listdir(folder):
                if entry.endswith(_METADATA):
                    name, _, version = entry.removesuffix(_METADATA).rpartition("-")
                    found.setdefault(name.replace("_", "-").lower(), version)
        if found.keys() >= set(_GRAMMARS):
            return found
    from importlib.metadata import version as version_of

    return {package: version_of(package) for package in _GRAMMARS}


def _grammars() -> str:
    installed = _installed()
    return " ".join(f"{package}-{installed[package]}" for package in _GRAMMARS)


TOKENIZER = f"2+snowball-{Stemmer.version()}"
# Raise the number whenever any text would be cut in another way; grammars bring their own versions.
CHUNKER = f"5 {_grammars()}"
