"""Watches that are closed again, on a git that knows nothing of whose machine it runs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.watch.observing import Eye


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder: no global excludes, no settings of git but what a test writes there."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    return home


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
