"""Invariant 5: what cannot be read is unknown, told, and never taken for deleted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.scan.diff import compare, lost_mounts

from .trees import commit, git, repository, scan, write

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPT = """
    import json, sys
    from indexer.scan.ignore import Rules
    from indexer.scan.walk import look, walk
    from indexer.settings import ScanSettings
    rules = Rules.load(sys.argv[1], ScanSettings())
    scan = walk(sys.argv[1], rules, ScanSettings())
    looked = look(rules, "locked/in.py", ScanSettings())
    print(json.dumps([[f.path for f in scan.files], scan.unknown, scan.notes, looked]))
"""


# Root without the privilege to pass by permissions, for the tests often run as root.
UNPRIVILEGED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A folder that can be removed whatever a test did to its permissions."""
    folder = tmp_path / "r"
    folder.mkdir()
    yield folder
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=True)


def scan_unprivileged(root: Path) -> tuple[list[str], list[str], list[str], list[str] | None]:
    """Scan as a user for whom permissions count."""
    if UNPRIVILEGED and shutil.which("setpriv") is None:
        pytest.skip("needs setpriv")
    script = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(root)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    answer = subprocess.run(
        [*UNPRIVILEGED, *script], env=environment, check=True, capture_output=True, text=True
    )
    files, unknown, notes, looked = json.loads(answer.stdout)
    return files, unknown, notes, looked


@pytest.mark.parametrize("kind", ["plain", "git", "tracked"])
@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400])
def test_a_locked_directory_is_unknown_and_the_rest_goes_on_s119(root: Path, kind: str, mode: int) -> None:
    write(root, {"a.py": "", "locked/in.py": "", "locked/deep/in.py": "", "open/b.py": "", "gen/c.o": ""})
    write(root, {".gitignore": "gen/\n"})
    if kind != "plain":
        git(root, "init", "-q")
    if kind == "tracked":
        commit(root, "locked/in.py", "a.py")
    (root / "gen").chmod(0)  # ignored: whether it can be read is of no interest
    (root / "locked").chmod(mode)
    files, unknown, notes, looked = scan_unprivileged(root)
    assert {"a.py", "open/b.py"} <= set(files) <= {".gitignore", "a.py", "open/b.py", "locked/in.py"}
    assert unknown == ["locked"]
    assert notes == []
    if mode != 0o100:  # with x alone a file can be looked at whose name is known
        assert looked is not None
        assert looked[1] == "unreadable"


def test_what_was_known_below_an_unknown_directory_is_not_gone(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "", "locked/in.py": "", "locked2.py": ""})
    known = {stat.path: stat for stat in scan(tmp_path).files}
    assert compare(known, set(), [], ["locked"]).gone == ("a.py", "locked2.py")


def test_a_root_that_cannot_be_read_is_unknown_as_a_whole(root: Path) -> None:
    write(root, {"a.py": ""})
    root.chmod(0o300)
    assert scan_unprivileged(root)[1] == [""]
    assert compare({"a.py": scan(root).files[0]}, set(), [], [""]).gone == ()


def test_a_mount_that_vanished_is_unknown(tmp_path: Path) -> None:
    """In a mount namespace of its own: the file system in ``data`` is there for one scan and gone for the next."""
    root = write(tmp_path, {"a.py": "", "data/.keep": ""})
    script = f"""
        import subprocess, sys
        sys.path.insert(0, {str(Path(__file__).parents[2])!r})
        from indexer.scan.ignore import Rules
        from indexer.scan.walk import walk
        from indexer.settings import ScanSettings
        root = {str(root)!r}
        for command in (["mount", "-t", "tmpfs", "none", root + "/data"], ["umount", root + "/data"]):
            if subprocess.run(command, capture_output=True).returncode:
                sys.exit(77)
            if command[0] == "mount":
                open(root + "/data/d.py", "w").close()
            scan = walk(root, Rules.load(root, ScanSettings()), ScanSettings())
            print([f.path for f in scan.files], scan.mounts)
    """
    unshare = ["unshare", "-m", sys.executable, "-c", textwrap.dedent(script)]
    for kind in ("plain", "git"):
        if kind == "git":
            repository(root)
        answer = subprocess.run(unshare, check=False, capture_output=True, text=True)
        if answer.returncode:
            pytest.skip("no file system can be mounted here")
        assert answer.stdout == "['a.py', 'data/d.py'] ['data']\n['a.py', 'data/.keep'] []\n"
    assert lost_mounts(["data", "still"], ["still"]) == ["data"]
