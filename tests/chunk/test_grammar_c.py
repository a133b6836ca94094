"""C: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("c", "kinds.c")
TEXT = (SAMPLES / "c" / "kinds.c").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("macro", "", "MAX", 8),
        ("struct", "", "node", 15),
        ("struct", "node", "payload", 17),
        ("struct", "", "value", 21),
        ("enum", "", "color", 22),
        ("struct", "", "point", 24),
        ("struct", "", "_list", 25),
        ("type", "", "list_t", 25),
        ("struct", "", "anonymous_t", 26),
        ("enum", "", "state", 27),
        ("type", "", "callback", 28),
        ("type", "", "size_type", 29),
        ("function", "", "add", 32),
        ("function", "", "return_type_above", 38),
        ("function", "", "old_style", 43),
        ("function", "", "pointer_to_pointer", 50),
        ("function", "", "returns_function", 51),
        ("function", "", "in_ifdef", 54),
        ("function", "", "in_else", 56),
        ("struct", "", "exported", 61),
        ("function", "", "first_case", 63),
        ("function", "Suite", "second_case", 67),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {"MAX": (7, 9), "node": (14, 19), "add": (31, 35), "return_type_above": (37, 41)}
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {
        "MAX": "/* The larger one. */",
        "node": "/* A tagged struct. */",
        "add": "// Adds.",
    }


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "node": "struct node",
        "payload": "struct payload",
        "value": "union value",
        "point": "typedef struct point",
        "_list": "typedef struct _list",
        "anonymous_t": "typedef struct",
    }
    assert {name: found[name] for name in expected} == expected


def test_imports() -> None:
    assert FOUND.imports == ("stdio.h", "kinds.h")
