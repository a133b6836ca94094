"""A home for the daemons of a test, and trees to serve."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.answering import Daemon, lay_three, running
from tests.serve.checking import Checking, lay
from tests.serve.homes import Home, home_of_daemons, small_tree


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with home_of_daemons(monkeypatch) as made:
        yield made


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return small_tree(tmp_path / "tree")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files that no test changes."""
    return lay_three(tmp_path_factory.mktemp("tree") / "root")


@pytest.fixture
def daemon(root: Path) -> Iterator[Daemon]:
    with running(root) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon over a tree that no test changes."""
    with running(lay(tmp_path_factory.mktemp("tree") / "root")) as daemon:
        yield daemon


@pytest.fixture
def client(shared: Daemon) -> Checking:
    return Checking(shared.connect(headers=True))
