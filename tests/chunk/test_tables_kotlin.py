"""The kotlin table on samples that hold each kind of definition; see `indexer.chunk.tables.kotlin`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_kt() -> None:
    assert outline(cut("kotlin", "Shapes.kt")) == [
        ("interface", "", "Shape", 9),
        ("method", "Shape", "scale", 11),
        ("method", "Shape", "describe", 12),
        ("class", "", "Point", 19),
        ("method", "Point", "constructor", 20),
        ("method", "Point", "plus", 28),
        ("class", "Point", "Companion", 30),
        ("method", "Point.Companion", "origin", 35),
        ("class", "", "Result", 39),
        ("class", "Result", "Ok", 40),
        ("class", "Result", "Failed", 41),
        ("method", "Result.Failed", "why", 42),
        ("class", "", "Circle", 46),
        ("method", "Circle", "load", 51),
        ("class", "Circle", "Inside", 53),
        ("method", "Circle.Inside", "deep", 54),
        ("function", "Circle.Inside.deep", "local", 55),
        ("class", "Circle", "Factory", 61),
        ("method", "Circle.Factory", "create", 62),
        ("function", "Circle.Factory.create", "load", 63),
        ("enum", "", "Color", 68),
        ("method", "Color", "warm", 70),
        ("method", "Color", "warm", 74),
        ("interface", "", "Action", 77),
        ("method", "Action", "run", 78),
        ("class", "", "Marker", 81),
        ("class", "", "Registry", 83),
        ("method", "Registry", "run", 85),
        ("class", "", "Name", 89),
        ("type", "", "Handler", 91),
        ("function", "List", "doubled", 94),
        ("function", "String", "orEmptyText", 96),
        ("function", "", "top", 98),
        ("function", "", "name with spaces", 105),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_kt() -> None:
    found = ranges(cut("kotlin", "Shapes.kt"))
    above = {
        "Shape": 8,
        "Point": 15,
        "Point.Companion.origin": 33,
        "Circle.load": 50,
        "Name": 88,
        "List.doubled": 93,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_kt() -> None:
    assert cut("kotlin", "Shapes.kt").imports == ("kotlin.math.PI", "geo.base.*")


def test_bases_in_shapes_kt() -> None:
    found = {piece.symbol: piece.bases for piece in cut("kotlin", "Shapes.kt").chunks if piece.bases}
    assert found == {
        "Shape": ("Comparable<Shape<*>>",),
        "Ok": ("Result<T>",),
        "Failed": ("Result<Nothing>",),
        "Circle": ("Shape<Int>", "Base"),
        "Registry": ("Action",),
    }
