"""The lua table on samples that hold each kind of definition; see `indexer.chunk.tables.lua`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shapes_lua() -> None:
    assert outline(cut("lua", "shapes.lua")) == [
        ("function", "", "point", 7),
        ("function", "", "global_one", 11),
        ("function", "M", "area", 15),
        ("function", "M.area", "inner", 16),
        ("function", "M.Shape", "scale", 23),
        ("function", "M", "distance", 27),
        ("function", "M", "quoted name", 31),
        ("function", "", "double", 33),
        ("function", "", "triple", 35),
        ("function", "M.handlers", "on_open", 38),
        ("function", "M.handlers", "on-close", 41),
        ("function", "", "a", 45),
        ("function", "", "__index", 48),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_lua() -> None:
    found = ranges(cut("lua", "shapes.lua"))
    above = {
        "point": 5,
        "M.Shape.scale": 22,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_lua() -> None:
    assert cut("lua", "shapes.lua").imports == ("base",)
