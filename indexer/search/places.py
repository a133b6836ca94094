"""What kind of place a path is: production code, or tests, examples, documentation, vendored or generated files.

Judged by the path alone. Names are matched as whole words of a folder or file name, so that a project or module
that merely ends in "test" (``unittest``, ``pytest``, ``latest``) is not taken for its own tests.
"""

from __future__ import annotations

import re


class Place:
    """Bits; a path may have several. NONE of them: production code."""

    TEST = 1
    EXAMPLE = 2
    DOCS = 4
    VENDOR = 8
    GENERATED = 16
    LEGACY = 32
    DATA = 64


_FOLDERS = {
    Place.TEST: r"tests?|__tests?__|specs?|testing|testdata|test[-_].+|.+[-_.]tests?|fixtures?|mocks?|__mocks__|testfixtures"
    r"|e2e|integration[-_]tests?|(?-i:[a-z]+(?:[A-Z][a-z]+)*Tests?)",
    Place.EXAMPLE: r"examples?|samples?|demos?|playground|tutorials?|bench(?:mark)?s?|benchmarking|.+[-_](?:examples?|benchmarks?)"
    r"|examples?[-_].+|cookbook",
    Place.DOCS: r"docs?|documentation|doc[-_].+|man|site|website|changelogs?",
    Place.VENDOR: r"vendor(?:ed)?|_vendor|third[-_]?party|node_modules|extern(?:al)?|deps|bundled|bower_components",
    Place.GENERATED: r"generated|_?gen|dist|__generated__|autogen|\.github|\.circleci|\.vscode|\.husky|\.idea",
    Place.LEGACY: r"legacy|deprecated|compat|_?old|attic|archive",
}
_FILES = {
    Place.TEST: r"(?:.+[-_.])?(?:tests?|specs?)|tests?[-_.].+|.+(?<=[a-z0-9])(?:Tests?|Spec|TestCase)|conftest|Test[A-Z].*"
    r"|.+[-_](?:unittest|testutil|mock)|.+\.(?:test|spec)[-.].+",
    Place.EXAMPLE: r"(?:.+[-_.])?(?:examples?|samples?|demos?|bench(?:mark)?s?)|bench[-_].+|.+(?<=[a-z0-9])Benchmarks?|Benchmark[A-Z].*",
    Place.DOCS: r"README.*|CHANGES?|CHANGELOG.*|HISTORY|NEWS|LICEN[CS]E.*|COPYING.*|CONTRIBUTING.*|AUTHORS?|CODE_OF_CONDUCT"
    r"|SECURITY|NOTICE",
    Place.GENERATED: r".+_pb2(?:_grpc)?|.+\.(?:pb|g|gen|generated|min|designer|d)|package-lock|pnpm-lock|zz_generated.*|.+_generated",
    Place.LEGACY: r".+[-_](?:compat|legacy|deprecated|old)|(?:compat|legacy|deprecated)(?:[-_].+)?",
}
_SUFFIXES = {
    Place.DOCS: r"md|markdown|rst|adoc|txt|mdx|org|pod|[1-8]|html?",
    Place.DATA: r"json|ya?ml|toml|lock|xml|csv|tsv|svg|ini|cfg|conf|po|pot|properties|gradle|csproj|sln|props|targets|podspec"
    r"|gemspec|cabal|sum|mod|css|scss|less|snap|map|ac|am|m4|vcxproj|pbxproj|xcscheme|filters|api|nix",
}
_OF_FOLDER = [(bit, re.compile(f"(?:{text})", re.IGNORECASE)) for bit, text in _FOLDERS.items()]
_OF_FILE = [(bit, re.compile(f"(?:{text})")) for bit, text in _FILES.items()]
_OF_SUFFIX = [(bit, re.compile(f"(?:{text})", re.IGNORECASE)) for bit, text in _SUFFIXES.items()]


def places_of(path: str) -> int:
    """Return the bits of `Place` that hold for a path."""
    *folders, name = path.split("/")
    stem, _, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
    bits = 0
    for bit, pattern in _OF_FOLDER:
        if any(pattern.fullmatch(folder) for folder in folders):
            bits |= bit
    for bit, pattern in _OF_FILE:
        if pattern.fullmatch(stem):
            bits |= bit
    for bit, pattern in _OF_SUFFIX:
        if pattern.fullmatch(suffix):
            bits |= bit
    return bits
