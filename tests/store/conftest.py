"""Roots for the store's tests, in memory where there is such a place: they are made by the hundred."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY = Path("/dev/shm")


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A directory that does not exist yet."""
    top = Path(tempfile.mkdtemp(prefix="store-", dir=MEMORY if os.access(MEMORY, os.W_OK) else tmp_path))
    yield top / "scratch"
    shutil.rmtree(top)


@pytest.fixture
def root(scratch: Path) -> Path:
    path = scratch.parent / "root"
    path.mkdir()
    return path
