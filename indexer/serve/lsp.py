"""Hits as the Language Server Protocol has them (3.17): file URIs, lines from 0, columns in UTF-16 units, its kinds."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from indexer.errors import QueryError
from indexer.types import Kind

if TYPE_CHECKING:
    from indexer.types import Hit

# LSP 3.17, "SymbolKind". It has no macro, trait, heading or cell: those are what other servers show them as.
_KINDS = {
    Kind.FUNCTION: 12,
    Kind.METHOD: 6,
    Kind.CLASS: 5,
    Kind.INTERFACE: 11,
    Kind.STRUCT: 23,
    Kind.ENUM: 10,
    Kind.TRAIT: 11,
    Kind.IMPL: 19,
    Kind.NAMESPACE: 3,
    Kind.TYPE: 5,
    Kind.MACRO: 12,
    Kind.CONSTANT: 14,
    Kind.PROPERTY: 7,
    Kind.TABLE: 23,
    Kind.SECTION: 15,
    Kind.CELL: 2,
}
_FILE = 1
_SAFE = b"/-._~!$&'()*+,;=:@"  # RFC 3986, pchar


def uri_of(root: Path, path: str) -> str:
    """Return the file URI (RFC 8089) of a path in the tree; its bytes are what is escaped, whatever they encode."""
    return "file://" + quote_from_bytes(os.fsencode(root / path), safe=_SAFE)


def path_in_root(root: Path, named: str) -> str:
    """Return a path relative to the root, of a relative or absolute path or a file URI.

    Raises `QueryError` for what lies outside; whether there is such a file is not looked at. For an absolute path that
    is not plainly inside, symbolic links are resolved, since an editor may know the root by another name.
    """
    path = _path_of_uri(named) if named.startswith("file:") else named
    if "\0" in path:
        raise QueryError("path: a NUL byte is in no path")
    full = os.path.normpath(os.path.join(root, path))  # noqa: PTH118  (Path keeps "..", and asks the disk to resolve it)
    if os.path.isabs(path) and not _inside(root, full):  # noqa: PTH117
        full = os.path.realpath(full)
    if not _inside(root, full):
        raise QueryError(f"path: {named} is outside the root")
    return os.path.relpath(full, root).replace(os.sep, "/")


def _inside(root: Path, full: str) -> bool:
    return Path(full).is_relative_to(root)


def _path_of_uri(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.netloc not in {"", "localhost"} or parts.query or parts.fragment:
        raise QueryError(f"path: {uri} is not the URI of a file on this machine")
    return os.fsdecode(unquote_to_bytes(parts.path))


def check_globs(globs: tuple[str, ...]) -> None:
    """Raise `QueryError` where a pattern steps out of the root; one that begins with ``/`` begins at the root."""
    for glob in globs:
        if ".." in glob.removeprefix("!").split("/"):
            raise QueryError(f"path: {glob} is outside the root")


def symbol_information(root: Path, hit: Hit) -> dict[str, Any]:
    """Return a hit of `indexer.search.symbols`, whose text is the line of the definition, as "SymbolInformation"."""
    start, end = _columns(hit)
    line = hit.start_line - 1
    value: dict[str, Any] = {
        "name": hit.symbol,
        "kind": _KINDS.get(hit.kind, _FILE),
        "location": {
            "uri": uri_of(root, hit.path),
            "range": {
                "start": {"line": line, "character": start},
                "end": {"line": line, "character": end},
            },
        },
    }
    if hit.scope:
        value["containerName"] = hit.scope
    return value


def _columns(hit: Hit) -> tuple[int, int]:
    """Columns of the name on its line, or of its first character where it does not stand there as it is called."""
    line = (
        hit.text.removeprefix("\ufeff") if hit.start_line == 1 else hit.text
    )  # editors count no byte-order mark
    found = re.search(rf"(?<!\w){re.escape(hit.symbol)}(?!\w)", line)
    start = found.start() if found else len(line) - len(line.lstrip())
    end = found.end() if found else start
    return utf16(line[:start]), utf16(line[:end])


def utf16(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text) + sum(c > "\uffff" for c in text)
