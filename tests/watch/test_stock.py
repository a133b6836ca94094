"""The stock observer behind the same door, as on platforms without inotify."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scan.trees import repository
from tests.watch.observing import PATIENCE, Eye

Watching = Callable[..., Eye]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Elsewhere")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "root", {"f.py": "x = 1\n", "out/m.py": "", ".gitignore": "out/\n"})


def test_hints(root: Path, watching: Watching) -> None:
    eye = watching(root, settle_ms=200)
    assert eye.watch.state().mode == "stock"
    (root / "f.py").write_text("2")
    (root / "out/m.py").write_text("2")
    (root / "new").mkdir()
    batch = eye.wait()
    assert "f.py" in batch.paths
    assert "new" in batch.trees
    assert "out/m.py" not in batch.paths
    assert not batch.rescan
    (root / ".gitignore").write_text("")
    assert eye.wait().rules_changed


def test_certainty_is_a_scan(root: Path, watching: Watching) -> None:
    eye = watching(root)
    (root / "f.py").write_text("2")
    assert "stock observer" in eye.sync().rescans[0]


def test_the_root_gone_and_back(root: Path, watching: Watching) -> None:
    eye = watching(root, poll_seconds=0.1)
    shutil.rmtree(root)
    assert eye.sync().gone
    repository(root, {"f.py": "1"})
    eye.sync()
    while eye.watch.state().mode != "stock" or eye.watch.state().root_gone:
        eye.wait()
    eye.sync()
    (root / "f.py").write_text("2")
    assert eye.sync().covers("f.py")


def test_a_dead_observer(root: Path, watching: Watching) -> None:
    eye = watching(root, poll_seconds=0.1)
    observer = eye.watch._source._observer  # type: ignore[attr-defined]
    observer.stop()
    observer.join(PATIENCE)
    assert "observing thread ended" in eye.sync().rescans[0]
    assert eye.watch.state().mode == "stock"
    (root / "f.py").write_text("2")
    assert eye.sync().rescans
