"""What a person and a program are shown: nothing from a file reaches the terminal as a command."""

from __future__ import annotations

import io
import json

import pytest

from indexer import answers
from indexer.cli import show
from indexer.cli.progress import Line
from indexer.types import Hit, Report


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


HIT = Hit("a/b.py", 3, 9, "run", "App", "method", "python", 1.5, "def run(self):\n\tpass\n")


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\x9b2J",
        "\x08\x08",
        "\r",
        "\u202e",
        "\u2066",
        "\u2028",
        "\u200b",
        "\udcff",
        "\x00",
    ],
)
def test_nothing_a_terminal_acts_on_gets_through(hostile: str) -> None:
    hit = Hit(
        f"a{hostile}b.py", 1, 2, f"f{hostile}", "", "function", "python", 1.0, f"def f{hostile}(): pass"
    )
    shown = "\n".join(show.hit_lines(hit, [], show.Painter(io.StringIO())))
    assert hostile not in shown
    assert shown.encode("utf-8")


def test_a_hit_reads_as_place_name_and_numbered_lines() -> None:
    lines = show.hit_lines(HIT, ["run"], show.Painter(io.StringIO()))
    assert lines == [
        "a/b.py:3 App.run (method, python) 1.50000",
        "     3  def run(self):",
        "     4      pass",
    ]


def test_words_are_marked_on_a_terminal_only() -> None:
    assert "\x1b[1mrun\x1b[0m(self)" in "\n".join(show.hit_lines(HIT, ["RUN"], show.Painter(Terminal())))


def test_long_texts_end_with_how_much_more_there_is() -> None:
    hit = Hit("a.py", 1, 20, "f", "", "function", "python", 1.0, "x\n" * 20, also=(("b.py", 4), ("c.py", 5)))
    lines = show.hit_lines(hit, [], show.Painter(io.StringIO()))
    assert lines[-2:] == ["        ... 14 more lines, to 20", "        also in b.py:4, c.py:5"]


def test_json_survives_names_that_are_no_text() -> None:
    value = answers.as_json({"path": "caf\udce9.py", "text": "→"})
    assert value.encode("utf-8")
    assert json.loads(value) == {"path": "caf\udce9.py", "text": "→"}


def test_json_hit_has_exactly_the_fields_of_the_contract() -> None:
    assert list(answers.hit_object(HIT)) == [
        "path", "start_line", "end_line", "symbol", "scope", "kind", "language", "score", "text",
    ]  # fmt: skip


def test_report_tells_what_changed() -> None:
    report = Report("/r", 4)
    report.files.scanned, report.files.modified, report.seconds = 1200, 2, 0.5
    assert show.report_text(report) == (
        "1,200 files (2 modified; 0 skipped), 0 chunks (0 new, 0 embedded) in 0.50 s, generation 4"
    )
    report.files.modified = 0
    assert "nothing changed" in show.report_text(report)


def test_progress_moves_on_a_terminal_and_is_wiped() -> None:
    stream = Terminal()
    line = Line(stream)
    line._every = 0.0
    line("index", 5, 10)
    line("index", 10, 10)
    line.close()
    drawn = stream.getvalue()
    assert "index: 5 of 10 files" in drawn
    assert "\n" not in drawn
    assert drawn.endswith(" \r")


def test_progress_in_a_pipe_is_plain_lines() -> None:
    stream = io.StringIO()
    line = Line(stream)
    line("index", 5, 10)
    assert stream.getvalue() == ""
    line._every = 0.0
    line("index", 6, 10)
    line.close()
    assert stream.getvalue().startswith("index: 6 of 10 files")
    assert stream.getvalue().endswith("/s\n")
    assert "\r" not in stream.getvalue()
