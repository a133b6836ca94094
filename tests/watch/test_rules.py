"""What changes the rules is told, and the new rules are gone by: ignore files, git's own files, settings."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.scan.ignore import Rules
from indexer.settings import ScanSettings, WatchSettings
from indexer.watch import Batch, Watch
from tests.scan.trees import commit, git, repository, write
from tests.watch.observing import Eye

Watching = Callable[..., Eye]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(
        tmp_path / "root", {"f.py": "x = 1\n", "pkg/m.py": "y = 2\n", ".gitignore": "out/\n*.log\n"}
    )


def test_what_changes_the_rules(root: Path, home: Path, watching: Watching) -> None:
    commit(root)
    eye = watching(root)
    changes: list[Callable[[], object]] = [
        lambda: (root / ".gitignore").write_text("out/\n"),
        lambda: (root / "pkg/.gitignore").write_text("*.txt\n"),
        lambda: (root / "pkg/.indexerignore").write_text("*.md\n"),
        (root / "pkg/.indexerignore").unlink,
        lambda: (root / ".indexer.toml").write_text("[scan]\nexclude = ['x']\n"),
        lambda: git(root, "add", ".indexer.toml"),
        lambda: git(root, "checkout", "-q", "-b", "other"),
        lambda: (root / ".git/info/exclude").write_text("*.tmp\n"),
        lambda: (root / ".git/config").write_text((root / ".git/config").read_text() + "\n"),
        lambda: write(home, {".config/git/ignore": "*.bak\n"}),
        lambda: write(home, {".config/git/ignore": "*.bak2\n"}),
        lambda: git(root, "config", "core.excludesFile", str(home / "mine")),
        lambda: (home / "mine").write_text("*.other\n"),
        lambda: git(root, "init", "-q", "pkg/nested"),
        lambda: (root / "pkg/nested/.git/info/exclude").write_text("n\n"),
        lambda: shutil.rmtree(root / "pkg/nested/.git"),
        lambda: shutil.rmtree(root / ".git"),
        lambda: git(root, "init", "-q"),
        lambda: (root / ".git/info/exclude").write_text("*.tmp2\n"),
    ]
    silent = []
    for number, change in enumerate(changes):
        eye.sync()
        change()
        if not eye.sync().rules_changed:
            silent.append(number)
        assert eye.wrong_watches() == [], number
    assert silent == []


@pytest.mark.parametrize("place", [".", "pkg", "pkg/new"])
def test_a_repository_in_the_making(tmp_path: Path, watching: Watching, place: str) -> None:
    """As `git init` makes it, slowly, with the rules loaded at every step."""
    root = write(tmp_path / "root", {"pkg/x.py": "", "x.py": "", "pkg/new/.keep": ""})
    made = repository(tmp_path / "made") / ".git"
    eye = watching(root)
    (root / place / ".git").mkdir()
    assert eye.sync().rules_changed
    for name in ("config", "info", "objects", "refs", "HEAD"):
        (made / name).rename(root / place / ".git" / name)
        last = eye.sync()
    assert last.rules_changed
    assert not eye.sync().rules_changed
    (root / place / "y.py").write_text("")
    git(root / place, "add", "y.py")
    seen = eye.sync()
    assert seen.rules_changed or ".git" in seen.paths, "git's index is watched"
    eye.sync()
    (root / place / ".git/info/exclude").write_text("*.py\n")
    assert eye.sync().rules_changed


def test_a_git_folder_that_is_no_repository(root: Path, watching: Watching) -> None:
    write(root, {"pkg/.git/stray": ""})
    eye = watching(root)
    for _ in range(3):
        assert not eye.sync().rules_changed
    assert eye.watch.next_batch(0.2) is None


def test_a_linked_excludes_file(root: Path, home: Path, tmp_path: Path, watching: Watching) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles/ignore"
    real.write_text("*.a\n")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").symlink_to(real)
    eye = watching(root)
    real.write_text("*.b\n")
    assert eye.sync().rules_changed
    assert not eye.sync().rules_changed


def test_a_further_work_tree_and_a_submodule(root: Path, tmp_path: Path, watching: Watching) -> None:
    """Their index lies elsewhere."""
    commit(root)
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    eye = watching(tmp_path / "tree")
    (tmp_path / "tree/new.py").write_text("")
    eye.sync()
    git(tmp_path / "tree", "add", "new.py")
    assert eye.sync().rules_changed
    other = watching(root)
    git(root, "submodule", "add", "-q", str(root), "sub")
    other.sync()
    (root / "sub/new.py").write_text("")
    assert other.sync().paths == {"sub/new.py"}
    git(root / "sub", "add", "new.py")
    assert other.sync().rules_changed


def test_git_may_write_its_index_as_it_likes(root: Path, watching: Watching) -> None:
    """Only other tracked paths are other rules; that it was written is told all the same, for whose rules differ."""
    commit(root)
    eye = watching(root)
    eye.sync()
    (root / "f.py").write_text("x = 2\n")
    eye.sync()
    for words in (["add", "f.py"], ["commit", "-q", "-m", "two"], ["update-index", "--force-write-index"]):
        git(root, *words)
        seen = eye.sync()
        assert (seen.rules_changed, seen.paths) == (0, {".git"}), words
    os.utime(root / "f.py", (1, 1))
    eye.sync()
    git(root, "status")
    assert eye.sync().paths == {".git"}
    for words in (["rm", "-q", "--cached", "f.py"], ["checkout", "-q", "-b", "other"], ["add", "f.py"]):
        git(root, *words)
        assert eye.sync().rules_changed, words


def test_a_path_that_becomes_a_submodule(root: Path, watching: Watching) -> None:
    """The same name, and yet another rule."""
    write(root, {"sub/x.py": "", "late": ""})
    commit(root)
    eye = watching(root)
    assert not eye.watch._source.rules.place(b"late/").tree.is_submodule(b"late")  # type: ignore[union-attr]
    eye.sync()
    head = git(root, "rev-parse", "HEAD").decode().strip()
    git(root, "update-index", "--cacheinfo", f"160000,{head},late")
    assert eye.sync().rules_changed


def test_ignore_files_above_the_root(root: Path, watching: Watching) -> None:
    commit(root)
    eye = watching(root / "pkg")
    (root / ".gitignore").write_text("*.txt\n")
    assert eye.sync().rules_changed


def test_new_rules_watch_more_and_less(root: Path, watching: Watching) -> None:
    write(root, {"out/a/b.py": "", "pkg/deep/c.py": ""})
    eye = watching(root)
    (root / ".gitignore").write_text("pkg/\n")
    eye.sync()
    assert eye.wrong_watches() == []
    assert eye.watch.next_batch(5) == Batch(trees=frozenset({"out"}))
    (root / "out/a/b.py").write_text("1")
    (root / "pkg/deep/c.py").write_text("1")
    assert eye.sync().paths == {"out/a/b.py"}


def test_further_inputs(root: Path, tmp_path: Path) -> None:
    mine = tmp_path / "not/yet/config.toml"
    rules = Rules.load(root, ScanSettings())
    watch = Watch(root, rules, tmp_path / "cookies", WatchSettings(), inputs=[str(mine)])
    try:
        (tmp_path / "noise").write_text("")
        assert watch.next_batch(0.1) is None
        write(tmp_path, {"not/yet/config.toml": ""})
        batch = watch.next_batch(5)
        assert batch is not None
        assert batch.rules_changed
    finally:
        watch.close()
