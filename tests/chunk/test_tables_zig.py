"""The zig table on samples that hold each kind of definition; see `indexer.chunk.tables.zig`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_zig() -> None:
    assert outline(cut("zig", "shapes.zig")) == [
        ("struct", "", "Point", 10),
        ("method", "Point", "init", 17),
        ("struct", "Point", "Inner", 21),
        ("method", "Point.Inner", "deep", 24),
        ("method", "Point", "inside", 29),
        ("enum", "", "Color", 34),
        ("method", "Color", "warm", 38),
        ("struct", "", "Value", 43),
        ("struct", "", "Handle", 45),
        ("enum", "", "Errors", 47),
        ("function", "", "List", 49),
        ("function", "List", "push", 55),
        ("function", "", "add", 63),
        ("function", "", "puts", 67),
        ("function", "", "quick", 69),
        ("function", "", "odd name", 71),
        ("function", "", "adds", 75),
        ("function", "", "add", 79),
        ("function", "", "test", 83),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_zig() -> None:
    found = ranges(cut("zig", "shapes.zig"))
    above = {
        "Point": 9,
        "Point.init": 16,
        "add": 62,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_zig() -> None:
    assert cut("zig", "shapes.zig").imports == ("std", "other.zig")
