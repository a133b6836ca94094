"""Invariant 7: what git lists is what the walk finds and what the predicate says, on generated trees of patterns."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.scan.ignore import Rules
from indexer.settings import ScanSettings

from .trees import found, git, listed_by_git, on_disk, repository, scan, write

NAMES = ["a", "b", "ab", "ba", "a.py", "b.c", ".x", "a b", "é", "*", "[a]", "A", "a-b", "\\a"]
PIECES = [
    *NAMES, "*", "**", "?", "??", "a*", "*a", "*.py", "*.*", "[ab]", "[!a]", "[^a]", "[a-b]", "[[:alpha:]]*",
    "[[:alpha:]", "[]]", "[]-a]", "[a", "a**", "**a", "***", "\\*", "\\[a\\]", "a\\", "\\a", "?*b*", "*a*b*", "[\\]]", "é*", "[é]*",
    "[z-a]", "[a-]", "[-a]", "[[:nope:]]", "[[.]a",
]  # fmt: skip

globs = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("/".join)
lines = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(["", "", "", "!", "!", "/", "!/", "\\!", "#", "\\#", " "]),
    globs,
    st.sampled_from(["", "", "", "/", "/", "/**", "/*", "//", " ", "\\ ", "  ", "\r", "\t", "/ "]),
)
ignore_files = st.lists(lines, max_size=5).map("\n".join)
folders = st.lists(st.sampled_from(NAMES), max_size=3).map("/".join)
tree_paths = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


def make(root: Path, files: set[str]) -> list[str]:
    """Write those of the files that do not stand where a folder of another must be."""
    made = []
    for path in sorted(files, key=lambda p: (-p.count("/"), p)):
        target = root / path
        if target.is_dir() or any(parent.is_file() for parent in target.parents):
            continue
        write(root, {path: "x\n"})
        made.append(path)
    return made


def write_ignore_files(root: Path, name: str, contents: dict[str, str]) -> None:
    for folder, content in contents.items():
        if (root / folder).is_dir() and not (root / folder / name).is_dir():
            (root / folder / name).write_bytes(content.encode())


def assert_one_truth(root: Path, expected: set[str]) -> None:
    """The walk and the predicate agree with what is expected, file by file and folder by folder."""
    section = ScanSettings()
    assert found(scan(root)) == expected
    rules = Rules.load(root, section)
    files, inner = on_disk(root)
    assert {path for path in files if rules.file(path)} == expected
    for folder in inner:
        if not rules.directory(folder):
            assert not [path for path in expected if path.startswith(folder + "/")]


slow = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(
    files=st.sets(tree_paths, min_size=1, max_size=14),
    ignores=st.dictionaries(st.one_of(st.just(""), folders), ignore_files, min_size=1, max_size=3),
    exclude=ignore_files,
    everywhere=ignore_files,
    tracked=st.sets(st.integers(0, 13), max_size=4),
)
def test_walk_and_predicate_are_what_git_lists(
    files: set[str], ignores: dict[str, str], exclude: str, everywhere: str, tracked: set[int]
) -> None:
    root = Path(tempfile.mkdtemp(prefix="scan-"))
    try:
        repository(root)
        made = make(root, files)
        write_ignore_files(root, ".gitignore", ignores)
        (root / ".git/info/exclude").write_bytes(exclude.encode())
        excludes = root / ".git/everywhere"
        excludes.write_bytes(everywhere.encode())
        git(root, "config", "core.excludesFile", str(excludes))
        chosen = [made[n] for n in tracked if n < len(made)]
        if chosen:
            git(root, "--literal-pathspecs", "add", "-f", "--", *chosen)
        assert_one_truth(root, listed_by_git(root))
    finally:
        shutil.rmtree(root)


@slow
@given(
    files=st.sets(tree_paths, min_size=1, max_size=14),
    ignores=st.dictionaries(st.one_of(st.just(""), folders), ignore_files, min_size=1, max_size=3),
    own=st.dictionaries(st.one_of(st.just(""), folders), ignore_files, max_size=2),
)
def test_a_folder_without_git_goes_by_the_same_rules(
    files: set[str], ignores: dict[str, str], own: dict[str, str]
) -> None:
    root = Path(tempfile.mkdtemp(prefix="scan-"))
    try:
        make(root, files)
        write_ignore_files(root, ".gitignore", ignores)
        git(root, "init", "-q")
        by_git = listed_by_git(root)
        shutil.rmtree(root / ".git")
        assert_one_truth(root, by_git)
        # And .indexerignore narrows it as git would narrow by a file of that name.
        write_ignore_files(root, ".indexerignore", own)
        git(root, "init", "-q")
        extra = ["ls-files", "-o", "-z", "--exclude-per-directory=.indexerignore"]
        narrowed = {name.decode("utf-8", "surrogateescape") for name in git(root, *extra).split(b"\0")[:-1]}
        by_both = listed_by_git(root) & narrowed
        assert_one_truth(root, by_both)
        shutil.rmtree(root / ".git")
        assert_one_truth(root, by_both)
    finally:
        shutil.rmtree(root)
