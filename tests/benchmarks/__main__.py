"""The figures: ``python -m tests.benchmarks`` prints them as a table, beside git's and the previous run's.

Medians of whole processes. Absolute times hang on the machine; the ratio to ``git status`` of the same tree in the
same run says more. Nothing here is asserted.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import corpora, measure
from tests.trees import commit, git

INDEXER = [sys.executable, "-m", "indexer"]
RUNS = 5


def lay(folder: Path) -> Path:
    """A copy of Django under git."""
    root = folder / "django"
    shutil.copytree(corpora.sdist("django"), root, ignore=shutil.ignore_patterns(".indexer", ".git"))
    git(root, "init", "-q")
    commit(root)
    return root


def figures(root: Path) -> dict[str, float]:
    """Measure; seconds, megabytes and ratios by name."""
    index = root / ".indexer"

    def forget() -> None:
        shutil.rmtree(index, ignore_errors=True)

    changed = root / "django" / "db" / "models" / "query.py"
    number = iter(range(1_000_000))

    def edit() -> None:
        marker = f"# edit {next(number)}\n"
        text = changed.read_text().replace(
            "    def count(self):\n", f"    def count(self):\n        {marker}", 1
        )
        changed.write_text(text)

    reindex = [*INDEXER, "reindex", "--quiet"]
    cold = measure.median(3, reindex, root, forget)
    forget()
    memory = measure.once(reindex, root, memory=True).memory
    idle = measure.median(RUNS, reindex, root)
    status = measure.median(RUNS, ["git", "status"], root)
    one = measure.median(RUNS, reindex, root, edit)
    asked = measure.median(RUNS, [*INDEXER, "search", "QuerySet.filter"], root)
    return {
        "cold, CPU s": cold.cpu,
        "cold, wall s": cold.wall,
        "cold, peak MB": memory,
        "index, MB": sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / 1e6,
        "nothing changed, wall s": idle.wall,
        "nothing changed / git status": idle.wall / status.wall,
        "one function changed, wall s": one.wall,
        "search, wall s": asked.wall,
        "git status, wall s": status.wall,
    }


def main() -> None:
    """Measure, print, and keep the figures for the next time."""
    kept = corpora.cache() / "figures.json"
    previous = json.loads(kept.read_text()) if kept.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        now = figures(lay(Path(folder)))
    print(f"Django {corpora.SDISTS['django']}, {measure.environment()}")
    print(f"{'':32}{'now':>10}{'before':>10}{'ratio':>8}")
    for name, value in now.items():
        before = previous.get(name)
        rest = f"{before:10.3f}{value / before:8.2f}" if before else ""
        print(f"{name:32}{value:10.3f}{rest}")
    kept.write_text(json.dumps(now, indent=1))


if __name__ == "__main__":
    main()
