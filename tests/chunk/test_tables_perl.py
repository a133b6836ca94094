"""The perl table on samples that hold each kind of definition; see `indexer.chunk.tables.perl`."""

import pytest

from tests.chunk.outlines import cut, cut_text, outline, ranges


def test_definitions_of_shapes_pm() -> None:
    assert outline(cut("perl", "Shapes.pm")) == [
        ("namespace", "Geo", "Shapes", 2),
        ("function", "Geo.Shapes", "new", 18),
        ("function", "Geo.Shapes", "area", 23),
        ("function", "Geo.Shapes", "scale", 36),
        ("function", "Geo.Shapes", "in_begin", 42),
        ("namespace", "Geo.Shapes.Geo", "Point", 53),
        ("function", "Geo.Shapes.Geo.Point", "where", 57),
        ("namespace", "Geo", "Other", 60),
        ("function", "Geo.Other", "one", 62),
        ("function", "Geo.Other.Geo.Far", "two", 63),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shapes_pm() -> None:
    found = ranges(cut("perl", "Shapes.pm"))
    above = {
        "Geo.Shapes": 1,
        "Geo.Shapes.new": 17,
        "Geo.Shapes.Geo.Point.where": 56,
    }
    assert {name: found[name][0] for name in above} == above


def test_imports_of_shapes_pm() -> None:
    assert cut("perl", "Shapes.pm").imports == ("strict", "warnings", "Geo::Base", "Carp", "constant")


def test_packages_in_a_block_end_with_it() -> None:
    text = b"package A;\n{\n  package B;\n  sub in_b { 1 }\n}\nsub in_a { 2 }\npackage C;\nsub in_c { 3 }\n"
    assert [(scope, symbol) for _, scope, symbol, _ in outline(cut_text("perl", text))] == [
        ("", "A"),
        ("A", "B"),
        ("A.B", "in_b"),
        ("A", "in_a"),
        ("", "C"),
        ("C", "in_c"),
    ]


def test_classes_of_newer_perl() -> None:
    text = (
        b"use v5.38;\nclass Point 1.0 {\n  field $x;\n  method where { return $x }\n}\n*glob = sub { 1 };\n"
    )
    assert outline(cut_text("perl", text)) == [
        ("class", "", "Point", 2),
        ("method", "Point", "where", 4),
        ("function", "", "glob", 6),
    ]


@pytest.mark.parametrize(
    "text", [b"x # a", b"x\n#", b"sub f { 1 }\n1 # end", b"package A; sub f {} # f", b"1\n__END__"]
)
def test_a_text_may_end_without_a_line_end(text: bytes) -> None:
    """Perl's grammar looks for one for ever where the last line is a comment."""
    found, ended = cut_text("perl", text), cut_text("perl", text + b"\n")
    assert found == ended
