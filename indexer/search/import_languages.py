"""Each language's own way to say what it imports, as rules; and which languages import each other's files."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from indexer.search import import_paths
from indexer.search.import_rules import Rule, Tree, family
from indexer.search.modules import Naming, above, folded, joined, resolved

if TYPE_CHECKING:
    from collections.abc import Sequence

I64 = NDArray[np.int64]


class _Python(Rule):
    naming = Naming(frozenset({"__init__"}))

    def parts(self, text: str) -> list[str]:
        return [] if text.startswith(".") else text.split(".")

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        if not text.startswith("."):
            return self._beside(folder, text)
        del path
        name = text.lstrip(".")
        for _ in range(len(text) - len(name) - 1):
            if not folder:
                return ()
            folder = above(folder)
        return self.modules.longest(folder, name.split(".") if name else [], 0)

    def _beside(self, folder: str, text: str) -> Sequence[int]:
        """A script's neighbour: only where there is no package around."""
        modules = self.modules
        if folder in modules.at or joined(folder, text.partition(".")[0]) not in modules.places:
            return ()
        return modules.longest(folder, text.split("."), 1)

    def anywhere(self, text: str) -> Sequence[int]:
        return self.exactly(self.parts(text))


_NODE = frozenset(
    {
        "assert",
        "buffer",
        "child_process",
        "cluster",
        "console",
        "crypto",
        "dns",
        "events",
        "fs",
        "http",
        "http2",
    }
    | {
        "https",
        "module",
        "net",
        "os",
        "path",
        "process",
        "querystring",
        "readline",
        "stream",
        "timers",
        "tls",
    }
    | {"tty", "url", "util", "v8", "vm", "worker_threads", "zlib"}
)
_SOURCES = ("src", "lib", "source", "")
_SCRIPT_SUFFIX = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
_INDEX = re.compile(r"(?:^|/)index$")


class _Script(Rule):
    naming = Naming(frozenset({"index"}))

    def parts(self, text: str) -> list[str]:
        del text
        return []

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        if not text.startswith("."):
            return ()
        name = text.partition("?")[0]
        place = resolved(folder, name)
        if place is None:
            return ()
        at = self.modules.at
        stem = _SCRIPT_SUFFIX.sub("", place)
        return (
            self.tree.file("", place) or at.get(place) or at.get(stem) or at.get(_INDEX.sub("", stem)) or ()
        )

    def anywhere(self, text: str) -> Sequence[int]:
        name = _SCRIPT_SUFFIX.sub("", text.partition("?")[0])
        parts = [part for part in name.lstrip("@~#/").split("/") if part]
        if not parts or parts[0] in _NODE or text.startswith((".", "node:")):
            return ()
        if name.startswith(("@/", "~/", "/", "#")):
            return self.modules.files(self.modules.ending(parts))
        return self._of_package(parts[1:] if name.startswith("@") else parts)

    def _of_package(self, parts: Sequence[str]) -> Sequence[int]:
        """``@scope/name/inner``: in a folder called as the package, and in its folder of sources."""
        for sources in _SOURCES if parts else ():
            found = self.modules.ending([parts[0], *filter(None, (sources,)), *parts[1:]])
            files = self.modules.files(found)
            if len(parts) == 1:  # a package is a folder: a file with its name is only called so
                files = [number for number in files if self._stem(number) in self.naming.folder_stems]
            if files:
                return files
        return ()

    def _stem(self, number: int) -> str:
        return self.tree.paths[number].rpartition("/")[2].partition(".")[0]


_GO_ROOTS = ("/src/", "/vendor/")


class _Go(Rule):
    """An import names a folder; its tests are no part of it."""

    naming = Naming(folders=True)
    separator = "/"
    members = 0

    def __init__(self, tree: Tree, files: Sequence[int]) -> None:
        super().__init__(tree, [number for number in files if not tree.paths[number].endswith("_test.go")])

    def parts(self, text: str) -> list[str]:
        return text.split("/")

    def head(self, parts: Sequence[str]) -> int:
        """The host, the owner and the project; what comes without a host is the language's own."""
        return min(3, len(parts)) if "." in parts[0] else len(parts)

    def anywhere(self, text: str) -> Sequence[int]:
        parts = text.split("/")
        common, folders = self.modules.like(parts)
        head = self.head(parts)
        if head == len(parts) and common == head:  # the language's own, or a copy: only where such things lie
            rooted = [
                one for one in folders if one == text or f"/{one}".removesuffix(text).endswith(_GO_ROOTS)
            ]
            return self.modules.files(rooted)
        if common and (common == len(parts) or common >= len(parts) - head > 0):
            return self.modules.files(folders)
        return self._in_root.get(parts[-1], ()) if head == len(parts) == 3 else ()

    @cached_property
    def _in_root(self) -> dict[str, list[int]]:
        """Files of the root by stem: the package there has no name in the tree, but often a file with its name."""
        return {
            self.tree.paths[number].removesuffix(".go"): [number] for number in self.modules.at.get("", ())
        }


class _Jvm(Rule):
    """Java, Kotlin, Scala: a class has a file, or something in the folder of its package has it."""

    naming = Naming(first_dot=True)
    members = 2

    def anywhere(self, text: str) -> Sequence[int]:
        parts = self.parts(text.partition(" ")[0])
        if parts and parts[-1] in {"*", "_"}:
            return self.like(parts[:-1]) or self._package(parts[:-1])
        return self.like(parts)

    def _package(self, parts: Sequence[str]) -> Sequence[int]:
        common, folders = self.modules.folders.like(parts)
        enough = common == len(parts) or common > 2
        return self.modules.folders.files(folders) if enough else ()


class _Folded(Rule):
    """Elixir, OCaml, Swift: ``Plug.Conn.Query`` in ``plug/conn/query.ex``."""

    naming = Naming(fold=True)


class _Julia(_Folded):
    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        return self.tree.file(folder, text) if text.endswith(".jl") else ()


class _Haskell(Rule):
    members = 0


class _Php(Rule):
    separator = "\\"

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del path
        return self.tree.file(folder, text.lstrip("/")) if "." in text else ()

    def anywhere(self, text: str) -> Sequence[int]:
        return self.tree.ending(text) if "." in text else self.like(self.parts(text))


class _Perl(Rule):
    separator = "::"

    def anywhere(self, text: str) -> Sequence[int]:
        return self.tree.ending(text) if "." in text else self.like(self.parts(text))


_RUST_OWN = ("std::", "core::", "alloc::")


class _Rust(Rule):
    naming = Naming(frozenset({"mod", "lib", "main"}), fold=True)
    separator = "::"
    by_file = True

    def __init__(self, tree: Tree, files: Sequence[int]) -> None:
        super().__init__(tree, files)
        self._last = ("", "")
        self._split: dict[str, list[str]] = {}
        self._in_crate: dict[tuple[str, str], Sequence[int]] = {}

    def near(self, folder: str, path: str, text: str) -> Sequence[int]:
        del folder
        parts = self._parts(text)
        if not parts:
            return ()
        own = self._module(path)
        if parts[0] == "crate":
            key = (self._crate(own), text)
            if key not in self._in_crate:
                self._in_crate[key] = self.modules.longest(key[0], parts[1:], 0)
            return self._in_crate[key]
        if parts[0] == "self":
            return self.modules.longest(own, parts[1:], 0)
        if parts[0] == "super":
            count = next((at for at, part in enumerate(parts) if part != "super"), len(parts))
            for _ in range(count):
                own = above(own)
            return self.modules.longest(own, parts[count:], 0)
        return self._child(own, parts) or self._of_crate(parts) or self._child(above(own), parts)

    def _parts(self, text: str) -> list[str]:
        """The parts of a path, folded; none of one that leads to the language's own crates or to all that is around."""
        if text not in self._split:
            parts = [folded(part) for part in text.split("::") if part not in {"", "*"}]
            useless = text.startswith(_RUST_OWN) or (parts == ["super"] and text.endswith("*"))
            self._split[text] = [] if useless else parts
        return self._split[text]

    def _child(self, module: str, parts: Sequence[str]) -> Sequence[int]:
        if joined(module, parts[0]) not in self.modules.places:
            return ()
        return self.modules.longest(module, parts, 1)

    def parts(self, text: str) -> list[str]:
        del text
        return []

    def _module(self, path: str) -> str:
        """The module of a file; that of the file asked for last is kept, since all its imports ask."""
        if self._last[0] != path:
            self._last = (path, self.modules.module(path))
        return self._last[1]

    def _crate(self, own: str) -> str:
        while own and own not in self._crates:
            own = above(own)
        return own

    def _of_crate(self, parts: Sequence[str]) -> Sequence[int]:
        crate = self._named.get(parts[0])
        return () if crate is None else self.modules.longest(crate, parts[1:], 0)

    @cached_property
    def _crates(self) -> frozenset[str]:
        """Folders that a crate begins in."""
        paths = [self.tree.paths[number] for files in self.modules.at.values() for number in files]
        roots = {"lib.rs", "main.rs"}
        return frozenset(folded(above(path)) for path in paths if path.rpartition("/")[2] in roots)

    @cached_property
    def _named(self) -> dict[str, str]:
        """Crates by name, which is that of the folder around their ``src``."""
        return {above(root).rpartition("/")[2]: root for root in sorted(self._crates, reverse=True)}


FAMILIES = (
    *import_paths.FAMILIES,
    family(_Python, "python", "notebook"),
    family(_Script, "javascript", "typescript", "tsx", "vue", "svelte", "html"),
    family(_Go, "go"),
    family(_Jvm, "java", "kotlin", "scala"),
    family(Rule, "csharp"),
    family(_Haskell, "haskell"),
    family(_Folded, "elixir"),
    family(_Folded, "ocaml"),
    family(_Folded, "swift"),
    family(_Julia, "julia"),
    family(_Php, "php"),
    family(_Perl, "perl"),
    family(_Rust, "rust"),
)


def _family_with(language: str) -> int:
    return next(at for at, family in enumerate(FAMILIES) if language in family.languages)


_LANGUAGES = sorted(language for family in FAMILIES for language in family.languages)
_NUMBERS = {language: number for number, language in enumerate(_LANGUAGES, 1)}
_FAMILY_OF = np.array([-1, *(_family_with(language) for language in _LANGUAGES)])


def number_of(language: str) -> int:
    """A number for each language that has imports, 0 for the others."""
    return _NUMBERS.get(language, 0)


def families(numbers: I64) -> I64:
    """Places in `FAMILIES` of languages by number, -1 for 0."""
    found: I64 = _FAMILY_OF[numbers]
    return found
