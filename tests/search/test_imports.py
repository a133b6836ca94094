"""The import graph of small real trees: cut, stored, opened, resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.search.imports import ImportGraph
from tests.search.tree import Tree

if TYPE_CHECKING:
    from indexer.search import Corpus


def edges_of(corpus: Corpus, before: ImportGraph | None = None) -> set[tuple[str, str]]:
    graph, paths = ImportGraph(corpus.snapshot, before), corpus.snapshot.paths
    pairs = list(zip(graph.importer.tolist(), graph.imported.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert all(importer != imported for importer, imported in pairs)
    return {(paths[importer], paths[imported]) for importer, imported in pairs}


def edges(tree: Tree, files: dict[str, str]) -> set[tuple[str, str]]:
    return edges_of(tree.write(files).index())


def test_a_root_that_is_a_package_itself(tree: Tree) -> None:
    """The tree is the package ``shop``: its name is in the imports and not in the paths."""
    files = {
        "__init__.py": "from shop.cart import Cart\n",
        "cart.py": "from shop.models.item import Item\nimport numpy.typing\nimport numpy.linalg.norms\n",
        "typing.py": "import typing\nimport numpy\n",
        "models/__init__.py": "",
        "models/item.py": "import shop\nfrom shop.cart import Cart\n",
    }
    assert edges(tree, files) == {
        ("__init__.py", "cart.py"),
        ("cart.py", "models/item.py"),
        ("models/item.py", "cart.py"),
        ("models/item.py", "__init__.py"),
    }


def test_a_root_in_the_middle_of_a_project(tree: Tree) -> None:
    """The tree is the folder ``Data/Aeson`` of a project that imports much from ``Data`` elsewhere."""
    files = {
        "Key.hs": "module Data.Aeson.Key where\nimport Data.Aeson.Types.Internal\nimport Data.Text.Lazy\n",
        "Text.hs": "module Data.Aeson.Text where\nimport Data.Aeson.Key\nimport Data.Map.Strict\nimport Data.Text\n",
        "Types/Internal.hs": "module Data.Aeson.Types.Internal where\nimport Data.Aeson.Key\nimport Data.List.Split\n",
    }
    assert edges(tree, files) == {
        ("Key.hs", "Types/Internal.hs"),
        ("Text.hs", "Key.hs"),
        ("Types/Internal.hs", "Key.hs"),
    }


def test_includes_below_a_named_root(tree: Tree) -> None:
    files = {
        "base/config.h": "",
        "strings/cat.cc": '#include "absl/strings/cat.h"\n#include "absl/base/config.h"\n#include "gtest/gtest.h"\n',
        "strings/cat.h": '#include "absl/base/config.h"\n',
    }
    assert edges(tree, files) == {
        ("strings/cat.cc", "strings/cat.h"),
        ("strings/cat.cc", "base/config.h"),
        ("strings/cat.h", "base/config.h"),
    }


def test_a_go_root_is_called_as_its_project(tree: Tree) -> None:
    files = {
        "main.go": 'package tool\nimport "github.com/acme/tool/store"\n',
        "store/store.go": 'package store\nimport "github.com/other/tool"\n',
        "cmd/run.go": 'package main\nimport (\n  "github.com/acme/tool"\n  "github.com/acme/tool/store"\n)\n',
    }
    assert edges(tree, files) == {
        ("main.go", "store/store.go"),
        ("cmd/run.go", "main.go"),
        ("cmd/run.go", "store/store.go"),
    }


def test_of_equal_names_the_nearest_is_meant(tree: Tree) -> None:
    files = {
        "one/main.py": "from app.util import f\n",
        "one/app/util.py": "",
        "two/main.py": "from app.util import f\n",
        "two/app/util.py": "",
        "main.py": "from app.util import f\n",
    }
    assert edges(tree, files) == {
        ("one/main.py", "one/app/util.py"),
        ("two/main.py", "two/app/util.py"),
        ("main.py", "one/app/util.py"),
        ("main.py", "two/app/util.py"),
    }


def test_a_name_that_many_folders_have_means_none(tree: Tree) -> None:
    files = {f"{place}/app/util.py": "" for place in "abcdefg"}
    assert edges(tree, files | {"main.py": "from app.util import f\n"}) == set()


def test_an_empty_tree_has_no_edges(tree: Tree) -> None:
    graph = ImportGraph(tree.index().snapshot)
    assert (len(graph.importer), len(graph.imported), graph.files) == (0, 0, 0)
    assert edges(tree, {"a.txt": "import b\n"}) == set()


def test_degrees_and_sums(tree: Tree) -> None:
    corpus = tree.write({"a.py": "import b\nimport c\n", "b.py": "import c\n", "c.py": ""}).index()
    graph = ImportGraph(corpus.snapshot)
    assert graph.in_degree.tolist() == [0, 1, 2]
    assert graph.out_degree.tolist() == [2, 1, 0]
    assert graph.from_importers(np.array([1.0, 10.0, 100.0])).tolist() == [0, 1, 11]
    assert graph.from_imported(np.array([1.0, 10.0, 100.0])).tolist() == [110, 100, 0]


STEPS: list[tuple[dict[str, str], tuple[str, ...]]] = [
    (
        {"pkg/__init__.py": "", "pkg/a.py": "from . import b\n", "pkg/b.py": "", "run.py": "import pkg.a\n"},
        (),
    ),
    ({"pkg/a.py": "import pkg.b\nfrom pkg import c\n"}, ()),
    ({"pkg/c.py": "from .a import x\n"}, ()),
    ({"pkg/b.py": "from pkg.a import x\n", "run.py": "import pkg.c, pkg.b\n"}, ()),
    ({}, ("pkg/b.py",)),
    ({"pkg/b.sh": "#!/bin/sh\n. ./c.sh\n", "pkg/c.sh": "echo\n"}, ()),
    (
        {
            "__init__.py": "",
            "d.py": "import top.d\nimport top.e\n",
            "e.py": "import top.d, top.pkg.a, top.pkg.c\n",
        },
        (),
    ),
    ({"d.py": "import top.e\nimport top.pkg.c\nimport top.pkg.a\nfrom top.pkg import b\n"}, ()),
    ({"e.py": "", "d.py": ""}, ()),
    ({}, ()),
]


def test_a_successor_equals_a_graph_made_from_nothing(tree: Tree) -> None:
    before: ImportGraph | None = None
    seen = set()
    for files, gone in STEPS:
        for path in gone:
            (tree.root / path).unlink()
        corpus = tree.write(files).index(*gone)
        expected = edges_of(corpus)
        assert edges_of(corpus, before) == expected
        before = ImportGraph(corpus.snapshot, before)
        seen.add(frozenset(expected))
    assert len(seen) > len(STEPS) // 2


TEXTS = {
    ".py": [
        "",
        "import top.a\nimport top.pkg.b\n",
        "from . import a, b\n",
        "from pkg.b import x\nimport a\n",
    ],
    ".ts": ["", "import './a'\nimport '../b.js'\n", "export * from './pkg'\n", "import '@/pkg/a'\n"],
    ".h": ["", '#include "a.h"\n#include "top/pkg/a.h"\n', '#include "pkg/b.h"\n', '#include "top/b.h"\n'],
}
PATHS = [f"{folder}{stem}" for folder in ("", "pkg/", "lib/pkg/") for stem in ("a", "b", "index", "__init__")]
EDITS = st.lists(
    st.dictionaries(
        st.tuples(st.sampled_from(PATHS), st.sampled_from(sorted(TEXTS))), st.integers(-1, 3), max_size=6
    ),
    min_size=2,
    max_size=4,
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(edits=EDITS)
def test_any_successor_equals_the_graph_of_a_new_index(
    edits: list[dict[tuple[str, str], int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("trees")
    tree, before = Tree(base / "edited"), None
    texts: dict[str, str] = {}
    for edit in edits:
        gone = [
            f"{stem}{suffix}"
            for (stem, suffix), number in edit.items()
            if number < 0 and f"{stem}{suffix}" in texts
        ]
        for path in gone:
            del texts[path]
            (tree.root / path).unlink()
        texts |= {
            f"{stem}{suffix}": TEXTS[suffix][number] for (stem, suffix), number in edit.items() if number >= 0
        }
        corpus = tree.write(texts).index(*gone)
        found = edges_of(corpus, before)
        before = ImportGraph(corpus.snapshot, before)
    assert found == edges(Tree(base / "new"), texts)


def test_a_root_loses_its_name_when_the_imports_do(tree: Tree) -> None:
    """The ballots of a few changed files can change what all others mean."""
    files = {
        "a.py": "import top.b\nimport top.c\n",
        "b.py": "import top.c\n",
        "c.py": "",
        "lib/sub/one.py": "",
        "lib/sub/two.py": "",
    }
    corpus = tree.write(files).index()
    before = ImportGraph(corpus.snapshot)
    assert edges_of(corpus) == {("a.py", "b.py"), ("a.py", "c.py"), ("b.py", "c.py")}
    corpus = tree.write(
        {"b.py": "import sub.one\nimport sub.two\nimport lib.sub.one\nimport lib.sub.two\n"}
    ).index()
    assert (
        edges_of(corpus, before)
        == edges_of(corpus)
        == {("b.py", "lib/sub/one.py"), ("b.py", "lib/sub/two.py")}
    )
