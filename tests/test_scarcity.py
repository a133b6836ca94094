"""What the system refuses: names in another encoding, descriptors, a folder to write in. Told in a line, nothing lost."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

from indexer.errors import StoreError
from indexer.store import disk
from tests.trees import git

if TYPE_CHECKING:
    from pathlib import Path

_LEGACY = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}


def run(
    root: Path, *words: str, descriptors: int = 0, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (descriptors, descriptors))
    return subprocess.run(
        [sys.executable, "-m", "indexer", *words],
        cwd=root,
        env={**os.environ, **(env or {})},
        preexec_fn=limit if descriptors else None,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        timeout=120,
    )


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """A tree with names that few encodings hold."""
    for name in (b"\xc3\xa9.py", "e\u0301.py".encode(), "\u5b57.py".encode(), b"\xff\xfe.py", b"plain.py"):
        (tmp_path / os.fsdecode(name)).write_text("def hello():\n    return '\u5b57'\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("first", [{}, _LEGACY])
def test_the_locale_does_not_change_the_index(named: Path, first: dict[str, str]) -> None:
    done = run(named, "reindex", env=first)
    assert done.returncode == 0, done.stderr
    for other in ({}, _LEGACY, {**_LEGACY, "LC_ALL": "POSIX"}):
        assert "nothing changed" in run(named, "reindex", env=other).stdout
        assert run(named, "check", env=other).returncode == 0
        assert len(run(named, "search", "--json", "hello \u5b57", env=other).stdout) > 100


def test_a_console_keeps_its_own_encoding(named: Path) -> None:
    done = run(named, "search", "hello", env=_LEGACY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "\\u5b57" in done.stdout


def test_a_tree_deeper_than_git_has_descriptors_for_is_unknown_below(tmp_path: Path) -> None:
    """git leaves out what it cannot open, and says so: that is no evidence that it is gone."""
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("def shallow(): pass\n")
    deep = tmp_path.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    (deep / "z.py").write_text("def deepest(): pass\n")
    assert run(tmp_path, "reindex").returncode == 0
    scarce = run(tmp_path, "reindex", descriptors=40)
    assert "nothing changed" in scarce.stdout
    assert "cannot be read; what was indexed below it is kept" in scarce.stderr
    assert "deepest" in run(tmp_path, "search", "--now", "deepest").stdout


def test_git_is_understood_below_the_top_of_its_work_tree_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    root = tmp_path / "inner"
    deep = root.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    (deep / "z.py").write_text("def deepest(): pass\n")
    assert run(tmp_path, "reindex", str(root)).returncode == 0
    scarce = run(tmp_path, "reindex", str(root), descriptors=40)
    assert "nothing changed" in scarce.stdout
    assert "indexer: d/d/" in scarce.stderr


@pytest.mark.parametrize("descriptors", [6, 7, 8, 9, 10])
def test_no_descriptor_left_is_told_in_a_line(tmp_path: Path, descriptors: int) -> None:
    (tmp_path / "a.py").write_text("def shallow(): pass\n")
    done = run(tmp_path, "reindex", "--quiet", descriptors=descriptors)
    assert done.returncode == 0 or (done.stderr.count("\n") == 1 and done.stderr.startswith("indexer: ")), (
        done.stderr
    )


@pytest.mark.parametrize("code", ["EROFS", "EACCES", "ENOSPC", "EDQUOT"])
def test_a_disk_that_refuses_is_told_with_the_way_out(tmp_path: Path, code: str) -> None:
    number = getattr(errno, code)

    class Refusing(disk.Disk):
        def attempt(self, action: str, path: Path, call: object) -> object:  # type: ignore[override]  # noqa: ARG002
            raise OSError(number, os.strerror(number))

    with pytest.raises(StoreError, match=r"set store\.dir to"):
        Refusing().make_directory(tmp_path / "x")


def test_check_without_a_temporary_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def shallow(): pass\n")
    run(tmp_path, "reindex")
    script = (
        "import sys, tempfile; tempfile.tempdir = '/nonexistent/folder';"
        "from indexer.cli import main; sys.exit(main(['check']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "set TMPDIR" in done.stderr
