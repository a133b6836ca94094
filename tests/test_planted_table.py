"""Every suite of `fixtures/planted.toml` has a planted fault that turns it red, and all tests named there are run."""

from __future__ import annotations

import pytest

from tests.tables import collected, table

SUITES = table("planted.toml")


def test_each_suite_has_a_planted_fault() -> None:
    assert [name for name, suite in SUITES.items() if not suite["faults"] or not suite["short"]] == []


@pytest.mark.parametrize("length", ["short", "long"])
def test_the_tests_are_there(length: str) -> None:
    named = {test for suite in SUITES.values() for test in suite.get(length, [])}
    if length == "short":
        named |= {test for suite in SUITES.values() for test in suite["faults"].values()}
    assert named
    assert named - collected(named, "slow" if length == "long" else "not slow and not network") == set()
