"""Invariant 13: nothing of a repository's runs, and what git does not answer for is told."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from indexer.reindex import reindex
from indexer.reindex.standing import Begun, begin
from indexer.scan import git as safe
from indexer.scan.ignore import Rules
from indexer.settings import ScanSettings
from tests.counting import workspace

from .trees import commit, git, listed_by_git, paths, repository, scan, write

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = 65534


def trap(path: Path, marker: Path) -> Path:
    """A program that leaves a trace when somebody runs it."""
    path.write_text(f"#!/bin/sh\necho ran >> '{marker}'\nexit 1\n")
    path.chmod(0o755)
    return path


def test_no_program_of_the_repository_runs(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = trap(tmp_path / "trap", marker)
    root = repository(
        tmp_path / "r", {"a.py": "", "b.log": "", ".gitignore": "*.log\n", ".gitattributes": "* filter=f"}
    )
    commit(root, "a.py")
    git(root, "update-index", "--fsmonitor")
    for hook in ("post-index-change", "query-watchman", "post-checkout", "pre-auto-gc"):
        trap(root / ".git/hooks" / hook, marker)
    for key in (
        "core.fsmonitor", "core.pager", "pager.ls-files", "core.sshCommand", "core.editor", "core.askPass", "filter.f.clean",
        "filter.f.process", "diff.external", "core.gitProxy", "credential.helper", "core.alternateRefsCommand",
        "alias.ls-files", "alias.rev-parse",
    ):  # fmt: skip
        git(root, "config", key, str(program))
    marker.unlink(missing_ok=True)
    subprocess.run(["git", "ls-files", "-co"], cwd=root, check=True, capture_output=True)
    assert marker.exists(), "the trap works when git is called carelessly"
    marker.unlink()
    rules = Rules.load(root, ScanSettings())
    assert paths(scan(root)) == [".gitattributes", ".gitignore", "a.py"]
    assert rules.file("a.py")
    assert not rules.file("c.log")
    assert not marker.exists()


def test_the_index_is_not_written(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": ""})
    commit(root)
    os.utime(root / "a.py")
    index = root / ".git/index"
    index.chmod(0o444)
    before = (index.read_bytes(), index.stat().st_mtime_ns, sorted(os.listdir(root / ".git")))
    scan(root)
    assert before == (index.read_bytes(), index.stat().st_mtime_ns, sorted(os.listdir(root / ".git")))


def test_a_work_tree_set_elsewhere_is_not_listed(tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere", {"passwords.txt": "x"})
    root = repository(tmp_path / "r", {"a.py": "", "b.o": "", ".gitignore": "*.o\n"})
    for target in (elsewhere, tmp_path):
        git(root, "config", "core.worktree", str(target))
        result = scan(root)
        assert paths(result) == [".gitignore", "a.py"]
        if target == elsewhere:
            assert "work tree is set to another folder" in result.notes[0]


def test_a_bare_repository_among_the_files_is_only_files(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    root = repository(tmp_path / "r", {"a.py": ""})
    bare = root / "fixture"
    bare.mkdir()
    git(bare, "init", "-q", "--bare")
    git(bare, "config", "core.worktree", "..")
    git(bare, "config", "core.fsmonitor", str(trap(tmp_path / "trap", marker)))
    assert "fixture/HEAD" in paths(scan(root))
    assert "HEAD" in paths(scan(bare))
    assert not marker.exists()


def test_variables_of_another_repository_do_not_lead_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other", {"o.py": ""})
    root = repository(tmp_path / "r", {"a.py": "", "a.o": "", ".gitignore": "*.o"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nothing"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    assert paths(scan(root)) == [".gitignore", "a.py"]
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a folder away")
def test_another_users_repository_is_told_and_walked_without_git(tmp_path: Path, home: Path) -> None:
    root = repository(
        tmp_path / "r", {"a.py": "", "b.o": "", ".gitignore": "*.o\ngen/\n", "gen/kept.py": "", "x.tmp": ""}
    )
    (root / ".git/info/exclude").write_text("*.tmp\n")
    commit(root, "a.py", "gen/kept.py")
    os.chown(root, NOBODY, NOBODY)
    os.chown(root / ".git", NOBODY, NOBODY)
    result = scan(root)
    assert paths(result) == [".gitignore", "a.py"]
    assert f"git config --global --add safe.directory {root}" in result.notes[0]
    git(home, "config", "--global", "safe.directory", str(root))
    assert paths(scan(root)) == [".gitignore", "a.py", "gen/kept.py"]
    assert scan(root).notes == []


def test_a_nested_repository_that_git_refuses_is_told_by_name(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": ""})
    inner = repository(root / "inner", {"i.py": "", "i.o": "", ".gitignore": "*.o"})
    commit(inner, "i.py")
    (inner / ".git/config").write_text("[core\n")
    result = scan(root)
    assert paths(result) == ["a.py", "inner/.gitignore", "inner/i.py"]
    assert any("inner" in note and "config" in note for note in result.notes)


def test_a_damaged_index_is_told_and_the_tree_is_walked(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": "", "b.o": "", ".gitignore": "*.o"})
    commit(root, "a.py")
    (root / ".git/index").write_bytes(b"DIRC" + b"\0" * 40)
    result = scan(root)
    assert paths(result) == [".gitignore", "a.py"]
    assert "git cannot list the root" in result.notes[0]


def test_without_git_on_the_path_the_tree_is_walked(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path, {"a.py": "", "b.o": "", "c.tmp": "", ".gitignore": "*.o"})
    write(home, {".config/git/ignore": "*.tmp"})
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    result = scan(root)
    assert paths(result) == [".gitignore", "a.py"]
    assert "git cannot be called" in result.notes[0]


def test_a_call_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {"a.py": ""})
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(safe, "_TIMEOUT", 0.2)
    result = scan(root)
    assert paths(result) == ["a.py"]
    assert "git was ended" in result.notes[0]


def test_an_ignore_file_that_keeps_git_busy_for_years(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git's matcher tries all ways to deal forty folders out to sixty stars; ours takes none twice."""
    deep = "/".join(["c"] * 40)
    root = repository(tmp_path, {f"{deep}/kept.py": "", "b": "", ".gitignore": "**/" * 60 + "b\n"})
    monkeypatch.setattr(safe, "_PROCESSOR_SECONDS", 1)
    result = scan(root)
    assert paths(result) == [".gitignore", f"{deep}/kept.py"]
    assert "git was ended" in result.notes[0]


def test_a_sparse_checkout_lists_what_is_on_disk(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a/x.py": "", "b/y.py": "", "top.py": ""})
    commit(root)
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "a")
    assert not (root / "b").exists()
    assert paths(scan(root)) == ["a/x.py", "top.py"]


def test_an_index_in_split_form(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": "", "b.py": ""})
    commit(root, "a.py")
    git(root, "update-index", "--split-index")
    git(root, "add", "b.py")
    assert set(paths(scan(root))) == listed_by_git(root)
    shutil.rmtree(root / ".git")
    assert paths(scan(root)) == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("circumstance", "told"),
    [
        ("os.closerange(0, 3)", ".gitignore a.py b.tmp"),
        (
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
            ".gitignore a.py git does not answer for the root, ",
        ),
    ],
)
def test_git_is_heard_however_the_process_was_started(tmp_path: Path, circumstance: str, told: str) -> None:
    """Without standard input and output, whose descriptors others then get; and where nobody is told of children's ends.

    In the latter, git is not believed: of a listing that broke off nobody could tell that it did.
    """
    root = repository(tmp_path / "r", {"a.py": "", "b.tmp": "", "c.tmp": "", ".gitignore": "*.tmp\n"})
    git(root, "add", "-f", "b.tmp")
    code = (
        f"import os, signal, sys; {circumstance}\n"
        "from indexer.scan.ignore import Rules; from indexer.scan.walk import walk; from indexer.settings import ScanSettings\n"
        "found = walk(sys.argv[1], Rules.load(sys.argv[1], ScanSettings()), ScanSettings())\n"
        "open(sys.argv[2], 'w').write(' '.join([*(stat.path for stat in found.files), *found.notes]))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(root), str(tmp_path / "told")], check=True)
    assert (tmp_path / "told").read_text().startswith(told)


def test_a_name_that_is_none_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {"a.py": "def f(): ...\n", "in/b.py": ""})
    reindex(workspace(root))
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    names = "a.py\\0\\0in/b.py\\0/\\0//\\0"
    fake.write_text(
        f"#!/bin/sh\ncase $* in *'-co '*) printf '{names}'; exit;; esac\nexec {shutil.which('git')} \"$@\"\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=os.pathsep)
    found = begin(workspace(root))
    assert isinstance(found, Begun)
    assert reindex(workspace(root), begun=found).snapshot.paths == ["a.py", "in/b.py"]


@pytest.mark.parametrize("how", ["echo 'fatal: no' >&2; exit 128", "kill -9 $$"])
def test_a_listing_that_broke_off_empties_no_index(tmp_path: Path, how: str) -> None:
    """Not even where whoever started the command has the ends of children ignored."""
    root = repository(tmp_path / "r", {"a.py": "def f(): ...\n", "b.py": "def g(): ...\n"})
    reindex(workspace(root))
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(
        f"#!/bin/sh\ncase $* in *ls-files*) printf 'a.py\\0'; {how};; esac\nexec {shutil.which('git')} \"$@\"\n"
    )
    fake.chmod(0o755)
    run = [sys.executable, "-m", "indexer", "reindex", str(root)]
    done = subprocess.run(
        run,
        env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"},
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("2 files (nothing changed; 0 skipped)")
    assert "git cannot list the root" in done.stderr
