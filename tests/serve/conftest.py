"""A home for the daemons of a test, and a tree to serve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.homes import Home, home_of_daemons, small_tree


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with home_of_daemons(monkeypatch) as made:
        yield made


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return small_tree(tmp_path / "tree")
