"""What is a call in each language, and what only looks like one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from indexer.search import Corpus, calls, read_request
from indexer.search.filters import allowed_rows
from indexer.search.lexis import LEXIS
from indexer.search.show import Reader
from tests.trees import REPO

if TYPE_CHECKING:
    from tests.search.tree import Tree

# Each text calls `target` exactly in the definitions whose names begin with "yes" (or Yes).
TEXTS = {
    "a.py": '''
def yes_plain(): return target(1)
def yes_method(x): return x.target()
def yes_blank(): target (1)
def yes_in_f(): return f"{target(1)}"
def yes_behind_a_comment():
    # what the method
    target()
def no_mention(): return target
def no_string(): return "target(1)"
def no_doc():
    """Like target(1)."""
def no_comment(): pass  # target(1)
def no_part(): my_target(1); target_of(1)
def target(x): return x
def yes_inside():
    def target(): pass
    return target()
def no_inside():
    def target(): pass
    return target
''',
    "b.js": """
function yesPlain() { return target(1); }
function yesOptional(x) { return x?.target?.(1); }
function yesNew() { return new target(1); }
function yesTemplate() { return `${target(1)}`; }
function yesBehindRegex(s) { s.replace(/["'`]/g, ""); target(1); }
function noString() { return 'target(1)' + "target(2)"; }
function noTemplate() { return `target(1)`; }
function noComment() { /* target(1) */ return 1; // target(2)
}
function noMention() { return target; }
function noMethod() {
  return {
    target(x) {
      return x;
    },
  };
}
""",
    "c.go": """package c

func YesPlain() { target(1) }
func YesGeneric() { pkg.target[int](1) }
func YesGo() { go target() }
func NoString() string { return "target(1)" + `target(2)` }
func NoComment() { /* target(1) */ }
func NoMention() { x := target; use(x) }
func (s *S) target(x int) {}
""",
    "d.rs": """
fn yes_plain() { target(1); }
fn yes_macro() { target!(1); }
fn yes_turbofish() { x.target::<u8>(1); }
fn no_lifetime<'a>(x: &'a str) -> char { '"' }
fn yes_behind_quote() { let c = '"'; target(1); }
fn no_string() -> &'static str { r#"target("1")"# }
fn no_comment() { // target(1)
}
fn target(x: u8) {}
""",
    "e.c": """
int yes_plain(void) { return target(1); }
int yes_times(int a) { return a * target(1); }
int yes_star(void) { return *target(1); }
int no_prototype(void) { int target(int); char *target(int); return 0; }
int no_string(void) { puts("target(1)"); return '"'; }
int no_comment(void) { /* target(1) */ return 0; }
int target(int x) { return x; }
""",
    "f.java": """
class F {
  int yesPlain() { return target(1); }
  int yesThis() { return this.target(1); }
  F yesNew() { return new target(1); }
  String noString() { return "target(1)"; }
  int noLocal() { class L { int target(int x) { return x; } } return 0; }
  int target(int x) { return x; }
}
""",
    "g.rb": """
def yes_plain
  target(1)
end
def yes_command
  target :a, 1
end
def yes_receiver(x)
  x.target
end
def yes_string
  "#{target(1)}"
end
def no_assignment(x)
  x.target = 1
end
def no_string
  "target(1)"
end
def no_comment
  1 # target(1)
end
def target(x)
  x
end
""",
    "h.sh": """
yes_plain() { target one; }
yes_pipe() { cat x | target; }
yes_substituted() { echo "$(target 1)"; }
yes_then() { if true; then target; fi; }
no_argument() { echo target; }
no_assignment() { target=1; }
no_comment() { true; # target
}
target() { echo 1; }
""",
    "i.php": """<?php
function yesPlain() { return target(1); }
function yesCase() { return Target(1); }
function yesMethod($x) { return $x->target(1); }
function noVariable($target) { return $target(1); }
function noString() { return 'target(1)'; }
function target($x) { return $x; }
""",
    "j.lua": """
function yes_plain() return target(1) end
function yes_string() return target"x" end
function yes_table() return m.target{1} end
function no_index() return target[1] end
function no_comment() --[[ target(1) ]] return 1 end
function target(x) return x end
""",
    "k.kt": """
fun yesPlain() = target(1)
fun yesLambda() { x.target { it } }
fun yesString() = "${target(1)}"
fun noString() = "target(1)"
fun noMention() { if (target) { } }
fun target(x: Int) = x
""",
    "l.hs": """module L where

yesPlain :: Int -> Int
yesPlain x = 1 + target x

yesDollar :: Int
yesDollar = f (target $ 1)

noMention :: Int
noMention = map target xs

noComment :: Int
noComment = 1 -- like target x

target :: Int -> Int
target x = x
""",
    "m.swift": """
func yesPlain() { target(1) }
func yesString() { print("\\(target(1))") }
func noString() { print("target(1)") }
func target(_ x: Int) {}
""",
    "n.ex": """
defmodule N do
  def yes_plain, do: target(1)
  def yes_pipe(x) do
    x |> target()
  end
  def no_string, do: "target(1)"
  def target(x), do: x
end
""",
    "o.cs": """
class O {
  int YesPlain() { return target(1); }
  int YesAwait() { return await target<int>(1); }
  string YesString() { return $"{target(1)}"; }
  string NoString() { return @"a\\" + "target(1)"; }
  int target(int x) { return x; }
}
""",
    "p.pl": """
sub yes_plain { return target(1); }
sub yes_arrow { my $x = shift; return $x->target; }
sub no_variable { return $target; }
sub no_string { return "target(1)"; }
sub target { return 1; }
""",
    "q.sql": "CREATE FUNCTION yes_plain() RETURNS int AS 'x' LANGUAGE sql;\n",
    "r.ml": 'let yes_plain x = target x\n\nlet no_mention xs = List.map target xs\n\nlet no_string () = "target x"\n\nlet target x = x\n',
}  # fmt: skip


def calling(tree: Tree, corpus: Corpus, query: str) -> list[tuple[str, str]]:
    request = read_request(query, {})
    rows = allowed_rows(corpus, request, Reader(corpus, tree.read)).rows.nonzero()[0].tolist()
    return [(corpus.path(row), corpus.snapshot.chunk(row).symbol) for row in rows]


@pytest.mark.parametrize("path", [path for path in TEXTS if path != "q.sql"])
def test_calls(tree: Tree, path: str) -> None:
    corpus = tree.write({path: TEXTS[path]}).index()
    snapshot = corpus.snapshot
    names = {snapshot.string(number) for number in snapshot.symbol.tolist()} - {""}
    called = {symbol for _, symbol in calling(tree, corpus, "calls:target")}
    assert called == {name for name in names if name.lower().startswith("yes")}
    assert called
    assert any(name.lower().startswith("no") for name in names)


def test_the_name_may_be_qualified(tree: Tree) -> None:
    corpus = tree.write({
        "a.py": "def one():\n    os.path.join(a)\n\n\ndef two():\n    ', '.join(a)\n\n\ndef three():\n    posix.path.join(a)\n",
        "b.cpp": "void four() {\n  std::move(x);\n}\nvoid five() {\n  move(x);\n}\n",
    }).index()  # fmt: skip
    assert calling(tree, corpus, "calls:os.path.join") == [("a.py", "one")]
    assert calling(tree, corpus, "calls:path.join") == [("a.py", "one"), ("a.py", "three")]
    assert len(calling(tree, corpus, "calls:join")) == 3
    assert calling(tree, corpus, "calls:std::move") == [("b.cpp", "four")]


def test_prose_and_data_call_nothing(tree: Tree) -> None:
    corpus = tree.write({"a.md": "# A\n\nUse target(1).\n", "b.json": '{"x": "target(1)"}\n'}).index()
    assert calling(tree, corpus, "calls:target") == []


def test_the_part_of_a_split_definition_that_calls(tree: Tree) -> None:
    """A part may begin inside a string; what it holds is judged by the whole."""
    text = 'def long():\n    """' + "\n    ".join(f"word_{i} target(1) or" for i in range(60)) + '"""\n'
    text += "".join(f"    value_{i} = {i}\n" for i in range(60)) + "    return target(1)\n"
    corpus = tree.write({"a.py": text}).index()
    request = read_request("calls:target", {})
    rows = allowed_rows(corpus, request, Reader(corpus, tree.read)).rows.nonzero()[0].tolist()
    assert rows
    end = text.count("\n")
    for row in rows:
        spans = corpus.snapshot.spans(row)
        assert any(span.start_line <= end <= span.end_line for span in spans)


def test_what_was_not_read_is_told(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = tree.write({f"f{i}.py": f"def f{i}():\n    target({i})\n" for i in range(6)}).index()
    reader = Reader(corpus, tree.read)
    monkeypatch.setattr(calls, "MOST", 4)
    found = allowed_rows(corpus, read_request("calls:target", {}), reader)
    assert int(found.rows.sum()) == 4
    assert found.notes == ["calls: 2 more chunks hold target and were not read; add a filter"]
    (tree.root / "f0.py").write_text("def g():\n    return 1, target\n")
    found = allowed_rows(corpus, read_request("calls:target", {}), Reader(corpus, tree.read))
    assert "calls: 1 chunks have changed since they were indexed and were not read" in found.notes


def test_names_that_no_posting_knows(tree: Tree) -> None:
    """Single letters and stop words have no terms: then every chunk is read."""
    corpus = tree.write({"a.js": "function yes() { on(1); f(2); }\nfunction no() { return 1; }\n"}).index()
    assert calling(tree, corpus, "calls:on") == [("a.js", "yes")]
    assert calling(tree, corpus, "calls:f") == [("a.js", "yes")]


@pytest.mark.parametrize("language", sorted(LEXIS))
@pytest.mark.parametrize("text", [b'"' * 20_000, b"'" * 20_001, b"`\\" * 9999, b"/*" * 9999, b"x(" * 9999, b"#{" * 9999, b"a " * 9999, b"<" * 9999])  # fmt: skip
def test_no_text_takes_long(language: str, text: bytes) -> None:
    call = calls._Call(LEXIS[language], "target")
    assert list(call.places(text + b" target", 0, len(text) + 7)) == [] or language in {
        "bash",
        "ruby",
        "perl",
    }


def test_it_agrees_with_python_on_this_repository(tree: Tree) -> None:
    paths = sorted((REPO / "indexer").rglob("*.py"))[:60]
    texts = {str(path.relative_to(REPO)): path.read_text(encoding="utf-8") for path in paths}
    corpus = tree.write(texts).index()
    lines: dict[str, set[tuple[str, int]]] = {}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                lines.setdefault(name, set()).add((path, node.func.end_lineno or 0))
    for name in sorted(lines)[::7]:
        request = read_request(f"calls:{name}", {})
        rows = allowed_rows(corpus, request, Reader(corpus, tree.read)).rows.nonzero()[0].tolist()
        expected = {
            row
            for path, line in lines[name]
            for row in corpus.rows_of(corpus.snapshot.file_of(path) or 0)
            if any(span.start_line <= line <= span.end_line for span in corpus.snapshot.spans(row))
        }
        assert set(rows) == expected, name
