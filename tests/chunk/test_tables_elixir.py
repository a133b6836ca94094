"""The elixir table on samples that hold each kind of definition; see `indexer.chunk.tables.elixir`."""

from tests.chunk.outlines import SAMPLES, cut, cut_text, docstrings, outline, ranges


def test_definitions_of_shapes_ex() -> None:
    assert outline(cut("elixir", "shapes.ex")) == [
        ("interface", "Geo", "Area", 1),
        ("method", "Geo.Area", "area", 5),
        ("namespace", "Geo", "Shape", 8),
        ("type", "Geo.Shape", "t", 18),
        ("method", "Geo.Shape", "render", 19),
        ("struct", "Geo.Shape", "Shape", 22),
        ("namespace", "Geo.Shape", "Point", 24),
        ("struct", "Geo.Shape.Point", "Point", 25),
        ("function", "Geo.Shape.Point", "origin", 27),
        ("function", "Geo.Shape", "new", 36),
        ("function", "Geo.Shape", "new", 38),
        ("function", "Geo.Shape", "new", 42),
        ("function", "Geo.Shape", "scale", 45),
        ("function", "Geo.Shape", "+", 50),
        ("function", "Geo.Shape", "~>", 52),
        ("macro", "Geo.Shape", "twice", 54),
        ("macro", "Geo.Shape", "hidden", 61),
        ("function", "Geo.Shape", "is_small", 63),
        ("function", "Geo.Shape", "is_tiny", 64),
        ("function", "Geo.Shape", "size", 66),
        ("function", "Geo.Shape", "empty?", 68),
        ("function", "Geo.Shape", "put!", 69),
        ("impl", "Geo", "Area", 76),
        ("method", "Geo.Area", "area", 77),
        ("namespace", "Geo", "BadShape", 80),
        ("struct", "Geo.BadShape", "BadShape", 81),
        ("function", "Geo.BadShape", "message", 84),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_ex() -> None:
    found = ranges(cut("elixir", "shapes.ex"))
    above = {
        "Geo.Area.area": 4,
        "Geo.Shape.new": 32,
        "Geo.Shape.scale": 44,
        "Geo.BadShape.message": 83,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_ex() -> None:
    assert cut("elixir", "shapes.ex").imports == (
        "Geo.Area",
        "Geo.Base",
        "Enum",
        "Geo.Other",
        "Logger",
        "Geo.Shape",
    )


def test_bases_in_shapes_ex() -> None:
    found = {piece.symbol: piece.bases for piece in cut("elixir", "shapes.ex").chunks if piece.bases}
    assert found == {"Area": ("Geo.Shape",)}


def test_definitions_of_shapes_test_exs() -> None:
    assert outline(cut("elixir", "shapes_test.exs")) == [
        ("namespace", "Geo", "ShapeTest", 1),
        ("function", "Geo.ShapeTest", "makes a shape", 9),
        ("function", "Geo.ShapeTest", "pending", 14),
    ]


def test_imports_of_shapes_test_exs() -> None:
    assert cut("elixir", "shapes_test.exs").imports == ("ExUnit.Case", "Geo.Shape")


def test_docstrings_come_from_attributes() -> None:
    text = (SAMPLES / "elixir" / "shapes.ex").read_bytes()
    assert docstrings(cut_text("elixir", text), text) == {
        "Area": '"Anything with an area."',
        "area": '"The area."',
        "Shape": '"""\n  Shapes.\n  """',
        "new": '"""\n  Makes one.\n  """',
        "scale": "# Private.",
    }
