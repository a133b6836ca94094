"""The ruby table on samples that hold each kind of definition; see `indexer.chunk.tables.ruby`."""

from tests.chunk.outlines import cut, cut_text, outline, ranges


def test_definitions_of_shapes_rb() -> None:
    assert outline(cut("ruby", "shapes.rb")) == [
        ("namespace", "", "Geometry", 7),
        ("class", "Geometry", "Shape", 10),
        ("method", "Geometry.Shape", "initialize", 16),
        ("method", "Geometry.Shape", "area", 20),
        ("method", "Geometry.Shape", "unit", 22),
        ("method", "Geometry.Shape", "<=>", 26),
        ("method", "Geometry.Shape", "[]", 30),
        ("method", "Geometry.Shape", "corners=", 34),
        ("method", "Geometry.Shape", "empty?", 38),
        ("method", "Geometry.Shape", "parse", 44),
        ("method", "Geometry.Shape", "secret!", 49),
        ("method", "Geometry.Shape", "dynamic", 53),
        ("class", "Geometry.Shape", "Corner", 55),
        ("class", "Geometry.Errors", "Bad", 58),
        ("method", "Geometry.Errors.Bad", "message", 59),
        ("method", "Geometry", "distance", 64),
        ("class", "Geometry", "Point", 69),
        ("method", "Geometry.Point", "length", 70),
        ("class", "Geometry", "Circle", 76),
        ("method", "Geometry.Circle", "radius", 77),
        ("method", "Geometry.Circle.radius", "nested_helper", 78),
        ("function", "", "top_level", 85),
        ("function", "task", "run", 90),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_rb() -> None:
    found = ranges(cut("ruby", "shapes.rb"))
    above = {
        "Geometry": 6,
        "Geometry.Shape": 8,
        "Geometry.Shape.initialize": 15,
        "Geometry.Shape.parse": 43,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_rb() -> None:
    assert cut("ruby", "shapes.rb").imports == ("set", "base")


def test_bases_in_shapes_rb() -> None:
    found = {piece.symbol: piece.bases for piece in cut("ruby", "shapes.rb").chunks if piece.bases}
    assert found == {"Shape": ("Base::Figure",), "Bad": ("StandardError",), "Circle": ("Geometry::Shape",)}


def test_computed_names_define_nothing() -> None:
    text = b'class A\n  define_method("to_#{x}") { 1 }\n  define_method("plain") { 2 }\nend\n'
    assert outline(cut_text("ruby", text)) == [("class", "", "A", 1), ("method", "A", "plain", 3)]
