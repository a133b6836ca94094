"""The php table on samples that hold each kind of definition; see `indexer.chunk.tables.php`."""

from tests.chunk.outlines import cut, outline, ranges


def test_definitions_of_shop_php() -> None:
    assert outline(cut("php", "Shop.php")) == [
        ("namespace", "Shop", "Model", 5),
        ("interface", "Shop.Model", "Priced", 15),
        ("method", "Shop.Model.Priced", "price", 19),
        ("trait", "Shop.Model", "Logs", 23),
        ("method", "Shop.Model.Logs", "log", 28),
        ("enum", "Shop.Model", "Status", 35),
        ("method", "Shop.Model.Status", "fromLabel", 40),
        ("class", "Shop.Model", "Product", 51),
        ("method", "Shop.Model.Product", "__construct", 57),
        ("method", "Shop.Model.Product", "price", 65),
        ("method", "Shop.Model.Product", "reference", 72),
        ("method", "Shop.Model.Product", "count", 74),
        ("method", "Shop.Model.Product", "anonymous", 76),
        ("method", "Shop.Model.Product.anonymous", "inside", 79),
        ("class", "Shop.Model", "Base", 86),
        ("function", "Shop.Model", "total", 90),
        ("function", "Shop.Model.total", "fallback", 93),
        ("function", "Shop.Model", "conditional", 100),
        ("function", "Shop.Model", "in_template", 105),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shop_php() -> None:
    found = ranges(cut("php", "Shop.php"))
    above = {
        "Shop.Model.Priced": 12,
        "Shop.Model.Logs": 22,
        "Shop.Model.Logs.log": 27,
        "Shop.Model.Status": 34,
        "Shop.Model.Product": 46,
        "Shop.Model.Product.price": 61,
        "Shop.Model.conditional": 99,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shop_php() -> None:
    assert cut("php", "Shop.php").imports == ("Shop\\Base\\Entity", "Shop\\helper")


def test_bases_in_shop_php() -> None:
    found = {piece.symbol: piece.bases for piece in cut("php", "Shop.php").chunks if piece.bases}
    assert found == {
        "Priced": ("\\Countable",),
        "Status": ("HasLabel",),
        "Product": ("Entity", "Priced", "\\JsonSerializable"),
    }


def test_definitions_of_blocks_php() -> None:
    assert outline(cut("php", "blocks.php")) == [
        ("namespace", "First", "Part", 2),
        ("class", "First.Part", "One", 3),
        ("method", "First.Part.One", "a", 5),
        ("function", "", "global_one", 10),
    ]
