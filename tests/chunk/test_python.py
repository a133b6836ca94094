"""Python: one sample that holds every kind of definition, odd files, and that the three readers agree."""

from __future__ import annotations

import sysconfig
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_sitter_language_pack import get_language

from indexer.chunk import chunk, python, python_scan, python_tree
from indexer.chunk.pieces import BOM
from indexer.chunk.spans import assemble
from indexer.chunk.tree import parse
from indexer.settings import ChunkSettings
from tests.chunk.outlines import SAMPLES, cut, docstrings, outline, ranges
from tests.chunk.promises import hold

if TYPE_CHECKING:
    from indexer.chunk.spans import Definition, Outline
    from indexer.types import FileChunks

SETTINGS = ChunkSettings()

FOUND = cut("python", "kinds.py")
TEXT = (SAMPLES / "python" / "kinds.py").read_bytes()


def test_definitions() -> None:
    assert outline(FOUND) == [
        ("function", "", "greet", 18),
        ("function", "", "items", 30),
        ("class", "", "Base", 33),
        ("class", "", "Shape", 37),
        ("method", "Shape", "__init__", 42),
        ("method", "Shape", "area", 45),
        ("function", "Shape.area", "square", 47),
        ("method", "Shape", "area", 54),
        ("class", "Shape.area", "Local", 55),
        ("method", "Shape.area.Local", "inside", 56),
        ("method", "Shape", "conditional", 61),
        ("method", "Shape", "conditional", 63),
        ("function", "", "only_for_types", 69),
        ("class", "", "fast", 75),
        ("method", "fast", "run", 76),
        ("function", "fast.run", "deep", 79),
        ("function", "fast.run", "matched", 83),
        ("function", "", "at_last", 85),
        ("function", "", "after_a_string", 91),
        ("function", "", "名前", 95),
    ]


def test_what_stands_above_belongs_to_the_definition() -> None:
    found = ranges(FOUND)
    expected = {
        "greet": (16, 21),
        "items": (24, 30),
        "Shape": (36, 65),
        "Shape.area": (44, 50),
        "Shape.area.square": (46, 48),
        "fast": (74, 75),
    }
    assert {name: found[name] for name in expected} == expected


def test_docstrings() -> None:
    assert docstrings(FOUND, TEXT) == {"greet": '"""Greet somebody."""', "Shape": '"""A shape."""'}


def test_signatures() -> None:
    found = {piece.symbol: TEXT[slice(*piece.signature)].decode() for piece in FOUND.chunks}
    expected = {
        "greet": 'def greet(name: str = "a:b", *, loud: bool = False) -> str',
        "items": "async def items(id)",
        "Base": "class Base",
        "Shape": "class Shape(Base, Generic[T], metaclass=Meta)",
        "__init__": "def __init__(self)",
        "area": "def area(self, value)",
    }
    assert {name: found[name] for name in expected} == expected


def test_bases() -> None:
    assert {piece.symbol: piece.bases for piece in FOUND.chunks if piece.bases} == {
        "Shape": ("Base", "Generic[T]"),
        "Local": ("dict",),
    }


def test_imports() -> None:
    assert FOUND.imports == (
        ".pkg.mod",
        ".sibling",
        "__future__.annotations",
        "collections.OrderedDict",
        "collections.abc",
        "fast",
        "os.path",
    )


def cut_alike(text: bytes) -> FileChunks:
    """What `ast` finds, after holding it against what the others find; the lines may leave a text to them."""
    by_ast = python.outline_by_ast(text)
    assert by_ast is not None
    by_lines = python_scan.outline(text)
    assert by_lines is None or assembled(text, by_lines) == assembled(text, by_ast)
    by_tree = python_tree.outline(text)
    assert assembled(text, by_tree) == assembled(text, by_ast)
    return assembled(text, by_ast)


def assembled(text: bytes, found: Outline) -> FileChunks:
    made = assemble(text, "python", found, SETTINGS)
    hold(text, made, SETTINGS)
    return made


def test_the_readers_agree_on_the_sample() -> None:
    cut_alike(TEXT)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", BOM])
def test_line_ends_and_byte_order_marks_move_nothing(end: bytes, mark: bytes) -> None:
    """S-009."""
    found = cut_alike(mark + TEXT.replace(b"\n", end))
    assert outline(found) == outline(FOUND)


@pytest.mark.parametrize(
    "text",
    [
        b"def f(): pass",  # no final newline
        b"\x0cdef f():\n    pass\n\x0c\nclass A:\n    def m(self): pass\n\x0c# end\n",
        b"# coding: latin-1\ndef f(): return '\xc3\xa9'\n",
        b"#!/usr/bin/python\n# -*- coding: utf-16 -*-\ndef f(): pass\n",
        b"if x:\n    pass\n# at the margin\ndef f(): pass\n",
        b"x = '''\n# no comment'''\ndef f(): pass\n",
        b"def f(a=':', b={1: 2}[1]) -> dict[str, int]:  # : no\n    # first\n    return lambda: 0\n",
        b"def \\\n  f(\n  ): return 1; x = 2 ; # end\n",
        b"@a\n\n# between\n@b.c(lambda: 1)\n\nasync \\\n def f(): pass\n",
        b"class A: x = 1; y = 2\nclass B(A, *C, k=1, **kw): 'doc' 'string'\n",
        b"def f():\n    ('doc')\n    pass\n",
        b"def f():\n    b'no doc'\ndef g():\n    f'no doc'\ndef h():\n    u'''doc'''\n",
        b"def f():\n\tif 1:\n\t    def g(): pass\n\t    # tail of g? no\n\t# tail of f\n# nobody's\n",
        b"try: pass\nexcept* E:\n  def f(): pass\nelse:\n  def g(): pass\nfinally:\n  def h(): pass\n",
        b"import a.b as c, d; from . import e; from .. import (f, g as h,); from ...i.j import *\n",
        b"from __future__ import annotations, division\nimport x . y\n",
        b"print('a')\nwhile 1:\n  def f(): pass\nelse:\n  def g(): pass\n",
        "class Ä(Ö):\n    def 方法(self): return '漢字🎉'\n".encode(),
        b'x = "\\d"\ndef f(): return 1 is 1\n',  # would warn
        b"",
        b"\xef\xbb\xbfdef f(): pass\n",
        b"\xef\xbb\xbfimport a\nx = 1\n",
        b"\xef\xbb\xbfclass A(B): pass",
        b"# import a\n",
        b"# import a\nif x: import b; from c import d\nelse: import e as f  # import g\n",
        b"def f(): x = {1: 2}; import a; y = lambda: 0\n",
        b"from a import (b,  # c; import d\n    e)\nfrom .import g\nfrom h import*\n",
        b"class A(B[1, 2], f(3, k=4), k == l, m=5, *n, **o): pass\nclass P(Q,\n    R): pass\nclass S((T)): pass\n",
        b"def f(a={'x': \"}\"}):\n    '''doc''' % 1\ndef g():\n    'doc'; x = 1\ndef h():\n    'a' 'b'.c\n",
        b"def f():\n    'doc' \\\n    'more'\ndef g():\n    r'doc' f'none'\ndef h():\n    (\n'in brackets')\n",
        b"x = '#' '\"' \"'\" \"\"\"'''\"\" ''\"\"\" ''  # '\ndef f(x='\\'', y=\"\\\\\"): pass\n",
        b"x = [\ndef_, class_,\n]\nx = 1 + \\\n  2\nclass_ = 1\ndef f(): pass\n",
        b"if x:\n        def f():\n            pass\n        # of f's block\n    # not\ny = 1; z = 2;\ndef g(): pass;\n",
        b"x = 1  # a comment that ends in a backslash \\\ndef f(): pass\n",
        b"class A:\n\n    '''doc'''\n\n    x: int = 1\n\n    class B: 'doc'\n\n    async def f(self): await x\n",
    ],
)
def test_the_readers_agree_on_odd_files(text: bytes) -> None:
    cut_alike(text)


def test_comments_belong_to_the_definition_below_when_they_are_indented_alike() -> None:
    text = b"if x:\n    y = 1\n    # of the block\n# of f\n# too\ndef f(): pass\n\n# of nobody\n\ndef g(): pass\n"
    found = cut_alike(text)
    assert ranges(found) == {"f": (4, 6), "g": (10, 10)}


def test_decorators_are_in_the_range_but_not_the_line() -> None:
    """S-015."""
    text = b"@property\n@app.route('/')\n@pytest.fixture(scope='x')\ndef view(): pass\n\n@dataclass\nclass Data: pass\n"
    found = cut_alike(text)
    assert [(piece.symbol, piece.line, piece.start_line) for piece in found.chunks] == [
        ("view", 4, 1),
        ("Data", 7, 6),
    ]


@pytest.mark.parametrize(
    "text",
    [
        b"print 'python 2'\nexec 'x'\ndef f(a, (b, c)):\n    raise E, 'x'\n",
        b"x = 0777\nclass A:\n    def f(self): pass\n\0\n",
        b"def f(:\n    pass\ndef g(): pass\n",
        b"def f():\n    return '\xff\xfe'\n",
        b"x = " + b"[" * 5000 + b"]" * 5000 + b"\ndef f(): pass\n",
        b"x = " + b"-" * 100_000 + b"1\ndef f(): pass\n",
        b"".join(b" " * i + b"if x:\n" for i in range(150)) + b" " * 150 + b"pass\ndef f(): pass\n",
        b"x = " + b"9" * 5000 + b"\ndef f(): pass\n",
    ],
)
def test_what_ast_refuses_is_read_by_tree_sitter(text: bytes) -> None:
    """S-013: bad files are cut nevertheless, and their definitions found."""
    assert python.outline_by_ast(text) is None
    found = chunk("python", text, SETTINGS)
    hold(text, found, SETTINGS)
    assert "f" in {piece.symbol for piece in found.chunks}


def test_a_file_too_large_for_ast_is_cut_alike() -> None:
    text = TEXT * (300_000 // len(TEXT))
    found = chunk("python", text, SETTINGS)
    by_ast = python.outline_by_ast(text)
    assert by_ast is not None
    assert assemble(text, "python", by_ast, SETTINGS) == found


def test_a_dense_file_takes_little_memory() -> None:
    text = b"a\n" * 500_000
    tracemalloc.start()
    chunk("python", text, SETTINGS)
    assert tracemalloc.get_traced_memory()[1] < 200_000_000
    tracemalloc.stop()


def standard_library(step: int) -> list[Path]:
    files = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    return [file for file in files if "site-packages" not in file.parts][::step]


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_the_lines_tell_what_ast_finds_in_real_files(step: int) -> None:
    read = 0
    for file in standard_library(step):
        text = file.read_bytes()
        by_ast, by_lines = python.outline_by_ast(text), python_scan.outline(text)
        if by_ast is None or by_lines is None:
            continue
        assert sorted(by_lines.definitions, key=start) == sorted(by_ast.definitions, key=start), file
        assert by_lines.imports == by_ast.imports, file
        assert by_lines.lines is not None
        assert by_ast.lines is not None
        assert by_lines.lines.starts == by_ast.lines.starts, file
        read += 1
    assert read > 40


PIECES = """x = 1|'doc'|'''a\n  # b\ndef c(): pass\n'''|f'{x}'|x = (1,\n2)|import a|from b import c; y = 2|# comment||   # deeper
return {'a': [1]}|z = 1 if x else \\\n  2|pass;|x = 1  # tail|async_ = d|'a' 'b'|('doc')|x = '#'|defer = 1|classic: int|@"""
HEADS = """def f(a, b=':'):|class A:|class A(B, c=1):|async def g() -> 'x':|if x:|else:|try:|finally:|with a as b:|def f(
  a): # c|class B(C[1, 2],\n *d):|@e\ndef f():|@e(\n1)\n# c\nclass A:"""


@st.composite
def programs(draw: st.DrawFn, depth: int = 0) -> str:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 3 and draw(st.booleans()):
            head = draw(st.sampled_from(HEADS.split("|")))
            inner = draw(programs(depth=depth + 1))
            lines.append(head + ("\n" if draw(st.booleans()) else " ") + inner)
        else:
            lines.append(draw(st.sampled_from(PIECES.split("|"))))
    return "\n".join(" " * 4 * min(depth, 1) + line for text in lines for line in text.split("\n"))


@given(programs(), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=300)
def test_the_lines_tell_what_ast_finds_in_any_program(program: str, end: str) -> None:
    text = program.replace("\n", end).encode()
    by_ast, by_lines = python.outline_by_ast(text), python_scan.outline(text)
    if by_lines is not None:
        found = assembled(text, by_lines)
        assert by_ast is None or found == assembled(text, by_ast)


@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.slow)])
def test_the_readers_agree_on_real_files(step: int) -> None:
    """Invariant 9, wherever both can read a file: the grammar has a few errors of its own."""
    compared = 0
    for file in standard_library(step):
        text = file.read_bytes()
        by_ast = python.outline_by_ast(text)
        tree = parse(get_language("python"), text)
        if by_ast is None or isinstance(tree, str) or tree.root_node.has_error:
            continue
        by_tree = python_tree.outline(text)
        assert sorted(by_tree.definitions, key=start) == sorted(by_ast.definitions, key=start), file
        assert by_tree.imports == by_ast.imports, file
        compared += 1
    assert compared > 30


def start(definition: Definition) -> tuple[int, int]:
    return definition.start, -definition.end
