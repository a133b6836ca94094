"""C#: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("csharp", "Kinds.cs")
TEXT = (SAMPLES / "csharp" / "Kinds.cs").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("namespace", "", "Company.Product", 5),
        ("class", "Company.Product", "Kinds", 10),
        ("property", "Company.Product.Kinds", "Custom", 15),
        ("property", "Company.Product.Kinds", "Count", 18),
        ("property", "Company.Product.Kinds", "Computed", 19),
        ("property", "Company.Product.Kinds", "this", 20),
        ("method", "Company.Product.Kinds", "Kinds", 22),
        ("method", "Company.Product.Kinds", "~Kinds", 23),
        ("method", "Company.Product.Kinds", "Run", 27),
        ("function", "Company.Product.Kinds.Run", "Local", 29),
        ("function", "Company.Product.Kinds.Run", "Square", 30),
        ("method", "Company.Product.Kinds", "Dispose", 34),
        ("method", "Company.Product.Kinds", "operator +", 35),
        ("method", "Company.Product.Kinds", "operator int", 36),
        ("type", "Company.Product.Kinds", "Handler", 37),
        ("struct", "Company.Product.Kinds", "Inner", 39),
        ("enum", "Company.Product.Kinds", "Level", 40),
        ("class", "Company.Product.Kinds", "Person", 41),
        ("class", "Company.Product.Kinds", "Coordinate", 42),
        ("method", "Company.Product.Kinds.Coordinate", "Twice", 42),
        ("interface", "Company.Product.Kinds", "IVisitor", 43),
        ("method", "Company.Product.Kinds.IVisitor", "Visit", 43),
        ("property", "Company.Product.Kinds.IVisitor", "Size", 43),
        ("class", "Company.Product", "Extensions", 46),
        ("method", "Company.Product.Extensions", "Twice", 48),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {
        "Company.Product.Kinds": (7, 44),
        "Company.Product.Kinds.Count": (17, 18),
        "Company.Product.Kinds.Run": (25, 32),
    }
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {
        "Kinds": "/// <summary>Has one of each.</summary>",
        "Count": "// A property.",
        "Run": "/// <summary>Runs.</summary>",
    }


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "Kinds": "public Kinds(int a) : base(a)",
        "~Kinds": "~Kinds()",
        "Run": "public async Task<int> Run<U>(U u)",
        "Local": "void Local()",
        "Square": "int Square(int x)",
        "Dispose": "void IDisposable.Dispose()",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Kinds": ("Base<T>", "IDisposable"),
        "IVisitor": ("IBase",),
    }


def test_imports() -> None:
    assert FOUND.imports == ("System", "System.Collections.Generic", "System.Math")
