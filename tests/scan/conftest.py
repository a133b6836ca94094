"""Trees to scan, and a git that knows nothing of whose machine it runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(empty_home: Path) -> Path:
    """The home folder of every test here."""
    return empty_home
