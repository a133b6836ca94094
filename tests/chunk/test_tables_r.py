"""The r table on samples that hold each kind of definition; see `indexer.chunk.tables.r`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_r() -> None:
    assert outline(cut("r", "shapes.R")) == [
        ("function", "", "add", 11),
        ("function", "add", "inner", 12),
        ("function", "", "subtract", 16),
        ("function", "", "double", 18),
        ("function", "", "odd name", 22),
        ("function", "", "quoted", 24),
        ("function", "", "area<-", 26),
        ("function", "", "print.shape", 28),
        ("function", "", "lambda", 32),
        ("function", "", "%+%", 34),
        ("class", "", "Point", 37),
        ("class", "", "Circle", 39),
        ("function", "", "area", 41),
        ("method", "Circle", "area", 43),
        ("method", "Point", "show", 47),
        ("class", "", "Account", 51),
        ("method", "Account", "deposit", 54),
        ("class", "", "Stack", 61),
        ("method", "Stack", "push", 66),
        ("method", "Stack", "size", 69),
        ("method", "Stack", "secret", 72),
        ("method", "Stack", "top", 75),
        ("function", "env", "method", 83),
        ("function", "", "conditional", 86),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_r() -> None:
    found = ranges(cut("r", "shapes.R"))
    above = {
        "add": 7,
        "Point": 36,
        "Stack": 60,
        "Stack.push": 65,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_r() -> None:
    assert cut("r", "shapes.R").imports == ("methods", "stats", "other.R")


def test_bases_in_shapes_r() -> None:
    found = {piece.symbol: piece.bases for piece in cut("r", "shapes.R").chunks if piece.bases}
    assert found == {"Circle": ("Point",), "Stack": ("Base",)}
