"""The least that seeing every file costs: one scandir a folder and one lstat a file. Usage: ``python -I walk.py ROOT``."""

import os
import sys


def walk(root: str) -> int:
    """Count the files below a folder, git's own left out."""
    count, folders = 0, [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in {".git", ".indexer"}:
                        folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


if __name__ == "__main__":
    print(walk(sys.argv[1]))
