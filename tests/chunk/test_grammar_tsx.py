"""TSX: one sample that holds every kind of definition."""

from __future__ import annotations

from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges

FOUND = cut("tsx", "kinds.tsx")
TEXT = (SAMPLES / "tsx" / "kinds.tsx").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("type", "", "Props", 3),
        ("function", "", "Dialog", 6),
        ("function", "Dialog", "close", 8),
        ("function", "Dialog", "render", 9),
        ("function", "Dialog", "each", 10),
        ("function", "", "Button", 13),
        ("class", "", "Panel", 15),
        ("method", "Panel", "onClick", 17),
        ("method", "Panel", "render", 18),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    found = ranges(FOUND)
    expected = {"Dialog": (5, 11)}
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {"Dialog": "/** A dialog. */"}


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "Dialog": "export function Dialog({ title }: Props)",
        "close": "const close = () =>",
        "render": "render()",
        "each": "function each(i)",
        "Button": "export const Button: React.FC<Props> = ({ title }) =>",
        "Panel": "export default class Panel extends React.Component<Props>",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Panel": ("React.Component",)
    }


def test_imports() -> None:
    assert FOUND.imports == ("react",)
