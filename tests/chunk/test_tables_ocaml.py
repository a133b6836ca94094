"""The ocaml table on samples that hold each kind of definition; see `indexer.chunk.tables.ocaml`."""

from tests.chunk.outlines import cut, cut_text, outline, ranges


def test_definitions_of_shapes_ml() -> None:
    assert outline(cut("ocaml", "shapes.ml")) == [
        ("type", "", "point", 9),
        ("type", "", "shape", 11),
        ("type", "", "tree", 15),
        ("type", "", "t", 17),
        ("type", "", "Bad", 20),
        ("function", "", "area", 24),
        ("function", "", "even", 29),
        ("function", "", "odd", 31),
        ("function", "", "+!", 33),
        ("function", "", "add", 35),
        ("function", "", "lambda", 40),
        ("function", "", "quick", 46),
        ("function", "", "c_sin", 48),
        ("interface", "", "SHAPE", 50),
        ("type", "SHAPE", "t", 51),
        ("method", "SHAPE", "area", 53),
        ("namespace", "", "Stack", 57),
        ("function", "Stack", "push", 58),
        ("type", "Stack", "elt", 60),
        ("function", "Stack", "push", 63),
        ("namespace", "Stack", "Inner", 65),
        ("function", "Stack.Inner", "deep", 66),
        ("namespace", "", "Alias", 70),
        ("namespace", "", "Even", 72),
        ("type", "Even", "t", 73),
        ("function", "Even", "area", 74),
        ("namespace", "", "Odd", 77),
        ("class", "", "counter", 80),
        ("method", "counter", "get", 84),
        ("method", "counter", "incr", 86),
        ("class", "", "other", 90),
        ("method", "other", "later", 91),
        ("interface", "", "readable", 94),
        ("method", "readable", "read", 95),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_ml() -> None:
    found = ranges(cut("ocaml", "shapes.ml"))
    above = {
        "point": 8,
        "area": 22,
        "even": 28,
        "Stack.push": 58,
        "counter": 79,
        "counter.incr": 85,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_ml() -> None:
    assert cut("ocaml", "shapes.ml").imports == ("Printf", "Base", "Stdlib.List", "Even")


def test_definitions_of_shapes_mli() -> None:
    assert outline(cut("ocaml", "shapes.mli")) == [
        ("type", "", "point", 3),
        ("function", "", "area", 6),
        ("function", "", "+!", 8),
        ("function", "", "c_sin", 10),
        ("type", "", "Bad", 12),
        ("interface", "", "SHAPE", 14),
        ("type", "SHAPE", "t", 15),
        ("constant", "SHAPE", "name", 16),
        ("namespace", "", "Stack", 19),
        ("function", "Stack", "push", 20),
        ("namespace", "", "Make", 23),
        ("class", "", "counter", 25),
        ("method", "counter", "get", 26),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_mli() -> None:
    found = ranges(cut("ocaml", "shapes.mli"))
    above = {
        "area": 5,
    }
    assert {name: found[name][0] for name in above} == above


def test_an_interface_is_told_by_its_text() -> None:
    interface = b"val f : int -> int\n\nval g : int\n"
    structure = b"module type S = sig\nval f : int -> int\nend\n\nlet f x = x\n"
    assert outline(cut_text("ocaml", interface)) == [("function", "", "f", 1), ("constant", "", "g", 3)]
    assert ("function", "", "f", 5) in outline(cut_text("ocaml", structure))
