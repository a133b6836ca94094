"""C++: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("cpp", "kinds.cpp")
TEXT = (SAMPLES / "cpp" / "kinds.cpp").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("namespace", "outer", "middle", 6),
        ("namespace", "outer.middle", "v1", 8),
        ("function", "outer.middle.v1", "function_in_v1", 8),
        ("class", "outer.middle", "Matrix", 12),
        ("method", "outer.middle.Matrix", "Matrix", 14),
        ("method", "outer.middle.Matrix", "Matrix", 15),
        ("method", "outer.middle.Matrix", "~Matrix", 16),
        ("method", "outer.middle.Matrix", "Matrix", 17),
        ("method", "outer.middle.Matrix", "operator=", 19),
        ("method", "outer.middle.Matrix", "operator==", 20),
        ("method", "outer.middle.Matrix", "operator bool", 21),
        ("method", "outer.middle.Matrix", "operator()", 22),
        ("method", "outer.middle.Matrix", "draw", 23),
        ("method", "outer.middle.Matrix", "convert", 25),
        ("struct", "outer.middle.Matrix", "Row", 26),
        ("enum", "outer.middle.Matrix", "Mode", 27),
        ("method", "outer.middle.Matrix", "operator<<", 28),
        ("method", "outer.middle.Matrix", "declared_only", 35),
        ("method", "outer.middle.Widget", "Widget", 40),
        ("method", "outer.Widget", "~Widget", 41),
        ("method", "outer.Widget", "name", 42),
        ("method", "outer.Widget", "operator int", 43),
        ("class", "", "Exported", 45),
        ("method", "Exported", "method", 46),
        ("struct", "", "Bits", 49),
        ("enum", "", "Level", 50),
        ("type", "", "Alias", 51),
        ("type", "", "Alias2", 52),
        ("struct", "", "Anonymous", 53),
        ("type", "", "Small", 54),
        ("function", "", "c_function", 58),
        ("function", "", "trailing", 61),
        ("function", "", "pointer", 62),
        ("function", "MatrixTest", "Multiplies", 64),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {
        "outer.middle.Matrix": (10, 32),
        "outer.middle.Matrix.operator=": (18, 19),
        "outer.middle.Matrix.declared_only": (34, 35),
    }
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {"Matrix": "/// A class.", "operator=": "// Assigns."}


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "function_in_v1": "void function_in_v1()",
        "Matrix": "Matrix(const Matrix&) = delete;",
        "~Matrix": "~Matrix()",
        "operator=": "Matrix& operator=(const Matrix& other)",
        "operator==": "bool operator==(const Matrix&) const",
        "operator bool": "explicit operator bool() const",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Matrix": ("Base<T>", "detail::Storage"),
        "Exported": ("Q",),
    }


def test_imports() -> None:
    assert FOUND.imports == ("vector", "kinds.hpp")
