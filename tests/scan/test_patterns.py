"""Single lines of ignore files, each corner as git has it (the property tests hold the whole)."""

from __future__ import annotations

import time

import pytest

from indexer.scan.patterns import compile_patterns, parse_lines

CASES = [
    # line, ignored, not ignored
    (b"a/**", [b"a/b", b"a/b/c"], [b"a", b"x/a/b"]),
    (b"**/a", [b"a", b"x/a", b"x/y/a"], [b"ab", b"x/ba"]),
    (b"a/**/b", [b"a/b", b"a/x/b", b"a/x/y/b"], [b"ab", b"a/xb", b"a/b/c"]),
    (b"ab**/c", [b"abc", b"ab/c", b"abx/c"], [b"ab"]),
    (b"x/a**b", [b"x/ab", b"x/a12b"], [b"x/a/b"]),
    (b"a*b*c", [b"abc", b"a-b-c", b"x/abbc"], [b"ab", b"acb", b"abcd"]),
    (b"/a*/c", [b"ab/c", b"a/c"], [b"a/b/c", b"x/a/c"]),
    (b"?", [b"a", b"x/a"], ["é".encode(), b"ab"]),
    (b"[!a]", [b"b"], [b"a", "é".encode()]),
    (b"a[/]b", [], [b"a/b"]),
    (b"x/a[!b]c", [b"x/a-c"], [b"x/abc", b"x/a/c"]),
    (b"[]-a]", [b"]", b"^", b"a"], [b"b", b"-"]),
    (b"[z-a]", [b"z"], [b"a", b"-"]),
    (b"[[:alpha:][:digit:]]", [b"a", b"Z", b"7"], [b"-", "é".encode()]),
    (b"[[:nope:]]", [], [b"n", b"["]),
    (b"[[:alpha]", [b"[", b":", b"a"], [b"]"]),
    (b"[a", [], [b"[a", b"a"]),
    (b"a\\", [], [b"a", b"a\\"]),
    (b"\\a\\*", [b"a*"], [b"ab", b"\\a*"]),
    (b"\\#x", [b"#x"], [b"x"]),
    (b"#x", [], [b"#x", b"x"]),
    (b"\\!x", [b"!x"], [b"x"]),
    (b"a  ", [b"a"], [b"a  "]),
    (b"a\\ ", [b"a "], [b"a"]),
    (b"a\t", [b"a\t"], [b"a"]),
    (b"a\r", [b"a"], [b"a\r"]),
    (b"a//", [], [b"a", b"a/b"]),
    (b"/", [], [b"a", b""]),
    (b"*", [b"a", b".x", b"a/b", b"a\nb"], []),
    (b"*.tar.gz", [b"a.tar.gz", b".tar.gz", b"x/a.b.tar.gz"], [b"a.gz", b"tar.gz"]),
    (b"doc/*.txt", [b"doc/a.txt"], [b"doc/x/a.txt", b"x/doc/a.txt"]),
    (b"\xff*", [b"\xffa"], [b"a"]),
    (b"a\0b", [b"a"], [b"a\0b"]),
]


@pytest.mark.parametrize(("line", "ignored", "kept"), CASES, ids=lambda case: repr(case)[:30])
def test_one_line(line: bytes, ignored: list[bytes], kept: list[bytes]) -> None:
    patterns = compile_patterns(line)
    verdicts = {path: patterns and patterns.verdict(path, is_directory=False) for path in (*ignored, *kept)}
    assert [path for path, verdict in verdicts.items() if verdict] == ignored


def test_the_last_line_that_matches_decides() -> None:
    patterns = compile_patterns(b"\xef\xbb\xbf*.o\n!keep.o\n\n# comment\nkeep.?\n!x/keep.o\n!*.d/\nlast*")
    assert patterns is not None
    names = [b"a.o", b"keep.o", b"x/keep.o", b"a.d", b"lastly", b"none"]
    assert [patterns.verdict(name, is_directory=False) for name in names] == [
        True,
        True,
        False,
        None,
        True,
        None,
    ]
    assert patterns.verdict(b"a.d", is_directory=True) is False


def test_a_slash_at_the_end_means_directories() -> None:
    patterns = compile_patterns(b"build/\n/out*/\n")
    assert patterns is not None
    for name in (b"build", b"x/build", b"output"):
        assert patterns.verdict(name, is_directory=True)
        assert patterns.verdict(name, is_directory=False) is None


def test_nothing_in_it() -> None:
    assert compile_patterns(b"") is None
    assert compile_patterns(b"\n# only words\n\n   \n/\n!\n") is None
    assert parse_lines(b"x" * 10_000) == []


@pytest.mark.parametrize(
    ("line", "path"),
    [
        (b"*a" * 40 + b"b", b"a" * 250),
        (b"x/" + b"*a" * 40 + b"b", b"x/" + b"a" * 250),
        (b"/".join([b"**", b"a*a"] * 12) + b"/b", b"/".join([b"aa"] * 1000)),
        (b"**\\/" * 20 + b"b", b"/".join([b"a"] * 1000)),
        (b"/".join([b"a*"] * 30), b"/".join([b"a" * 60] * 31)),
        (b"[a-z]*" * 40 + b"\\!", b"a" * 250),
        (b"?*" * 40 + b"\\!", b"a" * 250),
    ],
)
def test_no_pattern_is_slow(line: bytes, path: bytes) -> None:
    """A backtracking matcher takes from hours to for ever on each of these."""
    patterns = compile_patterns(line)
    assert patterns is not None
    started = time.perf_counter()
    assert not patterns.verdict(path, is_directory=False)
    assert time.perf_counter() - started < 5


def test_many_lines_stay_quick() -> None:
    """Plain names and suffixes, which most lines are, are looked up and not tried one by one."""
    patterns = compile_patterns(b"".join(b"name%d\n*.s%d\n/p%d/q\n" % (n, n, n) for n in range(20_000)))
    assert patterns is not None
    assert [patterns.verdict(p, is_directory=False) for p in (b"x/name777", b"a.s19999", b"p5/q", b"p5/r")] == [
        True, True, True, None,
    ]  # fmt: skip


def test_globs_beyond_any_real_file_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """An expression of all of them would take a minute and gigabytes to compile; plain lines are counted as nothing."""
    monkeypatch.setattr("indexer.scan.patterns._MOST_GLOBS", 3)
    patterns = compile_patterns(b"a*b\nplain\n**/c*/d\ne?\nf?\n*.g\n!late\n")
    assert patterns is not None
    said = [
        patterns.verdict(name, is_directory=False)
        for name in (b"ab", b"x/c/d", b"ee", b"ff", b"x.g", b"plain", b"late")
    ]
    assert said == [True, True, True, None, True, True, False]
