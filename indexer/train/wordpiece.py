"""WordPiece, as English BERT models were trained with (lower-cased, without accents), and the vocabulary of one."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LONGEST = 100  # characters: a longer word is one unknown piece
_WORDS = re.compile(r"\w+|[^\w\s]")


class WordPiece:
    """Cuts texts into the pieces of a vocabulary, longest first."""

    def __init__(self, vocabulary: list[str]) -> None:
        self._numbers = {piece: i for i, piece in enumerate(vocabulary)}
        self._unknown = self._numbers["[UNK]"]
        self.first, self.last = self._numbers["[CLS]"], self._numbers["[SEP]"]
        self._word = lru_cache(200_000)(self._pieces)

    def numbers(self, text: str, most: int = 128) -> list[int]:
        """Return the numbers of a text's pieces between the two marks, ``most`` in all."""
        plain = unicodedata.normalize("NFD", text.lower())
        plain = "".join(c for c in plain if unicodedata.category(c) != "Mn").replace("_", " _ ")
        found = [number for word in _WORDS.findall(plain) for number in self._word(word)]
        return [self.first, *found[: most - 2], self.last]

    def _pieces(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST:
            for end in range(len(word), start, -1):
                number = self._numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            found.append(number)
            start = end
        return tuple(found) or (self._unknown,)
