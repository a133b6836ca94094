"""The language of a file, by its name and its first bytes: suffix first, then full name, then the ``#!`` line.

Nothing of the machine takes part (no permission bits, no installed tools), so that any two machines agree. Code has
the names of our own table; data formats have the tag that `identify` knows them by; the rest is ``text``.
"""

from __future__ import annotations

import re
from functools import cache
from posixpath import basename

from identify.identify import tags_from_filename

_SUFFIXES = {
    "python": "py pyi pyw",
    "javascript": "js mjs cjs jsx es6",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp txx ixx cppm cu cuh",
    "csharp": "cs csx",
    "ruby": "rb rake gemspec ru rbw podspec",
    "php": "php phtml php3 php4 php5 php7 phps",
    "swift": "swift",
    "kotlin": "kt kts",
    "scala": "scala sc sbt",
    "lua": "lua rockspec",
    "bash": "sh bash zsh ksh bats ebuild",
    "elixir": "ex exs",
    "haskell": "hs",
    "zig": "zig zon",
    "sql": "sql ddl",
    "dart": "dart",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "ocaml": "ml mli",
    "vue": "vue",
    "svelte": "svelte",
    "html": "html htm xhtml",
    "markdown": "md markdown mdx mdown mkd",
    "rst": "rst rest",
    "notebook": "ipynb",
    "json": "json jsonc json5 jsonl ndjson geojson webmanifest",
    "dockerfile": "dockerfile containerfile",
}
_BY_SUFFIX = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}

_BY_NAME = {
    "rakefile": "ruby",
    "gemfile": "ruby",
    "podfile": "ruby",
    "fastfile": "ruby",
    "brewfile": "ruby",
    "vagrantfile": "ruby",
    "guardfile": "ruby",
    "capfile": "ruby",
    ".irbrc": "ruby",
    "sconstruct": "python",
    "sconscript": "python",
    "wscript": "python",
    ".pythonrc": "python",
    ".bashrc": "bash",
    ".bash_profile": "bash",
    ".bash_aliases": "bash",
    ".profile": "bash",
    ".zshrc": "bash",
    ".zshenv": "bash",
    ".zprofile": "bash",
    "pkgbuild": "bash",
    ".rprofile": "r",
}

_INTERPRETERS = {
    "python": "python pypy pythonw",
    "javascript": "node nodejs bun",
    "typescript": "deno ts-node tsx",
    "bash": "sh bash zsh ksh dash ash mksh bats",
    "ruby": "ruby jruby macruby rake",
    "perl": "perl",
    "php": "php",
    "lua": "lua luajit texlua",
    "r": "rscript littler",
    "julia": "julia",
    "elixir": "elixir",
    "swift": "swift",
    "kotlin": "kotlin",
    "scala": "scala amm",
    "haskell": "runhaskell runghc stack",
    "ocaml": "ocaml ocamlrun",
    "dart": "dart",
    "go": "gorun",
    "rust": "rust-script run-cargo-script",
}
_BY_INTERPRETER = {word: name for name, words in _INTERPRETERS.items() for word in words.split()}

# Tags of `identify` that say how a file is, not what language it is in; and two that we call otherwise.
_NO_LANGUAGE = {
    "text",
    "plain-text",
    "binary",
    "executable",
    "non-executable",
    "header",
    "image",
    "audio",
    "video",
}
# A file with a tag of its own (``pyproject``) that is also one of these is this.
_FORMATS = {"json", "toml", "yaml", "xml", "ini"}
_RENAMED = {
    "pofile": "po",
    "shell": "bash",
    "c++": "cpp",
    "c#": "csharp",
    "jsx": "javascript",
    "ts": "typescript",
}

_SHEBANG = re.compile(rb"(?:\xef\xbb\xbf)?#![ \t]*([^\r\n]{1,200})")
_VERSION_AT_END = re.compile(r"[-.0-9]+(?:\.exe)?$")
# What C never has at the beginning of a line, and C++ headers nearly always have somewhere.
_CPP = re.compile(
    rb"^[ \t]*(?:class[ \t]+\w|namespace\b[^;=]*(?:\{|$)|template[ \t]*<|using[ \t]+\w|(?:public|private|protected)"
    rb"[ \t]*:|virtual[ \t]|constexpr[ \t]|extern[ \t]+template|friend[ \t])|\bstd::|^#[ \t]*include[ \t]*<\w+>",
    re.MULTILINE,
)
_PERL = re.compile(rb"^[ \t]*(?:use|package|no)[ \t]+[A-Za-z0-9_:]+[^;\n]*;", re.MULTILINE)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!DOCTYPE|TS\b)")


def language_of(path: str, head: bytes) -> str:
    """Language of the file at ``path`` whose content begins with ``head`` (a few kilobytes); ``text`` if none fits."""
    name = basename(path).lower()
    stem, dot, suffix = name.rpartition(".")
    by_suffix = _BY_SUFFIX.get(suffix, "") if dot and stem else ""
    if suffix == "h" and dot:
        return "cpp" if _CPP.search(head) else "c"
    if suffix == "t" and dot:
        return "perl" if _PERL.search(head) or _of_shebang(head) == "perl" else "text"
    if suffix == "ts" and _XML.match(head):  # translations of Qt
        return "xml"
    return by_suffix or _BY_NAME.get(name) or _of_tags(basename(path)) or _of_shebang(head) or "text"


def _of_shebang(head: bytes) -> str:
    """Language of the interpreter in the ``#!`` line, through ``env`` and without version; empty for none or unknown."""
    match = _SHEBANG.match(head)
    words = match[1].decode("utf-8", "replace").split() if match else []
    if words and basename(words[0]) == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    if not words:
        return ""
    program = basename(words[0]).lower()
    return _BY_INTERPRETER.get(program) or _BY_INTERPRETER.get(_VERSION_AT_END.sub("", program), "")


@cache
def _of_tags(name: str) -> str:
    """The tag of `identify` for a file's name that says its format; empty for none, the first in the alphabet of many."""
    found = tags_from_filename(name) - _NO_LANGUAGE
    tags = sorted(found & _FORMATS or found)
    return _RENAMED.get(tags[0], tags[0]) if tags else ""
