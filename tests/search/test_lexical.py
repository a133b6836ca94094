"""BM25F of all terms at once is what its definition says, row by row and term by term."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indexer import tokens
from indexer.search import dense, lexical
from indexer.search.lexical import bm25, known
from indexer.search.query import Term, parse
from tests.search.tree import Tree

if TYPE_CHECKING:
    from indexer.search import Corpus

FILES = {
    "shop/cart.py": "class Cart:\n    def add_item(self, item):\n        return item\n\n    def total(self):\n        return 1\n",
    "shop/cart_test.py": "def test_cart_total():\n    cart = Cart()\n    assert cart.total() == 1\n",
    "shop/copy.py": "def add_item(item):\n    return item\n",
    "shop/copy2.py": "def add_item(item):\n    return item\n",
    "total/item.md": "# Item\n\nAn item of a cart has a total. A cart, a cart, a cart!\n",
    "empty.py": "",
}
QUESTIONS = ("cart total", "add_item", "shop item of the cart", "nowhere", "shop", "Cart.total in item.md")


@pytest.fixture
def shop(tree: Tree) -> Corpus:
    """A tree whose index has two segments, a file that is gone, and equal contents."""
    tree.write({**FILES, "shop/old.py": "def total_of_the_cart():\n    pass\n"}).index()
    (tree.root / "shop/old.py").unlink()
    return tree.write({"shop/more.py": "def cart_items(cart):\n    return cart.items\n"}).index("shop/old.py")


def counted(text: str | bytes) -> dict[str, int]:
    terms = tokens.terms_of(text)
    return {term: terms.count(term) for term in terms}


def fields(corpus: Corpus, tree: Tree, row: int) -> tuple[dict[str, int], ...]:
    """How often each term stands in a row's body, symbol, scope and path."""
    piece = corpus.snapshot.chunk(row)
    data = (tree.root / corpus.path(row)).read_bytes()
    body = b"".join(data[span.start : span.end] for span in piece.spans)
    return tuple(counted(text) for text in (body, piece.symbol, piece.scope, corpus.path(row)))


def saturate(frequency: float) -> float:
    return frequency / (frequency + lexical._K1)


def idf(holding: int, of: int) -> float:
    return math.log1p((of - holding + 0.5) / (holding + 0.5))


def plainly(corpus: Corpus, tree: Tree, terms: tuple[Term, ...]) -> tuple[list[float], list[float]]:
    """Scores of rows by all fields and by their body, as the formulas have them."""
    rows = [fields(corpus, tree, row) for row in range(corpus.rows)]
    sizes = [sum(row[0].values()) for row in rows]
    average = sum(sizes) / len(sizes)
    scores, bodies, perfect, perfect_body = [0.0] * len(rows), [0.0] * len(rows), 0.0, 0.0
    for term in terms:
        counts = [tuple(field.get(term.text, 0) for field in row) for row in rows]
        value = idf(sum(any(count) for count in counts), len(rows))
        value_body = idf(sum(count[0] > 0 for count in counts), len(rows))
        perfect, perfect_body = perfect + value, perfect_body + value_body
        for row, (body, symbol, scope, path) in enumerate(counts):
            by_length = sizes[row] / average
            frequency = body / (1 - lexical._ROW_B + lexical._ROW_B * by_length)
            named = 3 * min(symbol, 2) + min(scope, 1) + 2 * min(path, 2)
            scores[row] += value * saturate(frequency + named)
            bodies[row] += value_body * saturate(body / (1 - lexical._BODY_B + lexical._BODY_B * by_length))
    return [score / perfect for score in scores], [score / perfect_body for score in bodies]


@pytest.mark.parametrize("question", QUESTIONS)
def test_rows_are_scored_as_the_formulas_say(tree: Tree, shop: Corpus, question: str) -> None:
    terms = parse(question).terms
    found = bm25(shop, known(shop, terms))
    scores, bodies = plainly(shop, tree, terms)
    assert len(shop.snapshot.stack.segments) == 2
    assert found.row == pytest.approx(scores)
    assert found.body == pytest.approx(bodies)
    assert (max(scores) > 0) == (question != "nowhere")


def test_wholes_of_names_are_looked_up_and_count_nothing(shop: Corpus) -> None:
    terms = parse("cart").terms
    whole = int(tokens.hash_terms(["additem"])[0])
    alone, beside = bm25(shop, known(shop, terms)), bm25(shop, known(shop, terms, [whole]))
    assert np.array_equal(alone.row, beside.row)
    assert np.array_equal(alone.symbols, beside.symbols)
    assert beside.worth.tolist() == [*alone.worth.tolist(), 0.0]


def test_a_repository_where_nothing_matches_and_a_question_without_terms(shop: Corpus) -> None:
    for terms in ((), parse("zebra").terms):
        found = bm25(shop, known(shop, terms))
        assert not found.row.any()
        assert not found.body.any()
        assert not found.symbols.any()


def test_one_text_is_counted_like_many() -> None:
    for text in (
        "",
        "cart cart Cart.total",
        "如何迁移 数据库 HTTPServer2",
        "a \ud800 b",
        "x " * 70_000 + "item",
    ):
        one, many = tokens.count_one(text), tokens.count_terms([text.encode("utf-8", "surrogatepass")])
        assert [part.tolist() for part in one] == [part.tolist() for part in many]
        assert [part.dtype for part in one] == [part.dtype for part in many]


def test_what_rows_say_together_is_a_logarithm_of_sums() -> None:
    cosines = np.array([0.5, 0.25, -0.3, 0.0])
    one = math.log(math.exp(12 * 0.5) + math.exp(12 * 0.25) - 1)
    assert dense.together(cosines, np.array([0, 2])) == pytest.approx([one, 0.0])
