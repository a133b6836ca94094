"""What every test stands on: one thread of linear algebra, so that parser processes may be forked."""

import os
from pathlib import Path

import pytest

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is loaded by any test


@pytest.fixture
def empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with no global excludes and no settings of git; the machine's own do not count either."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    return home
