"""SQL by its own scanner; see `indexer.chunk.sql`."""

import time

import pytest

from tests.chunk.outlines import cut, cut_text, docstrings, outline, ranges


def test_definitions_of_shop_sql() -> None:
    assert outline(cut("sql", "shop.sql")) == [
        ("table", "shop", "customer", 5),
        ("table", "", "order", 11),
        ("table", "", "scratch", 15),
        ("property", "", "customer_name", 17),
        ("table", "shop", "recent", 19),
        ("table", "", "totals", 22),
        ("function", "shop", "add", 25),
        ("function", "", "twice", 35),
        ("function", "", "archive", 37),
        ("function", "", "customer_changed", 43),
        ("type", "", "mood", 47),
        ("type", "", "pair", 49),
        ("type", "", "positive", 51),
        ("constant", "", "order_ids", 53),
        ("namespace", "", "archive", 55),
        ("namespace", "", "shop", 57),
        ("function", "", "total", 63),
        ("function", "", "===", 65),
    ]


def test_what_stands_above_belongs_to_the_definition_in_shop_sql() -> None:
    found = ranges(cut("sql", "shop.sql"))
    above = {
        "shop.customer": 4,
        "order": 10,
        "shop.add": 24,
    }
    assert {name: found[name][0] for name in above} == above


def names(text: bytes) -> list[tuple[str, int, tuple[int, int]]]:
    """Symbol, line and range of each definition."""
    found = cut_text("sql", text)
    spans = ranges(found)
    return [
        (symbol, line, spans[f"{scope}.{symbol}" if scope else symbol])
        for _, scope, symbol, line in outline(found)
    ]


def test_semicolons_in_a_block_do_not_end_a_routine() -> None:
    text = (
        b"CREATE PROCEDURE one()\nBEGIN\n  IF x THEN SELECT 1; END IF;\n  BEGIN SELECT 2; END;\nEND;\n"
        b"CREATE TABLE two (a int);\n"
    )
    assert names(text) == [("one", 1, (1, 5)), ("two", 6, (6, 6))]


def test_another_delimiter_ends_statements() -> None:
    text = (
        b"DELIMITER //\nCREATE TRIGGER one BEFORE INSERT ON t FOR EACH ROW\nBEGIN\n  SET @a = 1;\nEND//\n"
        b"DELIMITER ;\nCREATE TABLE `two` (a int); # last\n"
    )
    assert names(text) == [("one", 2, (2, 5)), ("two", 7, (7, 7))]


def test_oracle_routines_end_with_their_block_or_a_slash() -> None:
    text = (
        b"CREATE OR REPLACE PROCEDURE hr.one IS\n  n NUMBER;\nBEGIN\n  n := 1;\nEND one;\n/\n"
        b"CREATE PACKAGE BODY two AS\n  PROCEDURE a IS BEGIN NULL; END;\n  x INT;\nEND two;\n/\nCREATE TYPE three AS OBJECT (a INT);\n"
    )
    assert names(text) == [("one", 1, (1, 5)), ("two", 7, (7, 10)), ("three", 12, (12, 12))]


def test_batches_end_statements_of_sql_server() -> None:
    text = b"CREATE PROC [dbo].[one] AS\nSELECT 1;\nSELECT 2;\nGO\nCREATE VIEW two AS SELECT 1\nGO\n"
    assert names(text) == [("one", 1, (1, 3)), ("two", 5, (5, 5))]


def test_what_is_in_strings_comments_and_bodies_is_no_definition() -> None:
    text = (
        b"/* CREATE TABLE a (x int); */\n-- CREATE TABLE b (x int);\n"
        b"INSERT INTO t VALUES ('it''s', E'\\'; CREATE TABLE c (x int);');\n"
        b"DO $x$ BEGIN CREATE TABLE d (x int); END $x$;\n"
        b"COPY t FROM stdin;\n1\tCREATE TABLE e (x int);\n\\.\nCREATE TABLE f (x int);\n"
    )
    assert names(text) == [("f", 8, (8, 8))]


def test_a_stray_apostrophe_costs_one_statement_at_most() -> None:
    text = b"PROMPT it's here\nSELECT don't;\nCREATE TABLE a (x int);\n\nCREATE TABLE b (x int);\n"
    assert [name for name, _, _ in names(text)] == ["a", "b"]


def test_comments_with_a_blank_line_between_stay_outside() -> None:
    text = b"-- far\n\n-- near\n-- nearer\nCREATE TABLE a (x int); -- behind\n"
    found = cut_text("sql", text)
    assert ranges(found) == {"a": (3, 5)}
    assert docstrings(found, text) == {"a": "-- near\n-- nearer"}


@pytest.mark.parametrize(
    "unit",
    [
        b"'",
        b"$a$",
        b"$$",
        b"/*",
        b"CREATE TEMP ",
        b"CREATE TABLE a\n",
        b"--\n",
        b"/**/",
        b"(",
        b"AS /**/",
        b'"',
    ],
)
def test_the_time_is_linear_in_the_text(unit: bytes) -> None:
    started = time.process_time()
    cut_text("sql", b"CREATE FUNCTION f() " + unit * (300_000 // len(unit)))
    assert time.process_time() - started < 5
