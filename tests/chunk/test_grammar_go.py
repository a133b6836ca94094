"""Go: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("go", "kinds.go")
TEXT = (SAMPLES / "go" / "kinds.go").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("struct", "", "Point", 17),
        ("interface", "", "Shape", 23),
        ("type", "", "ID", 26),
        ("struct", "", "Pair", 30),
        ("function", "", "New", 33),
        ("struct", "New", "local", 34),
        ("type", "New", "deep", 36),
        ("method", "Point", "Move", 42),
        ("method", "Point", "String", 43),
        ("method", "Pair", "Swap", 44),
        ("function", "", "Map", 45),
        ("method", "Point", "unnamed", 46),
        ("function", "", "external", 49),
        ("function", "", "init", 51),
        ("function", "", "init", 52),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {"Point": (14, 19), "Shape": (22, 25), "Pair": (29, 30), "New": (32, 40), "external": (48, 49)}
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {
        "Point": "// Point is a point.\n//\n// It has two coordinates.",
        "Shape": "// Shape is a shape.",
        "Pair": "/* Pair of anything. */",
        "New": "// New makes one.",
        "external": "//go:noescape",
    }


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "Point": "type Point",
        "Pair": "type Pair[K comparable, V any]",
        "New": "func New(x, y int) *Point",
        "local": "type local",
        "Move": "func (p *Point) Move(dx int)",
        "String": "func (p Point) String() string",
    }
    assert {name: found[name] for name in expected} == expected


def test_imports() -> None:
    assert FOUND.imports == ("fmt", "os", "example.com/x/y")
