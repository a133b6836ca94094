"""Absence needs evidence (invariant 5): what cannot be seen is kept, and said to be unknown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from indexer.reindex import reindex
from tests.counting import workspace

FUNCTION = "def kept_{name}():\n    return 1\n"


def tree(root: Path) -> Path:
    for name in ("outer", "sub/inner", "sub/other"):
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FUNCTION.format(name=path.stem))
    return root


def may_mount() -> bool:
    done = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
    ) if shutil.which("unshare") else None  # fmt: skip
    return done is not None and done.returncode == 0


SCRIPT = """
set -eu
mount -t tmpfs none "$ROOT/sub"
printf 'def on_the_mount(): pass\\n' > "$ROOT/sub/inner.py"
$INDEXER reindex "$ROOT"
umount "$ROOT/sub"
rm -f "$ROOT"/sub/*.py
$INDEXER reindex "$ROOT"
$INDEXER search on_the_mount "$ROOT" --now --json
$INDEXER reindex "$ROOT" --full
$INDEXER search on_the_mount "$ROOT" --now --json
"""


@pytest.mark.skipif(not may_mount(), reason="needs the right to mount in a namespace of its own")
def test_a_file_system_that_went_away_takes_nothing_with_it(tmp_path: Path) -> None:
    root = tree(tmp_path)
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", SCRIPT],
        env={**os.environ, "ROOT": str(root), "INDEXER": f"{sys.executable} -m indexer"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second, found, full, after = done.stdout.splitlines()
    assert "2 added" in first
    assert "removed" not in second
    assert "sub: the file system that was mounted here is gone" in done.stderr
    assert '"path": "sub/inner.py"' in found
    assert "1 added" in full
    assert '"path": "sub/inner.py"' not in after


UNREADABLE = """
import os, sys
from pathlib import Path
from indexer.reindex import reindex
from tests.counting import workspace
space = workspace(Path(sys.argv[1]))
for mode in (0o755, 0, 0o755):
    os.chmod(space.root / "sub", mode)
    outcome = reindex(space)
    print(outcome.report.files.removed, len(outcome.snapshot.paths), list(outcome.unknown))
for mode in (0, 0o644):
    os.chmod(space.root / "outer.py", mode)
    outcome = reindex(space)
    print(outcome.report.files.skipped, len(outcome.snapshot.rows.file))
"""
# Permissions do not bind root, unless it gives up the right to pass them by.
BOUND = [
    "setpriv",
    "--inh-caps=-dac_override,-dac_read_search",
    "--bounding-set=-dac_override,-dac_read_search",
]


@pytest.mark.skipif(not os.geteuid() and not shutil.which("setpriv"), reason="root without setpriv")
def test_an_unreadable_folder_takes_nothing_with_it(tmp_path: Path) -> None:
    """S-119. A file that cannot be read is skipped, and tried again by each run."""
    root = tree(tmp_path)
    words = [*([] if os.geteuid() else BOUND), sys.executable, "-c", UNREADABLE, str(root)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["0 3 []", "0 3 ['sub']", "0 3 []", "1 2", "0 3"]


def test_a_root_that_went_away_is_an_error_and_not_an_empty_tree(tmp_path: Path) -> None:
    root = tree(tmp_path / "tree")
    reindex(workspace(root))
    root.rename(tmp_path / "moved")
    done = subprocess.run(
        [sys.executable, "-m", "indexer", "reindex", str(root)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert len(reindex(workspace(tmp_path / "moved")).snapshot.paths) == 3
