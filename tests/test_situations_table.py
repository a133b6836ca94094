"""Every situation of `fixtures/situations.toml` is held by tests, and each of them is one that the short suite runs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import Any

import pytest

from tests.trees import REPO

TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    (REPO / "fixtures" / "situations.toml").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """What the short suite would run of the files that are named: ids with their parameters, and without."""
    files = sorted({f"tests/{test.split('::')[0]}" for entry in TABLE.values() for test in entry["tests"]})
    words = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", *files]
    done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line}
    return names | {name.partition("[")[0] for name in names}


def not_held(table: dict[str, dict[str, Any]], collected: set[str]) -> list[str]:
    """The situations without a test, and the tests that nobody runs."""
    files = {name.partition("::")[0] for name in collected}
    wrong = [case for case, entry in table.items() if not entry["tests"]]
    for case, entry in table.items():
        for test in entry["tests"]:
            file, _, name = test.partition("::")
            if not (file in files if name == "*" else test in collected):
                wrong.append(f"{case}: {test}")
    return wrong


def test_all_of_them_are_in_the_table() -> None:
    assert list(TABLE) == [f"S-{number:03}" for number in range(1, 124, 2)]
    assert len(TABLE) == 62


def test_each_is_held_by_tests_that_are_run(collected: set[str]) -> None:
    assert not_held(TABLE, collected) == []


def test_a_test_that_is_not_run_is_missed(collected: set[str]) -> None:
    """The planted faults of the test above: one that has gone, one that is marked slow, and none at all."""
    for tests in (
        ["serve/test_crashes.py::test_gone"],
        ["serve/test_crashes.py::test_killed_a_hundred_times"],
        ["test_gone.py::*"],
        [],
    ):
        assert len(not_held({"S-001": {"tests": tests}}, collected)) == 1
