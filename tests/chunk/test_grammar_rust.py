"""Rust: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("rust", "kinds.rs")
TEXT = (SAMPLES / "rust" / "kinds.rs").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("struct", "", "Point", 9),
        ("struct", "", "Unit", 13),
        ("struct", "", "Tuple", 14),
        ("enum", "", "Kind", 17),
        ("struct", "", "Bits", 19),
        ("trait", "", "Shape", 21),
        ("constant", "Shape", "SIDES", 22),
        ("method", "Shape", "area", 25),
        ("method", "Shape", "describe", 26),
        ("impl", "", "Point", 29),
        ("method", "Point", "new", 32),
        ("constant", "Point", "ZERO", 33),
        ("impl", "", "Circle", 36),
        ("type", "Circle", "Output", 37),
        ("method", "Circle", "area", 38),
        ("function", "Circle.area", "helper", 39),
        ("macro", "", "maximum", 46),
        ("namespace", "", "inner", 50),
        ("function", "inner", "nested", 51),
        ("namespace", "inner", "tests", 53),
        ("function", "inner.tests", "works", 55),
        ("type", "", "Alias", 59),
        ("constant", "", "LIMIT", 60),
        ("constant", "", "COUNTER", 61),
        ("function", "", "imported", 64),
        ("function", "", "main", 67),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {
        "Point": (7, 11),
        "Kind": (16, 17),
        "Shape.area": (24, 25),
        "Point.new": (30, 32),
        "maximum": (44, 48),
        "inner.tests": (52, 56),
        "inner.tests.works": (54, 55),
    }
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {
        "Point": "/// A point.",
        "Kind": "/// Kinds of things.",
        "area": "/// Required.",
        "new": "/// Makes one.",
        "maximum": "/* A macro. */",
    }


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "Point": "impl<T: Copy> Point<T>",
        "Unit": "struct Unit;",
        "Tuple": "struct Tuple",
        "Bits": "union Bits",
        "area": "fn area(&self) -> f64",
        "describe": "fn describe(&self) -> String",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Shape": ("Base", "Send"),
        "Circle": ("Shape",),
    }


def test_imports() -> None:
    assert FOUND.imports == ("std::io", "std::io::Read", "alloc", "other")
