"""What a file imports, in every form that its language has for it."""

from __future__ import annotations

import pytest

from indexer import chunk
from indexer.settings import ChunkSettings

# Language -> text, and what it imports. Where using a name takes no import (Elixir, OCaml), what is used.
FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "python": (
        (
            "import a.b as c, d\n"
            "from . import x\n"
            "from .m import y\n"
            "from ..p.q import *\n"
            "from a import (b, c)\n"
            "import importlib\n"
            "importlib.import_module('z.k')\n"
            "try:\n"
            "  import fast\n"
            "except ImportError:\n"
            "  pass\n"
            "if TYPE_CHECKING:\n"
            "    from t import U\n"
            "def f():\n"
            "    from lazy import L\n"
            "__import__('zz')\n"
        ),
        ("..p.q", ".m.y", ".x", "a.b", "a.c", "d", "fast", "importlib", "lazy.L", "t.U"),
    ),
    "javascript": (
        (
            "import a from './a'\n"
            "import './b.css'\n"
            "export * from './c'\n"
            'export {x as y} from "./d.js"\n'
            "const e=require('../e')\n"
            'const {f}=require("f")\n'
            "import('./g').then()\n"
            "const l=()=>import(`./h`)\n"
            "require.resolve('./i')\n"
            "jest.mock('./j')\n"
            "module.exports=require('./k')\n"
            "export default {c:()=>import('./m.vue')}\n"
            "import(`./${x}`)\n"
        ),
        ("./a", "./b.css", "./c", "./d.js", "../e", "f", "./g", "./h", "./k", "./m.vue"),
    ),
    "typescript": (
        (
            "import type {A} from './a'\n"
            "import e = require('./e')\n"
            "export type {B} from './b'\n"
            "let x: import('./g').T\n"
            "export * as n from './n'\n"
            '/// <reference path="r.d.ts" />\n'
            "await import('./dyn')\n"
            "vi.mock('./mm')\n"
            "const z = await vi.importActual<typeof import('./act')>('./act')\n"
        ),
        ("./a", "./e", "./b", "./n", "./dyn", "./act"),
    ),
    "tsx": (
        "import A from './a'\nconst B = lazy(() => import('./b'))\n",
        ("./a", "./b"),
    ),
    "go": (
        'package p\nimport "fmt"\nimport (\n  x "github.com/a/b/c"\n  _ "d"\n  . "e/f"\n)\nimport `raw/q`\n',
        ("fmt", "github.com/a/b/c", "d", "e/f", "raw/q"),
    ),
    "rust": (
        (
            "use crate::a::b;\n"
            "use super::c::{d, e::f, self};\n"
            "use std::{io, fmt};\n"
            "mod m;\n"
            "pub mod n;\n"
            '#[path="other.rs"]\n'
            "mod o;\n"
            "extern crate zz as q;\n"
            "mod inl { use self::k; mod deep; }\n"
            "pub use a::*;\n"
            "use x as y;\n"
            'include!("gen.rs");\n'
            "fn f() -> super::g::T { crate::h::i(); std::j::k() }\n"
        ),
        (
            "crate::a::b",
            "super::c::d",
            "super::c::e::f",
            "super::c",
            "std::io",
            "std::fmt",
            "m",
            "n",
            "o",
            "zz",
            "self::k",
            "deep",
            "a::*",
            "x",
            "super::g::T",
            "crate::h::i",
        ),
    ),
    "java": (
        "import a.b.C;\nimport static a.b.D.*;\nimport a.e.*;\nclass X{}\n",
        ("a.b.C", "a.b.D.*", "a.e.*"),
    ),
    "kotlin": (
        "import a.b.C\nimport a.d.*\nimport a.e as f\nimport a.b.`in`.C\nclass X\n",
        ("a.b.C", "a.d.*", "a.e", "a.b.`in`.C"),
    ),
    "scala": (
        (
            "import a.b.C\n"
            "import a.{B, C => D}\n"
            "import a._\n"
            "import x.y, z.w\n"
            "import a.*\n"
            "object X { import q.r }\n"
        ),
        ("a.b.C", "a.B", "a.C", "a._", "x.y", "z.w", "a.*", "q.r"),
    ),
    "c": (
        (
            '#include "x.h"\n'
            "#include <sys/y.h>\n"
            "#ifdef A\n"
            '#include "z/w.h"\n'
            "#endif\n"
            "#include MACRO\n"
            "int f(){}\n"
            '#import "obj.h"\n'
        ),
        ("x.h", "sys/y.h", "z/w.h", "MACRO"),
    ),
    "cpp": (
        (
            '#include "x.hpp"\n'
            "#include <vector>\n"
            "#if 1\n"
            '# include "q.h"\n'
            "#endif\n"
            "namespace a { \n"
            '#include "in.inc"\n'
            "}\n"
            "import std;\n"
            "using namespace foo;\n"
        ),
        ("x.hpp", "vector", "q.h", "in.inc"),
    ),
    "csharp": (
        (
            "using A.B;\n"
            "using static A.C;\n"
            "using X = A.D<int>;\n"
            "global using E.F;\n"
            "namespace N { using G.H; class C{} }\n"
        ),
        ("A.B", "A.C", "A.D", "E.F", "G.H"),
    ),
    "ruby": (
        (
            "require 'a'\n"
            'require_relative "../b"\n'
            "autoload :C, 'c/d'\n"
            "load 'e.rb'\n"
            "require File.expand_path('../f', __FILE__)\n"
            "require 'x' if y\n"
            "module M\n"
            '  autoload :G, "m/g"\n'
            "end\n"
            "include Foo\n"
            "extend A::B\n"
        ),
        ("a", "../b", "c/d", "e.rb", "f", "x", "m/g"),
    ),
    "php": (
        (
            "<?php\n"
            "use A\\B;\n"
            "use A\\{C, D as E};\n"
            "use function A\\f;\n"
            "use const A\\g;\n"
            "require 'x.php';\n"
            "include_once(__DIR__ . '/y.php');\n"
            'require_once __DIR__."/z.php";\n'
            "class K { use T1, T2; }\n"
            "use Z\\Q as R, Z\\S;\n"
            "require dirname(__FILE__) . '/w.php'; include $x;\n"
        ),
        ("A\\B", "A\\C", "A\\D", "A\\f", "A\\g", "x.php", "/y.php", "/z.php", "Z\\Q", "Z\\S", "/w.php"),
    ),
    "swift": (
        "import A\n@testable import B\nimport struct C.D\nimport class E.F\n",
        ("A", "B", "C.D", "E.F"),
    ),
    "lua": (
        (
            "local a=require('a.b')\n"
            'local c=require "c"\n'
            "dofile('d.lua')\n"
            'local x = require("lazy.core").foo\n'
            "pcall(require, 'e')\n"
            "require(M .. '.f')\n"
            "loadfile([[g.lua]])\n"
            "local y=require'q'\n"
        ),
        ("a.b", "c", "d.lua", "e", "g.lua", "q"),
    ),
    "bash": (
        (
            "source ./a.sh\n"
            ". b.sh\n"
            'source "$DIR/lib/c.bash"\n'
            "load test_helper\n"
            "load '../d'\n"
            '. "$(dirname "$0")/e.sh"\n'
            "bats_load_library x\n"
        ),
        ("./a.sh", "b.sh", "$DIR/lib/c.bash", "test_helper", "../d", '$(dirname "$0")/e.sh'),
    ),
    "elixir": (
        (
            "defmodule A do\n"
            "  alias A.B\n"
            "  alias A.{C, D}\n"
            "  import E\n"
            "  use F, opt: 1\n"
            "  require Logger\n"
            "  alias A.G, as: H\n"
            "  alias __MODULE__.K\n"
            "end\n"
            "def f, do: X.Y.g(Map.new())\n"
            "@behaviour B.C\n"
        ),
        ("A.B", "A.C", "A.D", "E", "F", "Logger", "A.G", "__MODULE__.K", "X.Y", "B.C"),
    ),
    "haskell": (
        (
            "module A where\n"
            "import B.C\n"
            "import qualified D.E as F\n"
            "import G (h, i)\n"
            "import {-# SOURCE #-} J\n"
            'import "pkg" K.L\n'
            "x = 1\n"
        ),
        ("B.C", "D.E", "G", "J", "K.L"),
    ),
    "zig": (
        (
            'const std = @import("std");\n'
            'const a = @import("a/b.zig").c;\n'
            'pub const d = @import("d.zig");\n'
            'const e = @embedFile("f.txt");\n'
            'fn f() void { const z = @import("../z.zig"); }\n'
            'usingnamespace @import("q.zig");\n'
            'const c=@cImport({@cInclude("c.h");});\n'
        ),
        ("std", "a/b.zig", "d.zig", "f.txt", "../z.zig", "q.zig", "c.h"),
    ),
    "dart": (
        (
            "import 'a.dart';\n"
            "import 'package:p/b.dart' as b show C;\n"
            "export 'src/d.dart';\n"
            "part 'e.g.dart';\n"
            "part of 'f.dart';\n"
            "library x;\n"
            "part of my.lib;\n"
        ),
        ("a.dart", "package:p/b.dart", "src/d.dart", "e.g.dart", "f.dart"),
    ),
    "perl": (
        (
            "use A::B;\n"
            "use strict;\n"
            "use parent -norequire, 'C::D';\n"
            "use base qw(E F::G);\n"
            "require H::I;\n"
            "require 'j/k.pl';\n"
            "use lib 'x';\n"
            "do './l.pl';\n"
            "no warnings;\n"
            "use 5.010;\n"
        ),
        ("A::B", "strict", "C::D", "E", "F::G", "H::I", "j/k.pl", "lib", "warnings"),
    ),
    "r": (
        (
            "source('a.R')\n"
            "library(b)\n"
            'require("c")\n'
            "requireNamespace('d')\n"
            "source(file.path('x','e.R'))\n"
            "box::use(f/g)\n"
            "#' @include h.R\n"
        ),
        ("a.R", "b", "c", "d"),
    ),
    "julia": (
        (
            "using A, B: c\n"
            "import D.E\n"
            "using .F\n"
            'include("g.jl")\n'
            "import ..H: i\n"
            "using A.J\n"
            'include(joinpath("a","k.jl"))\n'
        ),
        ("A", "B", "D.E", ".F", "g.jl", "..H", "A.J"),
    ),
    "ocaml": (
        "open A\nopen! B.C\ninclude D\nmodule E = F.G\nlet x = H.f 1\nlet open I in ()\n",
        ("A", "B.C", "D", "F.G", "H", "I"),
    ),
    "vue": (
        "<script setup lang='ts'>\nimport a from './A.vue'\n</script>\n<template><a/></template>\n",
        ("./A.vue",),
    ),
    "svelte": (
        "<script>import a from './A.svelte'</script>\n",
        ("./A.svelte",),
    ),
    "html": (
        "<script type=module>import './x.js'</script>\n",
        ("./x.js",),
    ),
}


@pytest.mark.parametrize("language", FORMS)
def test_every_form(language: str) -> None:
    text, imports = FORMS[language]
    assert chunk.chunk(language, text.encode(), ChunkSettings()).imports == imports


def test_an_endless_use_ends() -> None:
    """What one statement can bring in is bounded, and so is what brackets it may stand in."""
    names = ", ".join(f"a{number}" for number in range(5000))
    assert len(chunk.chunk("rust", f"use x::{{{names}}};\n".encode(), ChunkSettings()).imports) <= 500
    deep = "use " + "a::{" * 300 + "b" + "}" * 300 + ";\n"
    chunk.chunk("rust", deep.encode(), ChunkSettings())
    brackets = "<?php require " + "(" * 300 + "'x.php'" + ")" * 300 + ";\n"
    assert chunk.chunk("php", brackets.encode(), ChunkSettings()).imports == ()
