"""Running text and data: anything without definitions, cut at the seams that `indexer.chunk.seams` finds.

A text is one unit that is cut into overlapping parts when it is too large. *Records* (message catalogues, JSON, YAML,
CSV ...) have lines or entries that stand for themselves: they are cut too, but without overlap, and the pieces are
chunks of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from indexer.chunk.seams import Ruler, split
from indexer.chunk.spans import Lines
from indexer.types import Chunk, FileChunks, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexer.settings import ChunkSettings


class Unit(NamedTuple):
    """A byte range that becomes one chunk, or overlapping parts of one.

    ``at`` is the byte whose line is the unit's line, -1 for wherever each part begins; ``parent`` is the index of the
    unit around it, -1 for none. ``alone``: the pieces of a large one are chunks of their own, without overlap.
    """

    start: int
    end: int
    kind: str = Kind.TEXT
    symbol: str = ""
    scope: str = ""
    at: int = -1
    signature: tuple[int, int] = (0, 0)
    parent: int = -1
    alone: bool = False


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
    unit = Unit(0, len(text), alone=language in RECORDS)
    fallback = f"no rules for {language}: cut as plain text" if language in WITHOUT_RULES else ""
    return FileChunks(write(text, language, [unit], settings), (), fallback)


def write(text: bytes, language: str, units: Iterable[Unit], settings: ChunkSettings) -> tuple[Chunk, ...]:
    """Chunks of the units, which must be disjoint and in order; a blank one gives none."""
    ruler = Ruler(text)
    lines = Lines(text)
    chunks: list[Chunk] = []
    first: list[int] = []  # unit -> its first chunk; that of the next one if it is blank
    for unit in units:
        first.append(len(chunks))
        parent = first[unit.parent] if unit.parent >= 0 else -1
        pieces = split(
            ruler, unit.start, unit.end, settings.max_tokens, 0 if unit.alone else settings.overlap
        )
        in_parts = len(pieces) > 1 and not unit.alone
        for number, piece in enumerate(pieces, 1):
            chunks.append(
                Chunk(
                    unit.kind,
                    unit.symbol,
                    unit.scope,
                    language,
                    (lines.span(piece.start, piece.end),),
                    lines.line(unit.at if unit.at >= 0 else piece.own),
                    unit.signature,
                    parent=first[-1] if in_parts and number > 1 else parent,
                    part=number if in_parts else 0,
                )
            )
    return tuple(chunks)
