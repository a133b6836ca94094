"""Making trees and repositories, and asking git what is in them."""

# ruff: noqa: PTH114, PTH118  (os.walk gives plain strings)

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from indexer.scan.ignore import Rules
from indexer.scan.seen import Scan
from indexer.scan.walk import walk
from indexer.settings import ScanSettings

if TYPE_CHECKING:
    from pathlib import Path

NEVER = {".git", ".hg", ".svn", ".indexer"}


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files, making the folders on the way."""
    for path, content in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def git(folder: Path, *arguments: str | bytes) -> bytes:
    """Run git as a user would."""
    words = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    return subprocess.run([*words, *arguments], cwd=folder, check=True, capture_output=True).stdout


def repository(root: Path, files: dict[str, str | bytes] | None = None) -> Path:
    """Make a repository with some files, none of them tracked."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q")
    return write(root, files or {})


def listed_by_git(root: Path) -> set[str]:
    """What the invariant names: git's list, on disk, without what is never entered."""
    names = git(root, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")[:-1]
    paths = {os.fsdecode(name) for name in names}
    return {p for p in paths if os.path.lexists(root / p) and NEVER.isdisjoint(p.split("/"))}


def scan(root: Path, **settings: object) -> Scan:
    """Walk with fresh rules."""
    section = ScanSettings(**settings)  # type: ignore[arg-type]
    return walk(root, Rules.load(root, section), section)


def found(result: Scan) -> set[str]:
    """All paths the walk came to, skipped ones included."""
    return {stat.path for stat in result.files} | {skipped.path for skipped in result.skipped}


def reasons(result: Scan) -> dict[str, str]:
    """Why each skipped path was skipped."""
    return {skipped.path: skipped.reason for skipped in result.skipped}


def commit(root: Path, *names: str) -> None:
    """Track files, whatever is ignored, and commit."""
    git(root, "add", "-f", "--", *(names or (".",)))
    git(root, "commit", "-q", "-m", "x")


def paths(result: Scan) -> list[str]:
    """The files to index."""
    return [stat.path for stat in result.files]


def on_disk(root: Path) -> tuple[list[str], list[str]]:
    """Every file and every directory below a root, as relative paths, ``.git`` left out."""
    files, folders = [], []
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if name != ".git"]
        here = os.path.relpath(folder, root)
        prefix = "" if here == "." else here + "/"
        links = [name for name in inner if os.path.islink(os.path.join(folder, name))]
        files += [prefix + name for name in (*names, *links) if name != ".git"]
        folders += [prefix + name for name in inner if name not in links]
    return files, folders
