"""Definitions without their documentation, in each language."""

from __future__ import annotations

import pytest

from indexer.train.documented import Documented, definitions, is_test

SOURCES = {
    "python": 'class A:\n    def add(self, a, b):\n        """Add them.\n\n        Fast.\n        """\n        c = a + b\n        return c\n',
    "javascript": "/**\n * Add them.\n */\nexport function add(a, b) {\n  const c = a + b;\n  return c;\n}\n",
    "typescript": "/** Add them. */\nexport function add(a: number, b: number): number {\n  const c = a + b;\n  return c;\n}\n",
    "go": "package a\n\n// Add them.\nfunc add(a, b int) int {\n\tc := a + b\n\treturn c\n}\n",
    "java": "class A {\n  /**\n   * Add them.\n   */\n  @Fast\n  int add(int a, int b) {\n    int c = a + b;\n    return c;\n  }\n}\n",
    "rust": "/// Add them.\n#[inline]\npub fn add(a: i32, b: i32) -> i32 {\n    let c = a + b;\n    c\n}\n",
    "c": "/* Add them. */\nint add(int a, int b)\n{\n    int c = a + b;\n    return c;\n}\n",
    "cpp": "class A {\n  // Add them.\n  int add(int a, int b) {\n    int c = a + b;\n    return c;\n  }\n};\n",
    "csharp": "class A {\n  /// <summary>Add them.</summary>\n  int add(int a, int b) {\n    var c = a + b;\n    return c;\n  }\n}\n",
    "ruby": "class A\n  # Add them.\n  def add(a, b)\n    c = a + b\n    c\n  end\nend\n",
    "php": "<?php\nclass A {\n  /**\n   * Add them.\n   */\n  function add($a, $b) {\n    $c = $a + $b;\n    return $c;\n  }\n}\n",
}


def only(language: str, text: str, symbol: str) -> Documented:
    [found] = [one for one in definitions(language, text.encode()) if one.symbol == symbol]
    return found


@pytest.mark.parametrize("language", SOURCES)
def test_the_documentation_is_told_apart_from_the_code(language: str) -> None:
    one = only(language, SOURCES[language], "add")
    assert one.doc.startswith("Add them.")
    assert "them" not in one.code
    assert one.formal
    assert one.body == 2
    assert "add" in one.signature
    assert "add" not in one.inner
    assert one.code == one.code.lstrip()


def test_a_remark_above_a_function_is_no_documentation_where_the_language_has_another_form() -> None:
    assert not only("javascript", "// add\nfunction add(a) {\n  return a;\n}\n", "add").formal


def test_a_nested_function_is_part_of_its_parent_and_a_definition_of_its_own() -> None:
    text = "function outer(a) {\n  function inner(b) {\n    return b;\n  }\n  return inner;\n}\n"
    assert "function inner" in only("javascript", text, "outer").code
    assert only("javascript", text, "inner").start_line == 2


def test_what_cannot_be_parsed_has_no_definitions() -> None:
    assert list(definitions("python", b"def f(:\n")) == []


def test_tests_inside_of_the_product_are_known() -> None:
    text = "mod tests {\n    fn adds() {\n        assert!(true);\n    }\n}\n"
    assert is_test(only("rust", text, "adds"))
