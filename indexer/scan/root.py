"""Which folder is the root of a start folder, and whether an index may lie in it.

A repository is not trusted: an index that came with it (tracked by git, or put there by another user, or a symbolic
link to elsewhere) is refused, since its contents would be believed and its files written.
"""

from __future__ import annotations

import os
import stat as modes
from pathlib import Path

from indexer.errors import RootError

INDEX_NAME = ".indexer"


def find_root(start: str | os.PathLike[str], *, named: bool = False, any_root: bool = False) -> Path:
    """Return the root for a folder (or a file in one): absolute, its symbolic links resolved.

    It is the innermost folder at or above ``start`` that has an index of ours, else ``start`` itself when the user
    ``named`` it, else the top of its git work tree, else ``start``. ``/`` and the home folder are refused unless
    ``any_root``. Raises `RootError`.
    """
    try:
        here = Path(start).resolve(strict=True)
        if not here.is_dir():
            here = here.parent
    except (OSError, RuntimeError) as error:
        raise RootError(
            f"{Path(start)} cannot be opened: {_why(error)}; name a folder that is there"
        ) from error
    too_wide = () if any_root else _too_wide()
    above = [here, *here.parents]
    indexed = next((folder for folder in above if _has_our_index(folder) and folder not in too_wide), None)
    if indexed is not None:
        return indexed
    top = None if named else next((folder for folder in above if _is_git_top(folder)), None)
    root = here if top is None or top in too_wide else top
    if root in too_wide:
        what = "the whole file system" if root == root.parent else "the home folder"
        raise RootError(f"{root} is {what}; name a project's folder, or pass --any-root if it is meant")
    return root


def _why(error: Exception) -> str:
    return (error.strerror or "it cannot be read").lower() if isinstance(error, OSError) else str(error)


def _too_wide() -> tuple[Path, ...]:
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111  (Path.home raises where there is none)
    return (Path(home.anchor), home)


def _is_git_top(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def _has_our_index(folder: Path) -> bool:
    """Tell whether a folder's index is one that we made; another's, further up, is passed by."""
    try:
        stat = os.lstat(folder / INDEX_NAME)
    except OSError:
        return False
    return modes.S_ISDIR(stat.st_mode) and stat.st_uid == os.geteuid()


def check_index_dir(root: Path, index_dir: Path) -> None:
    """Raise `RootError` when the folder for the index is there and is not ours to use; one that does not exist is fine."""
    if is_ours(index_dir):
        check_untracked(root, index_dir)


def is_ours(index_dir: Path) -> bool:
    """Tell whether there is a folder for the index. Raises `RootError` when it cannot be ours, whatever git says."""
    try:
        stat = os.lstat(index_dir)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise RootError(
            f"{index_dir} cannot be used: {_why(error)}; set store.dir to another folder"
        ) from error
    if modes.S_ISLNK(stat.st_mode):
        raise RootError(f"{index_dir} is a symbolic link, which could lead anywhere; remove it")
    if not modes.S_ISDIR(stat.st_mode):
        raise RootError(f"{index_dir} is not a folder; remove it, or set store.dir to another folder")
    if stat.st_uid != os.geteuid():
        raise RootError(f"{index_dir} belongs to another user; remove it, or set store.dir to another folder")
    return True


def check_untracked(root: Path, index_dir: Path) -> None:
    """Raise `RootError` when git tracks anything in the folder for the index. It is asked where that lies in the root."""
    if index_dir.is_relative_to(root) and _is_tracked(root, index_dir):
        raise RootError(f"{index_dir} came with the repository and is not trusted; git rm -r it first")


def _is_tracked(root: Path, index_dir: Path) -> bool:
    if not any(_is_git_top(folder) for folder in (root, *root.parents)):
        return False
    # Only here: what a process costs to import is not paid where no index is.
    from indexer.scan import git

    inside = index_dir.relative_to(root)
    answer = git.call(os.fsencode(root), "--literal-pathspecs", "ls-files", "-z", "--", os.fsencode(inside))
    return answer.code == 0 and bool(answer.out)
