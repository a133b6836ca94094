"""TypeScript: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("typescript", "kinds.ts")
TEXT = (SAMPLES / "typescript" / "kinds.ts").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("interface", "", "User", 6),
        ("method", "User", "greet", 8),
        ("type", "", "Id", 11),
        ("type", "", "Mapper", 12),
        ("enum", "", "Color", 15),
        ("enum", "", "Flag", 16),
        ("namespace", "", "Geometry.Plane", 18),
        ("function", "Geometry.Plane", "distance", 19),
        ("namespace", "Geometry.Plane", "Inner", 20),
        ("class", "Geometry.Plane.Inner", "Deep", 20),
        ("namespace", "", "legacy", 23),
        ("function", "legacy", "old", 24),
        ("interface", "", "Window", 28),
        ("class", "", "Service", 32),
        ("method", "Service", "handler", 34),
        ("method", "Service", "constructor", 35),
        ("method", "Service", "onClick", 37),
        ("method", "Service", "value", 38),
        ("method", "Service", "create", 39),
        ("method", "Service", "overload", 40),
        ("method", "Service", "overload", 41),
        ("method", "Service", "overload", 42),
        ("class", "", "Animal", 45),
        ("method", "Animal", "speak", 46),
        ("method", "Animal", "move", 47),
        ("function", "", "pick", 50),
        ("function", "", "pick", 51),
        ("function", "", "pick", 52),
        ("function", "", "ambient", 54),
        ("function", "", "typed", 55),
        ("function", "", "cast", 56),
        ("method", "satisfied", "run", 57),
        ("method", "satisfied", "stop", 57),
        ("class", "", "default", 58),
        ("method", "default", "method", 59),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {"User": (5, 9), "Color": (14, 15), "Service": (31, 43), "Service.onClick": (36, 37)}
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {"User": "/** What a user is. */", "Color": "// Colours"}


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "greet": "greet(other: User): void;",
        "distance": "export function distance(a: number): number",
        "Deep": "export class Deep",
        "old": "export function old(a: string): void;",
        "Service": "export class Service<T> extends Base<T> implements OnInit, OnDestroy",
        "handler": "private readonly handler = (e: Event): void =>",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "User": ("Named", "Aged<number>"),
        "Service": ("Base", "OnInit", "OnDestroy"),
    }


def test_imports() -> None:
    assert FOUND.imports == ("./a", "b", "./reexport")
