"""The julia table on samples that hold each kind of definition; see `indexer.chunk.tables.julia`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_jl() -> None:
    assert outline(cut("julia", "shapes.jl")) == [
        ("namespace", "", "Shapes", 1),
        ("type", "Shapes", "Shape", 11),
        ("type", "Shapes", "Small", 13),
        ("struct", "Shapes", "Point", 20),
        ("method", "Shapes.Point", "Point", 25),
        ("method", "Shapes.Point", "Point", 28),
        ("struct", "Shapes", "Counter", 31),
        ("struct", "Shapes", "Options", 35),
        ("function", "Shapes", "area", 40),
        ("function", "Shapes.area", "inner", 41),
        ("function", "Shapes", "area", 46),
        ("function", "Shapes", "+", 48),
        ("function", "Shapes.Base", "show", 50),
        ("function", "Shapes.Base", "length", 52),
        ("function", "Shapes", "Point", 56),
        ("function", "Shapes", "half", 58),
        ("function", "Shapes", "typed", 60),
        ("function", "Shapes", "quick", 62),
        ("function", "Shapes", "fast", 66),
        ("macro", "Shapes", "twice", 69),
        ("function", "Shapes", "forward", 76),
        ("function", "Shapes", "with_default", 78),
        ("namespace", "Shapes", "Inner", 84),
        ("function", "Shapes.Inner", "deep", 85),
        ("namespace", "Shapes", "Bare", 88),
        ("function", "Shapes", "conditional", 92),
        ("function", "Shapes.Base", "*", 99),
        ("function", "Shapes", "!", 101),
        ("enum", "", "Color", 107),
        ("function", "", "Point", 109),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_jl() -> None:
    found = ranges(cut("julia", "shapes.jl"))
    above = {
        "Shapes.Shape": 10,
        "Shapes.Point": 15,
        "Shapes.Point.Point": 24,
        "Shapes.area": 39,
        "Shapes.twice": 68,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_jl() -> None:
    assert cut("julia", "shapes.jl").imports == ("LinearAlgebra", "Base", "other.jl")


def test_bases_in_shapes_jl() -> None:
    found = {piece.symbol: piece.bases for piece in cut("julia", "shapes.jl").chunks if piece.bases}
    assert found == {"Point": ("Shape",), "Options": ("Shape",)}
