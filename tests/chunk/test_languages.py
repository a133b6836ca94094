"""The language of a file, by name and first bytes."""

from __future__ import annotations

import pytest

from indexer.chunk.languages import language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("stub.pyi", "python"),
        ("app.js", "javascript"),
        ("app.mjs", "javascript"),
        ("app.jsx", "javascript"),
        ("app.ts", "typescript"),
        ("app.mts", "typescript"),
        ("types.d.ts", "typescript"),
        ("App.tsx", "tsx"),
        ("main.go", "go"),
        ("lib.rs", "rust"),
        ("Main.java", "java"),
        ("a.c", "c"),
        ("a.cc", "cpp"),
        ("a.hpp", "cpp"),
        ("A.cs", "csharp"),
        ("a.rb", "ruby"),
        ("Rakefile", "ruby"),
        ("a.php", "php"),
        ("a.swift", "swift"),
        ("a.kt", "kotlin"),
        ("build.gradle.kts", "kotlin"),
        ("a.scala", "scala"),
        ("a.lua", "lua"),
        ("a.sh", "bash"),
        (".bashrc", "bash"),
        ("a.exs", "elixir"),
        ("a.hs", "haskell"),
        ("a.zig", "zig"),
        ("a.sql", "sql"),
        ("a.dart", "dart"),
        ("a.pm", "perl"),
        ("a.R", "r"),
        ("a.jl", "julia"),
        ("a.mli", "ocaml"),
        ("A.vue", "vue"),
        ("A.svelte", "svelte"),
        ("index.HTML", "html"),
        ("README.md", "markdown"),
        ("doc.rst", "rst"),
        ("n.ipynb", "notebook"),
        ("a.json", "json"),
        ("a.jsonc", "json"),
        ("a.yml", "yaml"),
        ("pyproject.toml", "toml"),
        ("a.css", "css"),
        ("django.po", "po"),
        ("Makefile", "makefile"),
        ("Dockerfile", "dockerfile"),
        ("web.dockerfile", "dockerfile"),
        ("notes.txt", "text"),
        ("LICENSE", "text"),
        ("no suffix at all", "text"),
        ("a.unheard-of", "text"),
        (".py", "text"),
        ("dir.py/file", "text"),
        ("caf\udce9.py", "python"),
        ("", "text"),
    ],
)
def test_by_name(path: str, language: str) -> None:
    assert language_of(path, b"") == language


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#!/bin/sh\n", "bash"),
        (b"#!/usr/bin/env python3.11\nimport x\n", "python"),
        (b"#! /usr/bin/env -S node --flag\n", "javascript"),
        (b"#!/usr/bin/env FOO=1 ruby -w\r\n", "ruby"),
        (b"\xef\xbb\xbf#!/usr/bin/perl -w\n", "perl"),
        (b"#!/usr/bin/Rscript\n", "r"),
        (b"#!/opt/python/bin/pypy3\n", "python"),
        (b"#!/usr/bin/unheard-of\n", "text"),
        (b"#!/usr/bin/env\n", "text"),
        (b"#!\n#!/bin/sh\n", "text"),
        (b"\n#!/bin/sh\n", "text"),
        (b"#!" + b"/" * 5000, "text"),
        (b"\xff\xfe\x00", "text"),
    ],
)
def test_by_interpreter(head: bytes, language: str) -> None:
    assert language_of("bin/tool", head) == language


def test_a_name_says_more_than_an_interpreter() -> None:
    assert language_of("run.py", b"#!/bin/sh\n") == "python"


@pytest.mark.parametrize(
    ("head", "language"),
    [
        (b"#ifndef A_H\n#define A_H\n#include <stdio.h>\nint f(struct class_of *a);\n", "c"),
        (b"", "c"),
        (b"#pragma once\nclass Foo;\n", "cpp"),
        (b"namespace a {\n}\n", "cpp"),
        (b"template <typename T> struct A {};\n", "cpp"),
        (b"#include <vector>\nint f();\n", "cpp"),
        (b"void f(std::string s);\n", "cpp"),
        (b"struct A {\n public:\n  int a;\n};\n", "cpp"),
        (b"using namespace std;\n", "cpp"),
        (b"/* a class of its own, using names */\nint x;\n", "c"),
    ],
)
def test_a_header_is_c_unless_it_looks_like_cpp(head: bytes, language: str) -> None:
    assert language_of("a.h", head) == language


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("t/basic.t", b"use strict;\nuse Test::More;\n", "perl"),
        ("t/basic.t", b"#!perl\nprint 1;\n", "perl"),
        ("run.t", b"  $ echo a cram test\n", "text"),
        ("app_de.ts", b'<?xml version="1.0"?>\n<!DOCTYPE TS>\n', "xml"),
    ],
)
def test_suffixes_with_two_meanings(path: str, head: bytes, language: str) -> None:
    assert language_of(path, head) == language
