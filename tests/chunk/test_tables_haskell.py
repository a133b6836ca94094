"""The haskell table on samples that hold each kind of definition; see `indexer.chunk.tables.haskell`."""

from tests.chunk.outlines import cut, cut_text, outline, ranges


def test_definitions_of_shapes_hs() -> None:
    assert outline(cut("haskell", "Shapes.hs")) == [
        ("class", "", "HasArea", 12),
        ("type", "HasArea", "Unit", 13),
        ("method", "HasArea", "areaOf", 16),
        ("method", "HasArea", "perimeter", 17),
        ("struct", "", "Shape", 20),
        ("struct", "", "Name", 25),
        ("type", "", "Pair", 27),
        ("struct", "", "Expr", 29),
        ("type", "", "Elem", 33),
        ("type", "", "Vec", 36),
        ("impl", "", "HasArea Shape", 38),
        ("method", "HasArea Shape", "areaOf", 39),
        ("method", "HasArea Shape", "perimeter", 41),
        ("impl", "", "Semigroup (Pair2 a)", 43),
        ("method", "Semigroup (Pair2 a)", "<>", 44),
        ("impl", "", "Ord Shape", 46),
        ("function", "", "area", 51),
        ("function", "", "<+>", 58),
        ("function", "", "double", 64),
        ("function", "", "constant", 67),
        ("function", "", "guarded", 70),
        ("function", "", "one", 75),
        ("function", "", "two", 76),
        ("function", "", "Zero", 81),
        ("function", "", "c_sin", 83),
        ("function", "", "plus", 85),
        ("function", "", "main", 89),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_hs() -> None:
    found = ranges(cut("haskell", "Shapes.hs"))
    above = {
        "HasArea": 11,
        "HasArea.areaOf": 14,
        "Shape": 19,
        "area": 48,
        "<+>": 56,
        "double": 63,
        "constant": 66,
        "guarded": 69,
        "one": 74,
        "Zero": 80,
        "main": 87,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_hs() -> None:
    assert cut("haskell", "Shapes.hs").imports == ("Data.Map", "Data.List")


def test_both_branches_of_a_preprocessor_condition_are_read() -> None:
    text = b"#if A\nf :: Int\nf = 1\n#else\nf :: Word\nf = 2\ng :: Int\ng = 3\n#endif\n"
    found = [(symbol, line) for _, _, symbol, line in outline(cut_text("haskell", text))]
    assert found == [("f", 3), ("f", 6), ("g", 8)]


def test_equations_are_one_function_and_locals_are_part_of_it() -> None:
    text = b"f :: Int -> Int\n-- zero\nf 0 = 1\n{-# INLINE f #-}\nf n = go n\n  where\n    go 0 = 1\n    go k = k\n"
    assert outline(cut_text("haskell", text)) == [("function", "", "f", 3)]
    assert ranges(cut_text("haskell", text)) == {"f": (1, 8)}
