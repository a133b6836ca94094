"""Imports point one way: the table of DESIGN, held for every module of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "indexer"

LAYERS = [
    {
        "types",
        "errors",
        "settings",
        "config",
        "tokens",
        "keys",
        "columns",
        "ragged",
        "processes",
        "versions",
        "lazily",
        "files",
        "merging",
        "plainly",
    },
    {"scan", "chunk", "embed"},
    {"store", "workspace"},
    {"reindex", "search"},
    {"oneshot", "status", "watch", "train"},
    {"answers", "check"},
    {"serve"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
# Rooms of one layer know nothing of each other, but for the ground floor, which is one vocabulary.
OPEN_LAYERS = {0}


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def imports_of(path: Path) -> list[tuple[int, str]]:
    """Every `indexer.*` module that a file imports, wherever in the file it does."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative imports hide the arrow"
            base = node.module or ""
            names = [f"{base}.{alias.name}" for alias in node.names] if base == "indexer" else [base]
            found += [(node.lineno, name) for name in names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.startswith("indexer.")]


def wrong_arrows(path: Path, here: str) -> list[str]:
    wrong = []
    for line, name in imports_of(path):
        there = room_of(name)
        if there in {here, "__version__"}:
            continue
        down = LEVEL[there] < LEVEL[here] or (LEVEL[there] == LEVEL[here] and LEVEL[here] in OPEN_LAYERS)
        if not down:
            wrong.append(f"{path}:{line}: {here} must not import {there}")
    return wrong


MODULES = sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    here = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if here == "__main__":
        return
    assert here in LEVEL, f"{here}: give the new room a layer in this table"
    assert wrong_arrows(path, here) == []


def test_an_upward_arrow_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "walk.py"
    file.write_text("def f():\n    from indexer.store import commit\n", encoding="utf-8")
    assert wrong_arrows(file, "scan") == [f"{file}:2: scan must not import store"]
    file.write_text("from indexer.chunk import spans\n", encoding="utf-8")
    assert wrong_arrows(file, "scan") == [f"{file}:1: scan must not import chunk"]


def test_only_the_command_line_prints() -> None:
    for path in MODULES:
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if path.parent.name not in {"cli", "train"}:  # `python -m indexer.train` is a program of its own
            assert not calls & {"print", "input"}, path
