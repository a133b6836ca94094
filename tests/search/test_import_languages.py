"""What imports mean in each language: small real trees, cut, stored, opened, resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search.test_imports import edges

if TYPE_CHECKING:
    from tests.search.tree import Tree


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


def test_javascript_and_typescript(tree: Tree) -> None:
    files = {
        "web/app.ts": "import a from './a'\nexport * from './lib'\nimport('./late.js')\nimport x from 'react'\n",
        "web/a.tsx": "import b from '../shared/b.mjs'\nimport './a.css'\nimport fs from 'fs'\n",
        "web/late.ts": "import {A} from '@/web/a'\nimport './lib/index'\n",
        "web/lib/index.ts": "const old = require('./old')\n",
        "web/lib/old.js": "import { log } from '@acme/log/inner'\nimport type {T} from '@acme/log'\nimport 'react'\n",
        "web/react.ts": "",
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
        "engine/src/lib.rs": "pub mod net;\nmod util;\nuse std::fmt;\n",
        "engine/src/net/mod.rs": "mod tcp;\npub use self::tcp::Stream;\n",
        "engine/src/net/tcp.rs": "use crate::util::buffer;\nuse super::Kind;\nuse std::net::Ipv4Addr;\n",
        "engine/src/util.rs": "use crate::net::tcp::Stream;\n#[cfg(test)]\nmod tests { use super::*; }\n",
        "app/src/main.rs": "use engine::net::tcp;\nuse core::fmt;\nuse my_crate::thing;\n",
    }
    assert edges(tree, files) == {
        ("engine/src/lib.rs", "engine/src/net/mod.rs"),
        ("engine/src/lib.rs", "engine/src/util.rs"),
        ("engine/src/net/mod.rs", "engine/src/net/tcp.rs"),
        ("engine/src/net/tcp.rs", "engine/src/util.rs"),
        ("engine/src/net/tcp.rs", "engine/src/net/mod.rs"),
        ("engine/src/util.rs", "engine/src/net/tcp.rs"),
        ("app/src/main.rs", "engine/src/net/tcp.rs"),
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
