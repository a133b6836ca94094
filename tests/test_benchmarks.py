"""The benchmark command's own parts: its table, which the README shows, and its floors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks import floors, measure, table
from tests.benchmarks.__main__ import FIGURES, ROWS
from tests.benchmarks.figures import Measured, Row, reached
from tests.benchmarks.floors import walk
from tests.benchmarks.ground import Build
from tests.benchmarks.results import Results
from tests.serve.homes import INDEXER
from tests.trees import REPO, SAMPLES, git

README = (REPO / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_a_row_for_each_figure() -> None:
    shown = README.partition("<!-- figures -->")[2].partition("<!-- /figures -->")[0].strip().split("\n")
    assert shown[:2] == table.HEAD.split("\n")
    assert [line.split(" | ")[0] for line in shown[2:]] == [f"| {row.what}" for row in ROWS]
    assert {line.count("|") for line in shown} == {8}


def test_each_row_has_a_key_and_a_name_of_its_own() -> None:
    assert len({row.key for row in ROWS}) == len({row.what for row in ROWS}) == len(ROWS)
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)


@pytest.mark.parametrize(
    ("row", "measured", "verdict"),
    [
        (Row("a", "A", "s", 10), Measured("a", 10.0), True),
        (Row("a", "A", "s", 10), Measured("a", 10.1), False),
        (Row("a", "A", "s"), Measured("a", 10.1), None),
        (Row("a", "A", "s", None, 2.0), Measured("a", 4.0, peers={"git": 2.0, "other": 1.0}), True),
        (Row("a", "A", "s", None, 2.0), Measured("a", 4.1, peers={"git": 2.0}), False),
        (Row("a", "A", "s", None, 2.0), Measured("a", 4.1), None),
        (Row("a", "A", "s", 4, 2.0), Measured("a", 4.1, peers={"git": 3.0}), False),
    ],
)
def test_a_row_is_reached_by_its_bound_and_its_first_peer(
    row: Row, measured: Measured, verdict: bool | None
) -> None:
    assert reached(row, measured) is verdict


def test_a_line_has_the_ratios_to_floor_and_peers() -> None:
    row, measured = Row("a", "`a` thing", "ms", 15), Measured("a", 12.345, 4.1, {"git": 24.69, "rg": 1000.0})
    line = table.markdown([row, Row("b", "B", "s")], {"a": measured}).split("\n")[-1]
    assert line == "| `a` thing | 12.3 ms | 4.1 | 3.0 | git 24.7 (0.50), rg 1000 (0.01) | <= 15 | reached |"


def test_a_later_run_adds_to_what_was_measured_before(tmp_path: Path) -> None:
    build = Build("django", 1, 2, 3, 4, 5.0, 6.0, 7.0)
    first = Results(tmp_path / "figures.json")
    first.add(
        "yesterday", [Measured("a", 1.0), Measured("b", 2.0, 1.0, {"git": 3.0}, "told", (1.0, 3.0))], [build]
    )
    second = Results(tmp_path / "figures.json")
    assert (second.figures, second.builds) == (first.figures, first.builds)
    second.add("today", [Measured("a", 9.0)], [])
    kept = json.loads((tmp_path / "figures.json").read_text())
    assert kept["when"] == {"a": "today", "b": "yesterday"}
    assert [one["ours"] for one in kept["figures"]] == [9.0, 2.0]


def test_every_floor_does_its_work(tmp_path: Path) -> None:
    source = tmp_path / "one.c"
    source.write_text("int f(int a) { return a; }\n")
    assert len(floors.printed("save", source, "3")) == 3
    assert len(floors.printed("echo", "2")) == 2
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "one.c")
    subprocess.run([*INDEXER, "reindex", "--quiet"], cwd=tmp_path, check=True)
    assert len(floors.printed("question", tmp_path, "3")) == 3
    assert floors.printed("answer", tmp_path)[0] > 1
    assert floors.printed("cold", tmp_path, "100000") == [6]  # words
    listed = subprocess.run([sys.executable, "-I", walk.__file__, SAMPLES], capture_output=True, check=True)
    assert int(listed.stdout) == sum(path.is_file() for path in SAMPLES.rglob("*"))


def test_a_process_and_its_children_are_measured_together(tmp_path: Path) -> None:
    """Half of what is held, and of what is computed, is the child's."""
    work = "x = bytearray(40_000_000)\nfor _ in range(3_000_000): pass\n"
    child = f"import time\n{work}time.sleep(0.3)\n"
    code = f"import subprocess, sys\n{work}subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    found = measure.once([sys.executable, "-c", code], tmp_path, memory=True)
    assert found.memory > 80
    assert found.wall > 0.3
    assert found.cpu > 0


def test_a_command_that_fails_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="gone wrong"):
        measure.once([sys.executable, "-c", "import sys; sys.exit('gone wrong')"], tmp_path)
