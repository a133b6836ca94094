"""Java: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("java", "Kinds.java")
TEXT = (SAMPLES / "java" / "Kinds.java").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("class", "", "Kinds", 11),
        ("method", "Kinds", "Kinds", 17),
        ("method", "Kinds", "run", 21),
        ("class", "Kinds.run", "Local", 22),
        ("method", "Kinds.run.Local", "inLocal", 22),
        ("method", "Kinds.run", "run", 24),
        ("method", "Kinds", "listOf", 28),
        ("class", "Kinds", "Inner", 30),
        ("method", "Kinds.Inner", "size", 30),
        ("interface", "Kinds", "Visitor", 32),
        ("method", "Kinds.Visitor", "visit", 33),
        ("method", "Kinds.Visitor", "end", 34),
        ("enum", "Kinds", "Level", 37),
        ("method", "Kinds.Level", "rank", 38),
        ("method", "Kinds.Level", "rank", 40),
        ("class", "Kinds", "Pair", 43),
        ("method", "Kinds.Pair", "Pair", 44),
        ("method", "Kinds.Pair", "empty", 45),
        ("interface", "Kinds", "Marker", 48),
        ("method", "Kinds.Marker", "value", 49),
        ("interface", "", "Second", 53),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {"Kinds": (6, 51), "Kinds.Kinds": (16, 17), "Kinds.run": (19, 26)}
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {"Kinds": "// Makes one.", "run": "/** Runs. */"}


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "Kinds": "public Kinds(int a)",
        "run": "public void run()",
        "Local": "class Local",
        "inLocal": "void inLocal()",
        "listOf": "public static <U> List<U> listOf(U... items) throws Exception",
        "Inner": "abstract static class Inner",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Kinds": ("Base<T>", "Runnable", "Comparable<Kinds<T>>"),
        "Visitor": ("A", "B"),
        "Level": ("Ranked",),
        "Pair": ("Serializable",),
    }


def test_imports() -> None:
    assert FOUND.imports == ("java.util.*", "java.util.Objects.requireNonNull")
