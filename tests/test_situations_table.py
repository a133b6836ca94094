"""Every situation of `fixtures/situations.toml` is held by tests, and each of them is one that the short suite runs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables import collected, table

TABLE = table("situations.toml")


@pytest.fixture(scope="module")
def there() -> set[str]:
    """What the short suite would run of the files that are named."""
    return collected(test for entry in TABLE.values() for test in entry["tests"])


def not_held(table: dict[str, dict[str, Any]], there: set[str]) -> list[str]:
    """The situations without a test, and the tests that nobody runs."""
    wrong = [case for case, entry in table.items() if not entry["tests"]]
    return wrong + [
        f"{case}: {test}" for case, entry in table.items() for test in entry["tests"] if test not in there
    ]


def test_all_of_them_are_in_the_table() -> None:
    assert list(TABLE) == [f"S-{number:03}" for number in range(1, 124, 2)]
    assert len(TABLE) == 62


def test_each_is_held_by_tests_that_are_run(there: set[str]) -> None:
    assert not_held(TABLE, there) == []


def test_a_test_that_is_not_run_is_missed(there: set[str]) -> None:
    """The planted faults of the test above: one that has gone, one that is marked slow, and none at all."""
    for tests in (
        ["serve/test_crashes.py::test_gone"],
        ["serve/test_crashes.py::test_killed_five_hundred_times"],
        ["test_gone.py::*"],
        [],
    ):
        assert len(not_held({"S-001": {"tests": tests}}, there)) == 1
