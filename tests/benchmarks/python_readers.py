"""Whether both readers of Python find the same in real files.

Usage: ``python -m tests.benchmarks.python_readers PATH...``. Prints the files that differ and one row: files, refused
by `ast`, with an error in the grammar's tree, equal, different.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tree_sitter_language_pack import get_language

from indexer.chunk import python, python_tree
from indexer.chunk.tree import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from indexer.chunk.spans import Definition


def compare(text: bytes) -> str:
    """How a text is read: refused, error, equal or different."""
    by_ast = python.outline_by_ast(text)
    if by_ast is None:
        return "refused"
    by_tree = python_tree.outline(text)
    if _sorted(by_ast.definitions) == _sorted(by_tree.definitions) and by_ast.imports == by_tree.imports:
        return "equal"
    tree = parse(get_language("python"), text)
    return "error" if isinstance(tree, str) or tree.root_node.has_error else "different"


def _sorted(definitions: Iterable[Definition]) -> list[Definition]:
    return sorted(definitions, key=lambda each: (each.start, -each.end))


def main(paths: Iterable[str]) -> int:
    counts: Counter[str] = Counter()
    for path in paths:
        for file in sorted(Path(path).rglob("*.py")):
            result = compare(file.read_bytes()) if file.is_file() else "refused"
            counts[result] += 1
            if result in {"different", "error"}:
                sys.stdout.write(f"{result}: {file}\n")
    row = " | ".join(f"{counts[key]} {key}" for key in ("refused", "error", "equal", "different"))
    sys.stdout.write(f"| {sum(counts.values())} files | {row} |\n")
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
