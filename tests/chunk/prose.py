"""Long texts made by rule, the same on every run: nothing in them repeats at a distance that a cut could lock on to."""

from __future__ import annotations

import textwrap
from random import Random

_WORDS = (
    "river market letter window engine garden signal bridge table harbour ledger mirror valley copper lantern"
)
_NOUNS = _WORDS.split()
_VERBS = ("carries", "follows", "opens", "measures", "keeps", "returns", "divides", "gathers", "answers")
_HAN = ("河流", "市场", "信件", "窗户", "引擎", "花园", "信号", "桥梁", "账本", "镜子")


def sentence(draw: Random) -> str:
    nouns = [draw.choice(_NOUNS) for _ in range(4)]
    more = f", and then it {draw.choice(_VERBS)} a {nouns[3]}" if draw.randrange(2) else ""
    return f"The {nouns[0]} {draw.choice(_VERBS)} the {nouns[1]} of the {nouns[2]}{more}."


def essay(lines: int, seed: int = 1) -> bytes:
    """Paragraphs of wrapped lines, at least so many lines of them."""
    draw = Random(seed)
    out: list[str] = []
    while len(out) < lines:
        out += [*textwrap.wrap(" ".join(sentence(draw) for _ in range(draw.randrange(2, 9))), 79), ""]
    return "\n".join(out).encode()


def one_paragraph(sentences: int, seed: int = 1) -> bytes:
    """A single line."""
    draw = Random(seed)
    return " ".join(sentence(draw) for _ in range(sentences)).encode()


def han_paragraph(sentences: int, seed: int = 1) -> bytes:
    """A single line of Chinese; sentences end with one of three full-width signs."""
    draw = Random(seed)
    return "".join(
        "".join(draw.choice(_HAN) for _ in range(draw.randrange(2, 7))) + draw.choice("。！？")
        for _ in range(sentences)
    ).encode()


def catalogue(entries: int, seed: int = 1) -> list[bytes]:
    """The entries of a gettext catalogue; blank lines between them make the file."""
    draw = Random(seed)
    out = ['msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"']
    for number in range(entries):
        source = sentence(draw)
        place = f"#: shop/{draw.choice(_NOUNS)}/{draw.choice(_NOUNS)}.py:{draw.randrange(900)}"
        flags = "\n#, python-format" if number % 17 == 0 else ""
        out.append(f'{place}{flags}\nmsgid "{source}"\nmsgstr "{source[::-1]}"')
    return [entry.encode() for entry in out]
