"""A repository that means harm, met through the commands and a daemon as its user would: nothing of it runs or gets out."""

from __future__ import annotations

import os
import stat
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scan.test_git_safety import trap
from tests.serve.homes import INDEXER, Home, home_of_daemons, small_tree, sync
from tests.trees import commit, git

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b2J\u202e\u2066"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with home_of_daemons(monkeypatch) as made:
        yield made


def acted_on(text: str) -> list[str]:
    """What a terminal would act on, line ends and tabs aside."""
    return [c for c in text if c not in "\n\t" and unicodedata.category(c) in {"Cc", "Cf", "Cs"}]


@pytest.mark.parametrize("served", [False, True])
def test_no_escape_reaches_the_terminal(home: Home, tmp_path: Path, served: bool) -> None:
    """From names, contents, settings or damage, in answers and in errors."""
    root = small_tree(tmp_path / "tree")
    (root / f"n{ESCAPES}.py").write_text(f"def named_x():\n    '''{ESCAPES}'''\n    return '{ESCAPES}'\n")
    (root / f"b{ESCAPES}.bin").write_bytes(b"\0\1")
    if served:
        home.start(root)
        sync(home, root)
    for words in (
        ["search", "named_x"], ["search", "return", "--literal"], ["search", ESCAPES], ["symbols", "named_x"],
        ["related", f"n{ESCAPES}.py:1"], ["related", f"{ESCAPES}:1"], ["status", "--all"], ["reindex"],
        ["search", "x", "--path", f"../{ESCAPES}"], ["daemon", "status"],
    ):  # fmt: skip
        done = home.run(*words, cwd=root)
        assert acted_on(done.stdout + done.stderr) == [], words
    assert "named_x" in home.run("search", "named_x", cwd=root).stdout
    (root / ".indexer.toml").write_text(f'"{ESCAPES[4:11]}" = 1\n')
    done = home.run("config", cwd=root)
    assert done.returncode == 1
    assert acted_on(done.stdout + done.stderr) == []


def test_what_an_included_configuration_names_does_not_run(home: Home, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    root = small_tree(tmp_path / "tree")
    git(root, "init", "-q")
    commit(root)
    program = trap(tmp_path / "trap", marker)
    keys = f'[core]\n fsmonitor = "{program}"\n pager = "{program}"\n hooksPath = "{tmp_path}/hooks"\n'
    (tmp_path / "included").write_text(keys)
    git(root, "config", "include.path", f"{tmp_path}/included")
    (tmp_path / "hooks").mkdir()
    trap(tmp_path / "hooks" / "post-index-change", marker)
    subprocess.run(["git", "status"], cwd=root, check=False, capture_output=True)
    assert marker.exists(), "the trap works when git is called carelessly"
    marker.unlink()
    assert home.run("search", "Store", cwd=root).returncode == 0
    home.start(root)
    (root / ".gitignore").write_text("*.log\n")
    sync(home, root)
    assert not marker.exists()


def test_nobody_else_may_read_what_is_written(home: Home, tmp_path: Path) -> None:
    """With a mask that takes nothing away: the index, the socket, the log, the announcement."""
    root = small_tree(tmp_path / "tree")
    before = os.umask(0)
    try:
        subprocess.run(
            [*INDEXER, "reindex", str(root)], env=home.environment, check=True, capture_output=True
        )
        home.start(root)
        (root / "pkg" / "store.py").write_text("def written_later(): pass\n")
        sync(home, root)
    finally:
        os.umask(before)
    tops = [root / ".indexer", home.runtime / "indexer"]
    written = [*tops, *(path for top in tops for path in top.rglob("*"))]
    assert len(written) > 6
    assert [str(path) for path in written if stat.S_IMODE(path.lstat().st_mode) & 0o077] == []
