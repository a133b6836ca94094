from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.search.filters import allowed_paths, path_pattern


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "a/b/c.pyi", False),
        ("tests", "a/tests/b.py", True),
        ("tests", "a/mytests/b.py", False),
        ("tests/", "tests/b.py", True),
        ("/tests", "a/tests/b.py", False),
        ("/tests", "tests/b.py", True),
        ("./tests", "tests/b.py", True),
        ("src/*", "src/a/b.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/x/y/b.py", True),
        ("src/**", "src/x/y/b.py", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("[!ab].py", "c.py", True),
        ("x[z-a]", "x-", True),
        ("a[b", "a[b", True),
        ("a[]", "a[]", True),
        ("a[!]", "a[!]", True),
        ("a[]b]", "a]", True),
        ("a[!]b]", "ac", True),
        ("x[a--]", "x-", True),
        ("x[!-z]", "x-", False),
        ("x[!-z]", "x0", True),
        ("x[!-\t)]", "x)", False),
        ("ab**/c", "ab/x/c", True),
        ("**/b**c/*a*", "a/b/b/xc/bab", True),
        ("a.c", "abc", False),
        ("db/models", "db/models/query.py", True),
        ("models/query.py", "db/models/query.py", False),
    ],
)
def test_globs(glob: str, path: str, matches: bool) -> None:
    assert bool(path_pattern(glob).match(path)) is matches


@pytest.mark.parametrize("unit", ["*a", "**/a/", "**a", "a*/", "**/", "?*"])
def test_no_glob_is_slow(unit: str) -> None:
    """A backtracking matcher takes from minutes to for ever on each of these, which any client may send."""
    for path in ("a" * 250, "/".join(["a"] * 200), "/".join(["aa"] * 200)):
        assert not path_pattern(unit * 30 + "b").match(path)


def test_several_globs_and_exclusions() -> None:
    paths = ["a.py", "b.js", "tests/c.py", "d.md"]
    assert allowed_paths(paths, ["*.py", "*.js", "!tests"]) == [True, True, False, False]
    assert allowed_paths(paths, ["!tests"]) == [True, True, False, True]


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_glob_compiles(glob: str, path: str) -> None:
    path_pattern(glob).match(path)


@settings(max_examples=400)
@given(st.text("[]!-^\\az0/\t*", max_size=12), st.text("[]!-^\\az0/\t", max_size=6))
def test_any_class_compiles(glob: str, path: str) -> None:
    path_pattern(glob).match(path)
