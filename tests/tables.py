"""Tables that name tests (file below tests/, name): what of them there is."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from typing import Any

from tests.trees import REPO


def table(name: str) -> dict[str, dict[str, Any]]:
    """Read a table of `fixtures`."""
    return tomllib.loads((REPO / "fixtures" / name).read_text(encoding="utf-8"))


def collected(tests: Iterable[str], marks: str = "not slow and not network") -> set[str]:
    """What would be run of the files that are named: ids with their parameters, and without; and the files."""
    files = sorted({f"tests/{test.partition('::')[0]}" for test in tests})
    words = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider", "-m", marks, *files]
    done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {line.removeprefix("tests/") for line in done.stdout.splitlines() if "::" in line}
    return (
        names
        | {name.partition("[")[0] for name in names}
        | {f"{name.partition('::')[0]}::*" for name in names}
    )
