"""JavaScript: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("javascript", "kinds.js")
TEXT = (SAMPLES / "javascript" / "kinds.js").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("function", "", "lazy", 7),
        ("function", "", "add", 12),
        ("function", "add", "inner", 13),
        ("function", "", "counter", 17),
        ("function", "", "load", 18),
        ("function", "", "main", 19),
        ("class", "", "Queue", 22),
        ("method", "Queue", "handler", 24),
        ("method", "Queue", "#secret", 25),
        ("method", "Queue", "constructor", 26),
        ("method", "Queue", "length", 27),
        ("method", "Queue", "length", 28),
        ("method", "Queue", "each", 29),
        ("method", "Queue", "quoted name", 30),
        ("method", "Queue", "[Symbol.iterator]", 31),
        ("method", "Queue", "#hidden", 32),
        ("class", "", "Point", 35),
        ("method", "Point", "norm", 35),
        ("function", "", "arrow", 36),
        ("function", "", "two", 37),
        ("function", "", "expr", 38),
        ("function", "", "wrapped", 39),
        ("function", "", "alpha", 41),
        ("function", "", "beta", 42),
        ("method", "Queue", "push", 43),
        ("function", "Queue", "sort", 44),
        ("function", "", "local", 45),
        ("function", "", "quoted", 46),
        ("method", "api", "get", 49),
        ("method", "api", "post", 50),
        ("method", "api", "put", 51),
        ("method", "api.nested", "patch", 52),
        ("method", "Queue", "pop", 57),
        ("method", "", "start", 61),
        ("method", "", "stop", 62),
        ("function", "", "onEvent", 65),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    """S-017."""
    found = ranges(FOUND)
    expected = {"add": (9, 15), "Queue": (21, 33)}
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {"add": "/**\n * Adds.\n */", "Queue": "// About Queue."}


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "lazy": "const lazy = () =>",
        "add": "export function add(a, b = () => 1)",
        "inner": "function inner()",
        "counter": "function* counter()",
        "load": "async function load()",
        "main": "export default async function main()",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Queue": ("mixin(Base)",),
        "Point": ("Base",),
    }


def test_imports() -> None:
    assert FOUND.imports == ("./mod.js", "side-effect", "./other", "fs", "./lazy.js")
