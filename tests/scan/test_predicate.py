"""The predicate for single paths: it needs no process, knows when its rules are old, and forgets on demand."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from indexer.scan.ignore import Rules
from indexer.settings import ScanSettings

from .trees import commit, git, on_disk, repository, scan, write

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def load(root: Path) -> Rules:
    return Rules.load(root, ScanSettings())


def test_after_the_first_question_no_process_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "r", {"a.py": "", "gen/kept.py": "", "gen/b.o": "", ".gitignore": "gen/\n"})
    commit(root, "gen/kept.py")
    repository(root / "inner", {"i.py": "", "i.o": "", ".gitignore": "*.o"})
    rules = load(root)
    assert rules.file("inner/i.py")
    assert rules.file("a.py")
    monkeypatch.setenv("PATH", str(tmp_path / "no-git"))
    assert [p for p in on_disk(root)[0] if not rules.file(p)] == ["gen/b.o", "inner/i.o"]
    assert rules.file("brand/new/file.py")
    assert not rules.file("brand/new/.git/file.py")
    assert not rules.file("gen/new.py")
    assert rules.directory("gen")
    assert not rules.directory("gen/sub")
    assert rules.directory("brand/new")
    assert rules.directory("")
    assert not rules.directory(".git")
    assert not rules.directory("brand/.indexer/x")


def test_what_governs() -> None:
    rules = Rules.governs
    assert [p for p in (".gitignore", "a/.gitignore", "a/.indexerignore", "lib/.git", "a.py", "gitignore") if rules(None, p)] == [  # type: ignore[arg-type]
        ".gitignore", "a/.gitignore", "a/.indexerignore", "lib/.git",
    ]  # fmt: skip


def test_each_input_that_changes_is_noticed(tmp_path: Path, home: Path) -> None:
    root = repository(tmp_path, {"a.py": "", "b.py": "", "c.log": ""})
    commit(root, "a.py")

    def noticed(change: object) -> bool:
        rules = load(root)
        assert rules.file("a.py")
        assert rules.file("zz.py") in {True, False}
        assert not rules.changed()
        assert callable(change)
        change()
        return rules.changed()

    assert noticed(lambda: git(root, "add", "b.py"))
    assert noticed(lambda: (root / ".git/info/exclude").write_text("*.log\n# now\n"))
    assert noticed(lambda: write(home, {".config/git/ignore": "*.tmp\n"}))
    assert noticed(lambda: git(root, "config", "core.excludesFile", "/nowhere"))
    assert noticed(lambda: git(root, "checkout", "-q", "-b", "other"))
    assert not noticed(lambda: write(root, {"d.py": ""}))
    assert not noticed(lambda: git(root, "update-index", "--force-write-index"))
    assert not noticed(lambda: git(root, "commit", "-q", "-m", "of what is tracked already"))
    assert noticed(lambda: git(root, "rm", "-q", "--cached", "b.py"))
    inputs = load(root).inputs()
    assert {str(root / ".git" / name) for name in ("index", "HEAD", "config", "info/exclude")} < set(inputs)


def test_a_plain_folder_notices_the_global_ignore_file(tmp_path: Path, home: Path) -> None:
    root = write(tmp_path, {"a.py": "", "a.tmp": ""})
    rules = load(root)
    assert rules.file("a.tmp")
    write(home, {".config/git/ignore": "*.tmp\n"})
    assert rules.changed()
    assert not load(root).file("a.tmp")


def test_new_rules_after_an_ignore_file_changed_s039(tmp_path: Path) -> None:
    root = repository(tmp_path, {"gen/a.py": "", "b.py": ""})
    assert load(root).file("gen/a.py")
    for name in (".gitignore", ".indexerignore"):
        write(root, {name: "gen/\n"})
        assert not load(root).file("gen/a.py")
        assert not load(root).directory("gen")
        assert "gen/a.py" not in [stat.path for stat in scan(root).files]
        (root / name).unlink()
    assert load(root).file("gen/a.py")


def test_a_directory_that_was_replaced_is_forgotten(tmp_path: Path) -> None:
    root = repository(tmp_path, {"lib/a.py": "", "lib/b.o": "", "other/c.py": ""})
    rules = load(root)
    assert rules.file("lib/b.o")
    shutil.rmtree(root / "lib")
    repository(root / "lib", {"b.o": "", ".gitignore": "*.o", "sub/.indexerignore": "*.md"})
    rules.forget("lib")
    assert not rules.file("lib/b.o")
    assert not rules.file("lib/sub/x.md")
    shutil.rmtree(root / "lib")
    (root / "lib").symlink_to("other")
    rules.forget("lib")
    assert not rules.file("lib/c.py")
    assert not rules.directory("lib/sub")
    assert rules.file("other/c.py")
