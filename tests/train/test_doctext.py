"""Doc comments of every language as the plain text they hold."""

from __future__ import annotations

import pytest

from indexer.train.doctext import first_paragraph, first_sentence, plain

COMMENTS = [
    (
        "javascript",
        "/**\n * Adds two numbers. Fast.\n *\n * @param {number} a the first\n */",
        "Adds two numbers. Fast.",
    ),
    (
        "javascript",
        "/**\n * @description Adds {@link Number numbers}.\n * @returns {number}\n */",
        "Adds numbers.",
    ),
    (
        "java",
        "/**\n   * Adds <code>a</code> &amp; b.<p>More {@code text}.\n   * @since 1\n   */",
        "Adds a & b.\n\nMore text.",
    ),
    (
        "csharp",
        '/// <summary>\n/// Adds to <see cref="T:System.Int32"/>.\n/// </summary>\n/// <param name="a">x</param>',
        "Adds to Int32.",
    ),
    (
        "rust",
        "/// Adds [`Number`]s.\n///\n/// # Examples\n/// ```\n/// add(1, 2);\n/// ```",
        "Adds `Number`s.",
    ),
    ("rust", "//! About the module.", "About the module."),
    ("go", "// Add adds two numbers.\n//\n// It is fast.", "Add adds two numbers.\n\nIt is fast."),
    ("ruby", "# Adds two numbers.\n#\n# @param a [Integer]\n# @return [Integer]", "Adds two numbers."),
    ("php", "/**\n * Adds two numbers.\n *\n * @param int $a\n */", "Adds two numbers."),
    ("c", "/*\n * ------------\n * Adds two numbers.\n * ------------\n */", "Adds two numbers."),
    ("cpp", "/*! \\brief Adds two numbers.\n *  \\param a the first\n */", "Adds two numbers."),
    ("cpp", "///< The first number.", "The first number."),
    ("c", "/* one line */", "one line"),
]


@pytest.mark.parametrize(("language", "comment", "text"), COMMENTS)
def test_markers_tags_and_markup_are_taken_off(language: str, comment: str, text: str) -> None:
    assert plain(language, comment) == text


def test_a_docstring_is_left_as_it_is_but_for_fenced_code() -> None:
    assert plain("python", "Add it.\n\n    @x\n```\ncode\n```\nEnd.") == "Add it.\n\n@x\nEnd."


def test_the_first_sentence_ends_with_a_full_stop_and_white_space() -> None:
    assert first_sentence("Reads a.b and\nc.d. Then stops.\n\nMore.") == "Reads a.b and c.d."
    assert first_sentence("No stop\nat all\n\nMore.") == "No stop at all"
    assert first_sentence("读取文件。然后关闭。") == "读取文件。"


def test_the_first_paragraph_is_one_line() -> None:
    assert first_paragraph("One\n  two.\n \t\nThree.") == "One two."
