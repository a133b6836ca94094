"""Trees to index: real code that is installed with the tests' own dependencies, and the samples of every language."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
SAMPLES = REPO / "fixtures" / "samples"
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.org",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.org",
}


def git(root: Path, *arguments: str) -> str:
    """Run git in a tree, with none of this machine's settings; return what it prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=root, env={**os.environ, **_GIT}, check=True, capture_output=True, text=True
    )
    return done.stdout


def package(name: str) -> Path:
    """Return the folder of an installed package."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def real_tree(root: Path) -> Path:
    """Lay a git repository of real Python code and of samples in every language; return its root."""
    for name in ("pluggy", "identify", "watchdog"):
        shutil.copytree(
            package(name), root / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        )
    shutil.copytree(SAMPLES, root / "samples")
    (root / ".gitignore").write_text("*.log\n")
    git(root, "init", "-q", "-b", "main")
    commit(root)
    age(root)
    return root


def under_git(source: Path, root: Path, names: Iterable[str] | None = None) -> Path:
    """Lay a copy of a folder as a git repository: the named files, or what git lists where it is one, or everything."""
    if names is None and (source / ".git").exists():
        names = filter(None, git(source, "ls-files", "-co", "--exclude-standard", "-z").split("\0"))
    if names is None:
        left_out = shutil.ignore_patterns(".indexer")
        shutil.copytree(source, root, symlinks=True, ignore=left_out, dirs_exist_ok=True)
    else:
        for name in names:
            if (source / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, root / name)
    git(root, "init", "-q", "-b", "main")
    commit(root)
    age(root)
    return root


def commit(root: Path) -> None:
    """Commit everything as it is."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "state")


def age(root: Path) -> None:
    """Wait out the file system's clock tick, so that no file is as young as the scan that comes next."""
    probe = root / ".git" if (root / ".git").is_dir() else root
    (probe / "probe").touch()
    made = (probe / "probe").stat().st_ctime_ns
    while (probe / "probe").stat().st_ctime_ns < made + 50_000_000:
        time.sleep(0.01)
        (probe / "probe").touch()
    (probe / "probe").unlink()


def files_of(root: Path) -> list[Path]:
    """Return every file of a tree but git's and ours."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in {".git", ".indexer"}]
        found += [Path(folder) / name for name in names]
    return sorted(found)
