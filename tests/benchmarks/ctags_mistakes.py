"""What universal-ctags 5.9 lists as a definition and is none, by language, so that it is not counted against us."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


class Listed(NamedTuple):
    """One line of ctags' list; ``pattern`` is the source line as ctags quotes it."""

    path: Path
    kind: str
    name: str
    line: int
    pattern: str


_ANONYMOUS = re.compile(r"_*anon|AnonymousClass|<lambda>", re.IGNORECASE)
# No definition, by its name: array assignments; keywords read as names.
_NO_NAMES = {
    "bash": re.compile(r"\w+=$"),
    "ocaml": re.compile(r"(?:nonrec|open|\(\)|_)$"),
    "haskell": re.compile(
        r"(?:class|data|default|deriving|family|foreign|infix[lr]?|instance|pattern|type)$"
    ),
}
# A definition's line must look like this: lambda parameters, arguments before a ``function``, record fields do not.
_HEADS = {
    "haskell": r"^/\^(?:\(?{name}\b(?!\s*,)|(?:data|newtype|type)\s+(?:[^=]*=>\s*)?{name}\b)",
    "ocaml": r"^/\^\s*(?:module(?:\s+(?:rec|type))*\s+{name}\b|(?:type|let|class|method|external)\b.*{name}"
    r"|and\b(?!\s+(?:type|module)\b).*{name})",
    "r": r"function|\\\(|[cC]lass|set(?:Generic|Method)",
    "sql": r"(?i)create\b",
    "kotlin": r"\b(?:fun|class|object|interface)\b",
    # An object literal or an alias of a function is no class or method; a module in another file is not defined here.
    "javascript": r"\bfunction\b|=>|\bclass\b|\b[gs]et\b|{name}[\"'\]]*\s*\(",
    "rust": r"^/\^\s*(?!(?:pub(?:\(.*?\))?\s+)?mod\s+\w+\s*;)\S",
    "lua": r"function\b\s+[\w.:]*{name}|{name}[\"'\]]*\s*=\s*function\b|^\s*local .*=\s*function\b",
}
# Text in which nothing is a definition: the examples in documentation.
_EXAMPLES = {"elixir": re.compile(rb'"""' + rb".*?" + rb'"""', re.DOTALL)}
# Where every equation of one function is listed.
_RUNS = frozenset({"haskell"})
# Where the name holds its scope (what comes before its last part) or its parameters as well.
_SCOPES = {"lua": re.compile(r".*[.:](?=.)"), "perl": re.compile(r".*::"), "julia": re.compile(r"\{.*")}
# A function that a macro makes has the macro's name there (all tests are called ``TEST``), here that of its last argument.
_MADE = dict.fromkeys(("c", "cpp"), r"^/\^{name}\s*\((?:\s*\w+\s*,)*\s*(\w+)\s*\)\s*\{?\s*\$/")
# Where the name is listed with its quotes.
_QUOTES = {"r": "\"'`"}


def believed(language: str, listed: Iterable[Listed]) -> Iterator[Listed]:
    """What is left of ctags' list of one or more files; names without scope."""
    before: tuple[Path, str] | None = None
    for tag in listed:
        bare = tag._replace(name=_made_name(language, tag) or _plain(language, tag.name))
        again = language in _RUNS and (bare.path, bare.name) == before
        if again or not _is_definition(language, bare) or bare.line in _example_lines(language, bare.path):
            continue
        before = (bare.path, bare.name)
        yield bare


def _plain(language: str, name: str) -> str:
    if language in _SCOPES:
        name = _SCOPES[language].sub("", name)
    return name.strip(_QUOTES[language]) if language in _QUOTES else name


def _made_name(language: str, tag: Listed) -> str:
    """The name of a function that a macro makes; empty for any other."""
    if language not in _MADE or not tag.name.isupper():
        return ""
    match = re.search(_MADE[language].replace("{name}", re.escape(tag.name)), tag.pattern)
    return match[1] if match else ""


def _is_definition(language: str, tag: Listed) -> bool:
    if _ANONYMOUS.match(tag.name) or (language in _NO_NAMES and _NO_NAMES[language].match(tag.name)):
        return False
    head = _HEADS.get(language, "").replace("{name}", re.escape(tag.name))
    return re.search(head, tag.pattern) is not None


@cache
def _example_lines(language: str, path: Path) -> frozenset[int]:
    if language not in _EXAMPLES:
        return frozenset()
    text = path.read_bytes()
    lines: set[int] = set()
    for example in _EXAMPLES[language].finditer(text):
        first = text.count(b"\n", 0, example.start()) + 1
        lines.update(range(first, first + example[0].count(b"\n") + 1))
    return frozenset(lines)
