"""The rules of languages that import files by their paths, and of those whose names are paths in all but spelling."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indexer.search.import_rules import Rule, family
from indexer.search.modules import Naming, is_plain, joined, resolved

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Include(Rule):
    """C and C++: a header, and what has the same name beside it."""

    separator = "/"
    members = 0

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        return self._with_twins(self.tree.file(folder, text))

    def near_of(self, asked: Sequence[tuple[str, str, str]]) -> list[Sequence[int]]:
        # Nearly all headers lie elsewhere, and a tree has hundreds of thousands of such lines.
        plain = {text: is_plain(text) for _, _, text in asked}
        there = self.tree.number
        return [
            () if plain[text] and joined(folder, text) not in there else self.near(folder, path, text)
            for folder, path, text in asked
        ]

    def anywhere(self, text: str) -> Sequence[int]:
        return self._with_twins(self.tree.ending(text))

    def in_root(self, parts: Sequence[str]) -> list[int]:
        return self._with_twins(self.tree.file("", "/".join(parts)))

    def root_name(self, parts: Sequence[str]) -> int:
        return 1 if len(parts) > 1 and self.tree.file("", "/".join(parts[1:])) else 0

    def is_whole(self, parts: Sequence[str]) -> bool:
        del parts
        return True  # what is found is found by all of its path

    def _with_twins(self, found: list[int]) -> list[int]:
        if not found:
            return found
        modules = self.modules
        twins = [modules.at.get(modules.module(self.tree.paths[number]), ()) for number in found]
        return [*found, *(number for files in twins for number in files)]


class _Files(Rule):
    """Zig, R and others: paths."""

    separator = "/"
    members = 0
    suffixes: tuple[str, ...] = ("",)

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        name = self.clean(text)
        return next(filter(None, (self.tree.file(folder, name + suffix) for suffix in self.suffixes)), ())

    def anywhere(self, text: str) -> Sequence[int]:
        name = self.clean(text)
        return next(filter(None, (self.tree.ending(name + suffix) for suffix in self.suffixes)), ())

    def root_name(self, parts: Sequence[str]) -> int:
        del parts
        return 0

    def clean(self, text: str) -> str:
        """The path in what is written."""
        return text


# What a path begins with that only the running script knows: ``$DIR/``, ``${x%/*}/``, ``$(dirname "$0")/``.
_SHELL_START = re.compile(r"^(?:\$\([^()]*\)|\$\{[^{}]*\}|\$\w+|`[^`]*`|[/\"])+")


class _Bash(_Files):
    suffixes = ("", ".bash", ".sh")

    def clean(self, text: str) -> str:
        return _SHELL_START.sub("", text).replace('"', "") if "$" in text or "`" in text else text


class _Dart(_Files):
    def clean(self, text: str) -> str:
        """``package:name/a.dart`` is ``lib/a.dart`` of that package."""
        return joined("lib", text.partition("/")[2]) if text.startswith("package:") else text


class _Ruby(Rule):
    separator = "/"
    members = 0

    def parts(self, text: str) -> list[str]:
        return [part for part in text.removesuffix(".rb").split("/") if part not in {"", ".", ".."}]

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        place = resolved(folder, text.removesuffix(".rb"))
        return self.modules.at.get(place, ()) if place else ()

    def anywhere(self, text: str) -> Sequence[int]:
        return self.modules.files(self.modules.ending(self.parts(text)))


class _Lua(Rule):
    naming = Naming(frozenset({"init"}))
    members = 0

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        return self.tree.file(folder, text) if text.endswith(".lua") else ()

    def parts(self, text: str) -> list[str]:
        return [part for part in text.removesuffix(".lua").replace("/", ".").split(".") if part]

    def anywhere(self, text: str) -> Sequence[int]:
        return self.modules.files(self.modules.ending(self.parts(text)))


FAMILIES = (
    family(_Include, "c", "cpp"),
    family(_Ruby, "ruby"),
    family(_Lua, "lua"),
    family(_Dart, "dart"),
    family(_Files, "zig"),
    family(_Files, "r"),
    family(_Bash, "bash"),
)
