"""Which folder is the root, and which index is not trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from indexer.errors import RootError
from indexer.scan.root import check_index_dir, find_root

from .trees import commit, git, repository, write

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 65534


def test_the_top_of_the_work_tree(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a/b/c.py": ""})
    assert find_root(root / "a/b") == root
    assert find_root(root / "a/b/c.py") == root
    assert find_root(root / "a", named=True) == root / "a"
    git(root, "config", "user.email", "t@example.org")
    commit(root)
    git(root, "worktree", "add", "-q", str(tmp_path / "w"))
    assert find_root(tmp_path / "w/a/b") == tmp_path / "w"


def test_a_folder_without_git_is_its_own_root(tmp_path: Path) -> None:
    assert find_root(write(tmp_path / "p", {"a.py": ""})) == tmp_path / "p"


def test_the_innermost_index_answers(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"libs/inner/x/y.py": "", ".indexer/manifest.json": ""})
    inner = repository(root / "libs/inner")
    assert find_root(inner / "x") == root
    assert find_root(inner / "x", named=True) == root
    (inner / ".indexer").mkdir()
    assert find_root(inner / "x") == inner
    assert find_root(root / "libs") == root


def test_both_spellings_are_one_root_s117(tmp_path: Path) -> None:
    root = repository(tmp_path / "real", {"a/b.py": ""})
    (tmp_path / "link").symlink_to(root)
    assert find_root(tmp_path / "link/a") == root
    assert find_root(tmp_path / "link/../real") == root


def test_missing_and_looping_folders_are_told(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for start in ("missing", "loop", "x" * 300):
        with pytest.raises(RootError, match="cannot be opened"):
            find_root(tmp_path / start)


def test_the_file_system_and_home_are_refused(home: Path) -> None:
    for start in (home, "/"):
        with pytest.raises(RootError, match="--any-root"):
            find_root(start)
        with pytest.raises(RootError, match="--any-root"):
            find_root(start, named=True)
        assert str(find_root(start, any_root=True)) == str(start)


def test_a_home_under_git_does_not_swallow_its_projects(home: Path) -> None:
    repository(home, {"project/src/a.py": "", ".indexer/manifest.json": ""})
    assert find_root(home / "project") == home / "project"
    assert find_root(home / "project", any_root=True) == home


def test_an_index_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    index = root / ".indexer"
    check_index_dir(root, index)
    index.symlink_to(tmp_path)
    with pytest.raises(RootError, match="symbolic link"):
        check_index_dir(root, index)
    assert find_root(root) == root
    index.unlink()
    index.write_text("")
    with pytest.raises(RootError, match="not a folder"):
        check_index_dir(root, index)
    index.unlink()
    index.mkdir()
    check_index_dir(root, index)


def test_an_index_that_came_with_the_repository_is_refused(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {".indexer/manifest.json": "{}", "a.py": "", "sub/.indexer/x": ""})
    check_index_dir(root, root / ".indexer")
    commit(root)
    for folder in (root, root / "sub"):
        with pytest.raises(RootError, match="came with the repository"):
            check_index_dir(folder, folder / ".indexer")
    check_index_dir(root, tmp_path / "elsewhere")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a folder away")
def test_another_users_index_is_refused_and_passed_by(tmp_path: Path) -> None:
    above = write(tmp_path / "shared", {".indexer/manifest.json": "{}", "mine/a.py": ""})
    os.chown(above / ".indexer", NOBODY, NOBODY)
    assert find_root(above / "mine") == above / "mine"
    with pytest.raises(RootError, match="another user"):
        check_index_dir(above, above / ".indexer")
