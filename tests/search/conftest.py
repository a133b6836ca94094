from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)
