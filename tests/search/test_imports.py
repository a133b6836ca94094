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


def from_file(tree: Tree, path: str, files: dict[str, str]) -> set[str]:
    """What one file imports."""
    return {imported for importer, imported in edges(tree, files) if importer == path}


def test_python(tree: Tree) -> None:
    files = {
        "src/shop/__init__.py": "from .cart import Cart\n",
        "src/shop/cart.py": "import logging\nfrom shop import prices\nfrom . import taxes\n",
        "src/shop/prices.py": "from shop.models.item import Item, Other\nimport shop.models\n",
        "src/shop/taxes.py": "from .models.item import Item\nfrom ..shop import cart\nfrom .... import too_far\n",
        "src/shop/logging.py": "import os.path\n",
        "src/shop/models/__init__.py": "",
        "src/shop/models/item.py": "class Item: pass\n",
        "tests/test_cart.py": "import helpers\nfrom shop.cart import Cart\n",
        "tests/helpers.py": "import shop\n",
    }
    assert edges(tree, files) == {
        ("src/shop/__init__.py", "src/shop/cart.py"),
        ("src/shop/cart.py", "src/shop/prices.py"),
        ("src/shop/cart.py", "src/shop/taxes.py"),
        ("src/shop/prices.py", "src/shop/models/item.py"),
        ("src/shop/prices.py", "src/shop/models/__init__.py"),
        ("src/shop/taxes.py", "src/shop/models/item.py"),
        ("src/shop/taxes.py", "src/shop/cart.py"),
        ("tests/test_cart.py", "tests/helpers.py"),
        ("tests/test_cart.py", "src/shop/cart.py"),
        ("tests/helpers.py", "src/shop/__init__.py"),
    }


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


def test_javascript_and_typescript(tree: Tree) -> None:
    files = {
        "web/app.ts": "import a from './a'\nexport * from './lib'\nimport('./late.js')\nimport x from 'react'\n",
        "web/a.tsx": "import b from '../shared/b.mjs'\nimport './a.css'\nimport fs from 'fs'\n",
        "web/late.ts": "import {A} from '@/web/a'\nimport './lib/index'\n",
        "web/lib/index.ts": "const old = require('./old')\n",
        "web/lib/old.js": "import { log } from '@acme/log/inner'\nimport type {T} from '@acme/log'\n",
        "web/a.css": "p { color: red }\n",
        "web/view.vue": "<script setup lang='ts'>\nimport b from './a'\n</script>\n",
        "shared/b.mjs": "export * as v from '../web/view.vue'\n",
        "packages/log/src/index.ts": "",
        "packages/log/src/inner.ts": "",
    }
    assert edges(tree, files) == {
        ("web/app.ts", "web/a.tsx"),
        ("web/app.ts", "web/lib/index.ts"),
        ("web/app.ts", "web/late.ts"),
        ("web/a.tsx", "shared/b.mjs"),
        ("web/a.tsx", "web/a.css"),
        ("web/late.ts", "web/a.tsx"),
        ("web/late.ts", "web/lib/index.ts"),
        ("web/lib/index.ts", "web/lib/old.js"),
        ("web/lib/old.js", "packages/log/src/inner.ts"),
        ("web/lib/old.js", "packages/log/src/index.ts"),
        ("web/view.vue", "web/a.tsx"),
        ("shared/b.mjs", "web/view.vue"),
    }


def test_includes_mean_what_is_declared_and_its_implementation(tree: Tree) -> None:
    files = {
        "lib/main.c": '#include "url.h"\n#include <stdio.h>\n#include "net/sock.h"\n#include "../gen/made.inc"\n',
        "lib/url.h": "",
        "lib/url.c": '#include "url.h"\n',
        "include/net/sock.h": "",
        "gen/made.inc": "",
    }
    assert edges(tree, files) == {
        ("lib/main.c", "lib/url.h"),
        ("lib/main.c", "lib/url.c"),
        ("lib/main.c", "include/net/sock.h"),
        ("lib/main.c", "gen/made.inc"),
        ("lib/url.c", "lib/url.h"),
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


def test_go_imports_folders_without_their_tests(tree: Tree) -> None:
    files = {
        "main.go": 'package main\nimport (\n  "fmt"\n  "github.com/acme/tool/pkg/store"\n  "github.com/x/store"\n)\n',
        "pkg/store/store.go": 'package store\nimport "errors"\n',
        "pkg/store/index.go": "package store\n",
        "pkg/store/store_test.go": 'package store\nimport "testing"\n',
        "pkg/errors/errors.go": "package errors\n",
    }
    assert edges(tree, files) == {
        ("main.go", "pkg/store/store.go"),
        ("main.go", "pkg/store/index.go"),
    }


def test_java_kotlin_scala(tree: Tree) -> None:
    files = {
        "src/main/java/org/acme/Shop.java": (
            "package org.acme;\nimport org.acme.model.Item;\nimport java.util.List;\n"
            "import static org.acme.model.Tax.rate;\nclass Shop {}\n"
        ),
        "src/main/java/org/acme/model/Item.java": "package org.acme.model;\nclass Item {}\n",
        "src/main/java/org/acme/model/Tax.java": "package org.acme.model;\nclass Tax {}\n",
        "src/main/java/org/acme/List.java": "package org.acme;\nimport org.acme.model.*;\nclass List {}\n",
        "app/org/acme/Main.kt": "import org.acme.model.Item as Thing\nimport org.acme.Shop.Inner\nclass Main\n",
        "app/org/acme/Run.scala": "import org.acme.Main\nobject Run\n",
    }
    java = "src/main/java/org/acme"
    assert edges(tree, files) == {
        (f"{java}/Shop.java", f"{java}/model/Item.java"),
        (f"{java}/Shop.java", f"{java}/model/Tax.java"),
        (f"{java}/List.java", f"{java}/model/Item.java"),
        (f"{java}/List.java", f"{java}/model/Tax.java"),
        ("app/org/acme/Main.kt", f"{java}/model/Item.java"),
        ("app/org/acme/Main.kt", f"{java}/Shop.java"),
        ("app/org/acme/Run.scala", "app/org/acme/Main.kt"),
    }


def test_rust(tree: Tree) -> None:
    files = {
        "core/src/lib.rs": "pub mod net;\nmod util;\nuse std::fmt;\n",
        "core/src/net/mod.rs": "mod tcp;\npub use self::tcp::Stream;\n",
        "core/src/net/tcp.rs": "use crate::util::buffer;\nuse super::Kind;\nuse std::net::Ipv4Addr;\n",
        "core/src/util.rs": "use crate::net::tcp::Stream;\n#[cfg(test)]\nmod tests { use super::*; }\n",
        "app/src/main.rs": "use core::net::tcp;\nuse my_crate::thing;\n",
    }
    assert edges(tree, files) == {
        ("core/src/lib.rs", "core/src/net/mod.rs"),
        ("core/src/lib.rs", "core/src/util.rs"),
        ("core/src/net/mod.rs", "core/src/net/tcp.rs"),
        ("core/src/net/tcp.rs", "core/src/util.rs"),
        ("core/src/net/tcp.rs", "core/src/net/mod.rs"),
        ("core/src/util.rs", "core/src/net/tcp.rs"),
        ("app/src/main.rs", "core/src/net/tcp.rs"),
    }


CASES = {
    "csharp": (
        "A.cs",
        {"A.cs": "using Acme.Shop.Item;\nclass A {}\n", "Shop/Item.cs": "class Item {}\n"},
        {"Shop/Item.cs"},
    ),
    "ruby": (
        "lib/a.rb",
        {
            "lib/a.rb": "require 'shop/item'\nrequire_relative 'b'\nrequire 'set'\n",
            "lib/b.rb": "",
            "lib/shop/item.rb": "",
        },
        {"lib/b.rb", "lib/shop/item.rb"},
    ),
    "php": (
        "src/A.php",
        {
            "src/A.php": "<?php\nuse Acme\\Shop\\Item;\nuse Other\\Thing;\nrequire 'boot.php';\n",
            "src/Shop/Item.php": "<?php\n",
            "src/boot.php": "<?php\n",
        },
        {"src/Shop/Item.php", "src/boot.php"},
    ),
    "lua": (
        "lua/app/init.lua",
        {
            "lua/app/init.lua": "local c = require('app.core')\nlocal u = require('app.util')\nrequire('ffi')\n",
            "lua/app/core.lua": "",
            "lua/app/util/init.lua": "",
        },
        {"lua/app/core.lua", "lua/app/util/init.lua"},
    ),
    "bash": (
        "bin/run",
        {
            "bin/run": '#!/bin/bash\nsource "$(dirname "$0")/../lib/log.sh"\n. "$ROOT/lib/net.bash"\n. /etc/profile\n',
            "lib/log.sh": "",
            "lib/net.bash": "",
        },
        {"lib/log.sh", "lib/net.bash"},
    ),
    "elixir": (
        "lib/plug/router.ex",
        {
            "lib/plug/router.ex": "defmodule Plug.Router do\n  alias Plug.Conn.Query\n  require Logger\n  use Plug.Router.ErrorHandler\nend\n",
            "lib/plug/conn/query.ex": "",
            "lib/plug/logger.ex": "",
            "lib/plug.ex": "",
            "lib/plug/router/error_handler.ex": "",
        },
        {"lib/plug/conn/query.ex", "lib/plug/router/error_handler.ex"},
    ),
    "haskell": (
        "src/Data/Aeson.hs",
        {
            "src/Data/Aeson.hs": "module Data.Aeson where\nimport Data.Aeson.Types\nimport Data.Text\n",
            "src/Data/Aeson/Types.hs": "",
            "src/Data/Aeson/Text.hs": "",
        },
        {"src/Data/Aeson/Types.hs"},
    ),
    "zig": (
        "src/main.zig",
        {
            "src/main.zig": 'const std = @import("std");\nconst a = @import("net/a.zig");\n',
            "src/net/a.zig": "",
        },
        {"src/net/a.zig"},
    ),
    "dart": (
        "lib/main.dart",
        {
            "lib/main.dart": "import 'src/a.dart';\nimport 'package:acme/b.dart';\nimport 'dart:io';\n",
            "lib/src/a.dart": "",
            "lib/b.dart": "",
        },
        {"lib/src/a.dart", "lib/b.dart"},
    ),
    "perl": (
        "bin/run.pl",
        {
            "bin/run.pl": "use strict;\nuse Acme::Shop::Item;\nrequire 'lib/old.pl';\n",
            "lib/Acme/Shop/Item.pm": "",
            "lib/old.pl": "",
        },
        {"lib/Acme/Shop/Item.pm", "lib/old.pl"},
    ),
    "julia": (
        "src/Shop.jl",
        {"src/Shop.jl": 'module Shop\ninclude("item.jl")\nusing LinearAlgebra\nend\n', "src/item.jl": ""},
        {"src/item.jl"},
    ),
    "r": ("main.R", {"main.R": "source('lib/a.R')\nlibrary(stats)\n", "lib/a.R": ""}, {"lib/a.R"}),
    "ocaml": ("main.ml", {"main.ml": "open Shop_item\nopen Printf\n", "shop_item.ml": ""}, {"shop_item.ml"}),
}


@pytest.mark.parametrize(("path", "files", "imported"), CASES.values(), ids=CASES)
def test_language(tree: Tree, path: str, files: dict[str, str], imported: set[str]) -> None:
    assert from_file(tree, path, files) == imported


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
