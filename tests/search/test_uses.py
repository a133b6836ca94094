"""Who uses whose types, where no import says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexer import tokens
from indexer.search.imports import ImportGraph
from indexer.search.uses import type_uses

if TYPE_CHECKING:
    from indexer.search import Corpus
    from indexer.search.file_graph import FileGraph
    from tests.search.tree import Tree


def edges_of(corpus: Corpus, graph: FileGraph) -> set[tuple[str, str]]:
    paths = corpus.snapshot.paths
    pairs = list(zip(graph.importer.tolist(), graph.imported.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    return {(paths[importer], paths[imported]) for importer, imported in pairs}


SWIFT = {
    "Sources/Shop/ShoppingCart.swift": "struct ShoppingCart {\n  var first: CartItem?\n}\n",
    "Sources/Shop/CartItem.swift": "class CartItem {\n  let price: Status\n}\n",
    "Sources/Shop/Status.swift": "enum Status { case open }\nprotocol HasCart { var cart: ShoppingCart { get } }\n",
    "Sources/Shop/Notes.md": "# ShoppingCart and CartItem\n",
    "web/cart.ts": "class ShoppingCart { item: CartItem }\n",
}


def test_a_file_uses_those_that_define_the_types_it_names(tree: Tree) -> None:
    corpus = tree.write(SWIFT).index()
    assert edges_of(corpus, type_uses(corpus.snapshot)) == {
        ("Sources/Shop/ShoppingCart.swift", "Sources/Shop/CartItem.swift"),
        ("Sources/Shop/Status.swift", "Sources/Shop/ShoppingCart.swift"),
    }


def test_go_does_and_csharp_does_not(tree: Tree) -> None:
    files = {
        "store/index.go": "package store\n\ntype IndexFile struct {\n\tpath string\n}\n",
        "store/open.go": "package store\n\nfunc open() *IndexFile {\n\treturn nil\n}\n",
        "A.cs": "namespace Acme {\n  class OrderBook { OrderLine line; }\n}\n",
        "B.cs": "namespace Acme {\n  class OrderLine { }\n}\n",
    }
    corpus = tree.write(files).index()
    expected = {("store/open.go", "store/index.go")}
    assert edges_of(corpus, type_uses(corpus.snapshot)) == expected
    assert edges_of(corpus, ImportGraph(corpus.snapshot).joined(type_uses(corpus.snapshot))) == expected


def test_a_name_that_many_files_define_says_nothing(tree: Tree) -> None:
    files = {f"{place}.swift": "struct OrderLine {}\n" for place in "abcd"}
    corpus = tree.write(files | {"z.swift": "let line = OrderLine()\n"}).index()
    assert edges_of(corpus, type_uses(corpus.snapshot)) == set()
    (tree.root / "d.swift").unlink()
    corpus = tree.index("d.swift")
    assert ("z.swift", "a.swift") in edges_of(corpus, type_uses(corpus.snapshot))


def test_nothing_depends_on_what_was_there_before(tree: Tree) -> None:
    changed = SWIFT | {"Sources/Shop/CartItem.swift": "class CartItem {\n  let cart: ShoppingCart\n}\n"}
    corpus = tree.write(SWIFT).index()
    corpus = tree.write(changed).index()
    assert edges_of(corpus, type_uses(corpus.snapshot)) == {
        ("Sources/Shop/ShoppingCart.swift", "Sources/Shop/CartItem.swift"),
        ("Sources/Shop/CartItem.swift", "Sources/Shop/ShoppingCart.swift"),
        ("Sources/Shop/Status.swift", "Sources/Shop/ShoppingCart.swift"),
    }


def test_an_empty_tree(tree: Tree) -> None:
    assert len(type_uses(tree.index().snapshot).edges) == 0


def test_many_terms_at_once_are_each_term_by_itself(tree: Tree) -> None:
    corpus = tree.write(SWIFT).index()
    corpus = tree.write({"Sources/Shop/More.swift": "let more = CartItem()\n"}).index()
    words = ["cartitem", "shoppingcart", "nowhere", "let", "swift"]
    terms = tokens.hash_terms(words)
    held = corpus.snapshot.holding(terms)
    for at, term in enumerate(terms.tolist()):
        alone, often = corpus.snapshot.stack.postings("body", term)
        assert held.ids[held.place == at].tolist() == alone.tolist()
        assert held.often[held.place == at].tolist() == often.tolist()
