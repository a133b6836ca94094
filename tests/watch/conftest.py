"""Watches that are closed again, on a git that knows nothing of whose machine it runs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.watch.observing import Eye


@pytest.fixture(autouse=True)
def home(empty_home: Path) -> Path:
    """The home folder of every test here."""
    return empty_home


@pytest.fixture
def watching() -> Iterator[Callable[..., Eye]]:
    """Watch a root, with settings of one's own, until the test ends."""
    eyes: list[Eye] = []

    def open_eye(root: Path, **settings: float) -> Eye:
        eyes.append(Eye(root, **settings))
        return eyes[-1]

    yield open_eye
    for eye in eyes:
        eye.close()
