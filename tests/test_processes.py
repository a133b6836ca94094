"""A child never imports anything of the folder it was started in: that may be a repository, which is not trusted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from indexer.processes import interpreter
import subprocess
done = subprocess.run(interpreter("import planted"), capture_output=True, text=True)
print(done.returncode, "No module named 'planted'" in done.stderr)
"""


@pytest.mark.parametrize("way", ["-c", "-m", "gone"])
def test_nothing_of_the_current_folder_is_imported(tmp_path: Path, way: str) -> None:
    (tmp_path / "planted.py").write_text("print('ours now')\n")
    (tmp_path / "script.py").write_text(SCRIPT)
    words = ["-m", "script"] if way == "-m" else ["-c", SCRIPT]
    if way == "gone":
        words = ["-c", f"import os; os.mkdir('x'); os.chdir('x'); os.rmdir('../x')\n{SCRIPT}"]
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout.strip() == "1 True", done.stderr
