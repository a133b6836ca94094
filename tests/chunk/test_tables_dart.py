"""The dart table on samples that hold each kind of definition; see `indexer.chunk.tables.dart`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_dart() -> None:
    assert outline(cut("dart", "shapes.dart")) == [
        ("class", "", "Shape", 12),
        ("method", "Shape", "Shape", 13),
        ("method", "Shape", "area", 15),
        ("method", "Shape", "describe", 16),
        ("method", "Shape", "compareTo", 19),
        ("class", "", "Point", 24),
        ("method", "Point", "Point", 29),
        ("method", "Point", "origin", 31),
        ("method", "Point", "fromJson", 35),
        ("method", "Point", "area", 41),
        ("method", "Point", "scale", 43),
        ("method", "Point", "+", 47),
        ("method", "Point", "describe", 50),
        ("function", "Point.describe", "local", 51),
        ("method", "Point", "load", 56),
        ("method", "Point", "native", 60),
        ("trait", "", "Logging", 63),
        ("method", "Logging", "log", 64),
        ("impl", "", "Shout", 68),
        ("method", "Shout", "shout", 69),
        ("method", "Shout", "loud", 70),
        ("impl", "", "int", 73),
        ("method", "int", "twice", 74),
        ("enum", "", "Color", 77),
        ("method", "Color", "Color", 81),
        ("method", "Color", "warm", 84),
        ("enum", "", "Plain", 87),
        ("type", "", "Handler", 89),
        ("type", "", "Old", 90),
        ("class", "", "Result", 92),
        ("class", "", "Alias", 94),
        ("function", "", "add", 97),
        ("function", "", "answer", 101),
        ("function", "", "answer", 103),
        ("function", "", "main", 105),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_dart() -> None:
    found = ranges(cut("dart", "shapes.dart"))
    above = {
        "Shape": 11,
        "Shape.compareTo": 18,
        "Point": 22,
        "Point.Point": 28,
        "Point.area": 39,
        "Point.describe": 49,
        "Shout": 67,
        "add": 96,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_dart() -> None:
    assert cut("dart", "shapes.dart").imports == (
        "dart:math",
        "package:meta/meta.dart",
        "src/other.dart",
        "shapes.g.dart",
    )


def test_bases_in_shapes_dart() -> None:
    found = {piece.symbol: piece.bases for piece in cut("dart", "shapes.dart").chunks if piece.bases}
    assert found == {
        "Shape": ("Comparable",),
        "Point": ("Shape", "Logging", "HasName"),
        "Shout": ("String",),
        "Color": ("HasName",),
    }
