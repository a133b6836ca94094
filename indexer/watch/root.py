"""Which directory the root is. A rename of a folder above it, or a mount over it, raises no event; looking tells."""

# Paths are bytes here, and pathlib knows only str.
# ruff: noqa: PTH116

from __future__ import annotations

import os

Identity = tuple[int, int]  # device and inode


def look_at(root: bytes) -> tuple[Identity | None, str]:
    """Return which directory is at ``root`` (with its slash); None when there is none, and why."""
    try:
        stat = os.stat(root)
    except OSError as error:
        return None, error.strerror or str(error)
    return (stat.st_dev, stat.st_ino), ""


def is_gone(root: bytes, *why: str) -> str:
    """Return the line that tells it."""
    return f"{os.fsdecode(root[:-1])} is gone: {', '.join(filter(None, why))}"
