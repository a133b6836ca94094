"""The scala table on samples that hold each kind of definition; see `indexer.chunk.tables.scala`."""

from tests.chunk.outlines import cut, cut_text, outline, ranges


def test_definitions_of_shapes_scala() -> None:
    assert outline(cut("scala", "Shapes.scala")) == [
        ("trait", "", "Shape", 8),
        ("type", "Shape", "Unit0", 9),
        ("method", "Shape", "area", 11),
        ("method", "Shape", "describe", 12),
        ("class", "", "Point", 19),
        ("method", "Point", "this", 20),
        ("method", "Point", "+", 23),
        ("method", "Point", "area", 25),
        ("function", "Point.area", "local", 26),
        ("function", "Point.area", "lambda", 27),
        ("method", "Point", "unary_-", 32),
        ("class", "", "Point", 35),
        ("type", "Point", "Pair", 39),
        ("method", "Point", "apply", 41),
        ("method", "Point", "unapply", 44),
        ("class", "Point", "PointOps", 47),
        ("method", "Point.PointOps", "twice", 48),
        ("class", "", "Base", 52),
        ("method", "Base", "load", 53),
        ("namespace", "", "helpers", 57),
        ("function", "helpers", "help", 58),
        ("class", "", "Empty", 61),
        ("class", "", "Odd Name", 63),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_scala() -> None:
    found = ranges(cut("scala", "Shapes.scala"))
    above = {
        "Shape": 7,
        "Point": 15,
        "Point.+": 22,
        "Point.unapply": 43,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_scala() -> None:
    assert cut("scala", "Shapes.scala").imports == (
        "scala.collection.mutable.Map",
        "geo.base._",
    )


def test_bases_in_shapes_scala() -> None:
    found = {piece.symbol: piece.bases for piece in cut("scala", "Shapes.scala").chunks if piece.bases}
    assert found == {
        "Shape": ("Product", "Serializable"),
        "Point": ("Shape[Int]",),
        "PointOps": ("AnyVal",),
        "Empty": ("Shape[Nothing]",),
    }


def test_definitions_of_modern_scala() -> None:
    assert outline(cut("scala", "Modern.scala")) == [
        ("enum", "", "Color", 3),
        ("method", "Color", "warm", 7),
        ("trait", "", "Order", 10),
        ("method", "Order", "compare", 11),
        ("impl", "Order", "A", 12),
        ("method", "Order.A", "less", 12),
        ("impl", "", "intOrder", 14),
        ("method", "intOrder", "compare", 15),
        ("impl", "", "Order[String]", 17),
        ("method", "Order[String]", "compare", 18),
        ("impl", "", "String", 20),
        ("method", "String", "shout", 22),
        ("method", "String", "whisper", 23),
        ("type", "", "Name", 26),
        ("class", "", "Name", 28),
        ("method", "Name", "apply", 29),
        ("function", "", "run", 32),
        ("function", "", "top", 35),
    ]


def test_what_stands_above_belongs_to_the_definition_in_modern_scala() -> None:
    found = ranges(cut("scala", "Modern.scala"))
    above = {
        "Order": 9,
        "String.shout": 21,
    }
    assert {name: found[name][0] for name in above} == above


def test_bases_in_modern_scala() -> None:
    found = {piece.symbol: piece.bases for piece in cut("scala", "Modern.scala").chunks if piece.bases}
    assert found == {"intOrder": ("Order[Int]",)}


def test_end_markers_belong_to_what_they_end() -> None:
    found = ranges(cut("scala", "Modern.scala"))
    assert found["Name"] == (26, 26)  # the type; the object of that name ends with its marker
    text = b"object A:\n  def f =\n    1\n  end f\nend A\n\nclass B\n"
    assert ranges(cut_text("scala", text)) == {"A": (1, 5), "A.f": (2, 4), "B": (7, 7)}
