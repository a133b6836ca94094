"""The walk inside git work trees: git's list is the truth, and nested repositories are part of it."""

# ruff: noqa: PTH102, PTH123  (names of any bytes)

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from indexer.scan.ignore import Rules
from indexer.settings import ScanSettings

from .test_ignore_properties import assert_one_truth
from .trees import commit, found, git, listed_by_git, paths, reasons, repository, scan, write

if TYPE_CHECKING:
    from pathlib import Path


def test_inverted_ignore_file_s033(tmp_path: Path) -> None:
    root = repository(tmp_path)
    write(root, {".gitignore": "*\n!*/\n!*.cpp\nContent/\n", "Root.cpp": "", "Root.h": ""})
    write(root, {"Engine/Source/kept.cpp": "", "Engine/Source/no.h": "", "Content/reignored.cpp": ""})
    assert_one_truth(root, listed_by_git(root))
    assert paths(scan(root)) == ["Engine/Source/kept.cpp", "Root.cpp"]


def test_global_excludes_and_info_exclude_s037(tmp_path: Path, home: Path) -> None:
    write(home, {".gitignore_all": "*.secret.py\n"})
    git(home, "config", "--global", "core.excludesFile", "~/.gitignore_all")
    root = repository(tmp_path / "r", {"a.py": "", "b.secret.py": "", "c.tmp": ""})
    (root / ".git/info/exclude").write_text("*.tmp\n")
    assert paths(scan(root)) == ["a.py"]
    assert_one_truth(root, {"a.py"})


def test_default_global_excludes_s037(tmp_path: Path, home: Path) -> None:
    write(home, {".config/git/ignore": "*.o\n"})
    assert_one_truth(repository(tmp_path / "r", {"a.c": "", "a.o": ""}), {"a.c"})
    assert_one_truth(write(tmp_path / "plain", {"a.c": "", "a.o": ""}), {"a.c"})


def test_no_home_of_version_control_and_not_our_own_s043(tmp_path: Path) -> None:
    root = repository(
        tmp_path, {"a.py": "", ".indexer/manifest.json": "{}", ".hg/store/x": "", "b/.svn/entries": ""}
    )
    commit(root, "a.py", ".indexer/manifest.json")
    assert_one_truth(root, {"a.py"})
    write(root, {"b/.indexer": "a file of that name", "b/.hg": ""})
    assert_one_truth(root, {"a.py"})


def test_a_tracked_file_in_an_ignored_directory_is_in(tmp_path: Path) -> None:
    root = repository(
        tmp_path, {"gen/kept.py": "", "gen/deep/kept.py": "", "gen/not.py": "", ".gitignore": "gen/\n"}
    )
    commit(root, "gen/kept.py", "gen/deep/kept.py")
    assert_one_truth(root, {"gen/kept.py", "gen/deep/kept.py", ".gitignore"})


def test_what_is_not_on_disk_is_not_in_and_nothing_is_twice(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": "1\n", "gone.py": "", "moved.py": "x\n"})
    commit(root)
    (root / "gone.py").unlink()
    git(root, "mv", "moved.py", "here.py")
    git(root, "checkout", "-q", "-b", "other")
    write(root, {"a.py": "2\n"})
    git(root, "commit", "-q", "-am", "2")
    git(root, "checkout", "-q", "-")
    write(root, {"a.py": "3\n"})
    git(root, "commit", "-q", "-am", "3")
    with pytest.raises(Exception, match="merge"):
        git(root, "merge", "other")
    assert git(root, "ls-files", "-u")
    assert paths(scan(root)) == ["a.py", "here.py"]


def test_a_tracked_path_below_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"b.py": "secret"})
    root = repository(tmp_path / "r", {"a/b.py": ""})
    commit(root)
    (root / "a/b.py").unlink()
    (root / "a").rmdir()
    (root / "a").symlink_to(outside)
    result = scan(root)
    assert paths(result) == []
    assert reasons(result) == {"a": "symlink"}
    assert not Rules.load(root, ScanSettings()).file("a/b.py")


def test_worktree_below_an_ignored_directory_is_out_s067(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": "", ".gitignore": ".wt/\n"})
    commit(root)
    git(root, "worktree", "add", "-q", ".wt/x")
    assert (root / ".wt/x/a.py").exists()
    assert_one_truth(root, {"a.py", ".gitignore"})
    # As a root of its own it is as good as any.
    assert paths(scan(root / ".wt/x")) == [".gitignore", "a.py"]


def test_nested_repositories_go_by_their_own_rules(tmp_path: Path) -> None:
    root = repository(tmp_path, {"top.py": "", ".gitignore": "*.log\nout/\n"})
    inner = repository(
        root / "libs/inner", {"in.py": "", "in.log": "", "in.tmp": "", ".gitignore": "*.tmp\n"}
    )
    repository(inner / "deep", {"d.log": "", "d.py": ""})
    repository(root / "out/hidden", {"h.py": ""})
    commit(inner, "in.py")
    expected = {"top.py", ".gitignore", "libs/inner/in.py", "libs/inner/in.log", "libs/inner/.gitignore"}
    assert_one_truth(root, expected | {"libs/inner/deep/d.py", "libs/inner/deep/d.log"})
    assert paths(scan(root)) == sorted(found(scan(root)), key=os.fsencode)


def test_submodules_are_part_of_the_tree(tmp_path: Path) -> None:
    library = repository(tmp_path / "library", {"lib.py": "", "lib.tmp": "", ".gitignore": "*.tmp\n"})
    commit(library, "lib.py", ".gitignore")
    root = repository(tmp_path / "r", {"a.py": "", ".gitignore": "vendor/\n"})
    git(root, "submodule", "--quiet", "add", "-f", str(library), "vendor/lib")
    write(root, {"vendor/lib/new.py": "", "vendor/lib/new.tmp": "", "vendor/stray.py": ""})
    expected = {
        "a.py",
        ".gitignore",
        ".gitmodules",
        "vendor/lib/lib.py",
        "vendor/lib/.gitignore",
        "vendor/lib/new.py",
    }
    assert_one_truth(root, expected)
    assert paths(scan(root / "vendor/lib")) == [".gitignore", "lib.py", "new.py"]
    commit(root, "a.py")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    write(clone, {"vendor/lib/stray.py": ""})  # not checked out: nobody's folder
    assert_one_truth(clone, listed_by_git(clone) - {"vendor/lib"})


def test_a_repository_laid_over_tracked_files_changes_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path, {"sub/a.py": "", "sub/b.log": "", ".gitignore": "*.log\n"})
    commit(root, "sub/a.py")
    repository(root / "sub", {"c.py": ""})
    assert_one_truth(root, listed_by_git(root))


def test_a_broken_git_file_is_no_repository(tmp_path: Path) -> None:
    root = repository(
        tmp_path, {"a.py": "", "x/.git": "gitdir: /nowhere/at/all\n", "x/b.py": "", "y/.git": "what?"}
    )
    write(root, {"y/c.py": "", "z/.git/HEAD": "", "z/d.py": ""})
    assert_one_truth(root, listed_by_git(root))


def test_a_part_of_a_work_tree_as_root(tmp_path: Path) -> None:
    top = repository(
        tmp_path, {".gitignore": "*.tmp\n/pkg/gen\n", "other.py": "", "pkg/.gitignore": "*.log\n"}
    )
    write(top, {"pkg/a.py": "", "pkg/a.tmp": "", "pkg/a.log": "", "pkg/gen/g.py": "", "pkg/in/b.py": ""})
    assert_one_truth(top / "pkg", {".gitignore", "a.py", "in/b.py"})


def test_an_ignored_folder_as_root_is_a_tree_of_its_own(tmp_path: Path) -> None:
    """As with a home folder under git that ignores everything: the user asked for this folder."""
    top = repository(tmp_path, {".gitignore": "*\n"})
    root = write(top / "project", {"a.py": "", "b.log": "", ".gitignore": "*.log\n"})
    assert_one_truth(root, {"a.py", ".gitignore"})


def test_our_own_ignore_files_narrow(tmp_path: Path) -> None:
    root = repository(
        tmp_path, {".indexerignore": "*.md\n!keep.md\nfixtures/\n", "a.md": "", "keep.md": "", "a.py": ""}
    )
    write(root, {"fixtures/f.py": "", "docs/.indexerignore": "!*.md\n*.py", "docs/d.md": "", "docs/d.py": ""})
    commit(root)
    repository(root / "inner", {"i.md": "", "i.py": ""})
    expected = {".indexerignore", "keep.md", "a.py", "docs/.indexerignore", "docs/d.md", "inner/i.py"}
    assert_one_truth(root, expected)


def test_an_ignored_ignore_file_counts(tmp_path: Path) -> None:
    root = repository(tmp_path, {".indexerignore": "*.md\n", "a.md": "", "a.py": ""})
    (root / ".git/info/exclude").write_text(".indexerignore\n")
    assert_one_truth(root, {"a.py"})


def test_settings_narrow_the_walk_and_the_single_path_alike_s041(tmp_path: Path) -> None:
    root = repository(
        tmp_path, {"fixtures/a.py": "", "src/a.py": "", "src/a.md": "", "src/gen/b.py": "", "lib/c.py": ""}
    )
    write(
        root, {".indexerignore": "!fixtures/\n!src/gen\n"}
    )  # a repository cannot bring back what the user left out
    commit(root)
    section = ScanSettings(exclude=("fixtures/", "/src/gen"), include=("src/", "*.md", "!src/a.md"))
    assert paths(scan(root, exclude=section.exclude, include=section.include)) == ["src/a.py"]
    rules = Rules.load(root, section)
    assert [
        p for p in ("fixtures/a.py", "src/a.py", "src/a.md", "src/gen/b.py", "lib/c.py") if rules.file(p)
    ] == ["src/a.py"]
    assert [d for d in ("fixtures", "src", "src/gen", "lib") if rules.directory(d)] == ["src", "lib"]


def test_names_of_any_bytes(tmp_path: Path) -> None:
    names = [
        b"line\nbreak.py",
        b"tab\t.py",
        b"\xff\xfe.py",
        b'quote".py',
        b"x" * 252 + b".py",
        "\u540d\u524d.py".encode(),
        b" lead",
        b"-dash",
    ]
    top = os.fsencode(tmp_path)
    repository(tmp_path)
    os.mkdir(top + b"/d\xe9\n")
    for name in names:
        for folder in (b"/", b"/d\xe9\n/"):
            with open(top + folder + name, "wb"):
                pass
    expected = sorted([*names, *(b"d\xe9\n/" + name for name in names)])
    assert [os.fsencode(path) for path in paths(scan(tmp_path))] == expected
    assert_one_truth(tmp_path, {os.fsdecode(name) for name in expected})
    git(tmp_path, "add", "--", ".")
    assert [os.fsencode(path) for path in paths(scan(tmp_path))] == expected


def test_a_root_with_a_line_break_in_its_name(tmp_path: Path) -> None:
    root = repository(tmp_path / "a\nb\n", {"x.py": "", "y.o": "", ".gitignore": "*.o"})
    assert paths(scan(root)) == [".gitignore", "x.py"]
    assert paths(scan(write(root / "c\n", {"z.py": "", "z.o": ""}))) == ["z.py"]


def test_an_empty_repository(tmp_path: Path) -> None:
    result = scan(repository(tmp_path))
    assert (result.files, result.skipped, result.unknown, result.notes) == ([], [], [], [])


def test_an_ignore_file_that_is_a_link_or_a_folder_is_as_git_takes_it(tmp_path: Path) -> None:
    root = repository(
        tmp_path / "r", {"a.log": "", "real": "*.log\n", "d/.gitignore/x.log": "", "d/b.log": ""}
    )
    (root / ".gitignore").symlink_to("real")
    (root / ".indexerignore").symlink_to("real")
    assert_one_truth(root, listed_by_git(root))
    assert "a.log" in paths(scan(root))
