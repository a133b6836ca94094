"""The swift table on samples that hold each kind of definition; see `indexer.chunk.tables.swift`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_swift() -> None:
    assert outline(cut("swift", "Shapes.swift")) == [
        ("interface", "", "Shape", 5),
        ("method", "Shape", "scale", 9),
        ("method", "Shape", "init", 10),
        ("struct", "", "Point", 14),
        ("method", "Point", "+", 17),
        ("method", "Point", "move", 21),
        ("method", "Point", "subscript", 23),
        ("class", "", "Circle", 33),
        ("method", "Circle", "init", 40),
        ("method", "Circle", "init", 45),
        ("method", "Circle", "deinit", 47),
        ("method", "Circle", "shared", 53),
        ("function", "Circle.shared", "nested", 54),
        ("enum", "Circle", "Kind", 59),
        ("method", "Circle.Kind", "label", 64),
        ("impl", "", "Circle", 69),
        ("type", "Circle", "Canvas", 70),
        ("method", "Circle", "draw", 72),
        ("impl", "Foundation", "URL", 75),
        ("method", "Foundation.URL", "absolute", 76),
        ("class", "", "Counter", 79),
        ("method", "Counter", "increment", 81),
        ("type", "", "Pair", 84),
        ("function", "", "<+>", 89),
        ("function", "", "platform", 93),
        ("function", "", "platform", 95),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_swift() -> None:
    found = ranges(cut("swift", "Shapes.swift"))
    above = {
        "Shape": 4,
        "Shape.scale": 8,
        "Point": 13,
        "Circle": 28,
        "Circle.init": 39,
        "Circle.shared": 51,
        "<+>": 88,
        "platform": 92,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_swift() -> None:
    assert cut("swift", "Shapes.swift").imports == ("Foundation", "UIKit.UIView")


def test_bases_in_shapes_swift() -> None:
    found = {piece.symbol: piece.bases for piece in cut("swift", "Shapes.swift").chunks if piece.bases}
    assert found == {
        "Shape": ("AnyObject", "CustomStringConvertible"),
        "Point": ("Equatable",),
        "Circle": ("Drawable",),
        "Kind": ("String", "CaseIterable"),
    }
