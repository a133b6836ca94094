"""Running text and data: anything without definitions, cut at the seams that `indexer.chunk.seams` finds.

A text is one unit that is cut into overlapping parts when it is too large. *Records* (message catalogues, JSON, YAML,
CSV ...) have lines or entries that stand for themselves: they are cut too, but without overlap, and the pieces are
chunks of their own. A text that is written in reStructuredText, whatever its name, is cut by its headings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer.chunk import rst
from indexer.chunk.units import Unit, write
from indexer.types import FileChunks

if TYPE_CHECKING:
    from indexer.settings import ChunkSettings

# Data whose lines or entries stand for themselves, by the names that `indexer.chunk.languages` gives.
_RECORDS = (
    "avro-schema browserslistrc cargo-lock cson csproj css csv diff dockerignore dotenv dtd editorconfig edn fsproj"
    " gemfile-lock geojson gitattributes gitconfig gitignore gitmodules go-mod go-sum gpx graphql icalendar ini"
    " java-properties json json5 jsonc jsonld jsonnet kml less mailmap manifest npmignore pem pipfile-lock plist po"
    " pofile poetry-lock pom proto pyproject relax-ng resx sass scss sln svg textproto toml tsv urdf uv-lock vbproj"
    " vcxproj wsdl xaml xhtml xliff xml xsd xsl yaml yang"
)
RECORDS = frozenset(_RECORDS.split())
# Languages that have definitions, but no rules here to find them: cut as text, and told to be.
_WITHOUT_RULES = (
    "ada asm aspectj awk batch bicep clojure clojurescript cobol coffee crystal csh cuda cython d elm erlang f# fish"
    " fortran gdscript gleam groovy hcl hlsl idris lean lisp luau m4 magik matlab metal nim nix nushell objective-c"
    " objective-c++ pascal powershell prolog puppet purescript sas scheme solidity system-verilog terraform thrift tcl"
    " vala vb verilog vhdl vim"
)
WITHOUT_RULES = frozenset(_WITHOUT_RULES.split())


def chunk(language: str, text: bytes, settings: ChunkSettings) -> FileChunks:
    """Cut any text: data in pieces without overlap, all else in overlapping parts."""
    if language == "text" and rst.is_likely(text):
        return rst.chunk(language, text, settings)
    unit = Unit(0, len(text), alone=language in RECORDS)
    fallback = f"no rules for {language}: cut as plain text" if language in WITHOUT_RULES else ""
    return FileChunks(write(text, language, [unit], settings), (), fallback)
