"""Only what changed is paid for (invariant 2), counted from outside: files opened and texts embedded."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from indexer.reindex import reindex
from indexer.reindex.batch import Waiting
from indexer.reindex.run import Run
from indexer.scan.diff import Suspects
from tests.benchmarks import corpora
from tests.counting import Counting, command, opened_of, workspace
from tests.trees import REPO, age, commit, files_of, git, real_tree, under_git

# Read for their rules by each run, whether they have changed or not.
RULES = {".gitignore", ".gitmodules", ".gitattributes"}


class Subject(NamedTuple):
    """A tree to work on: how it is laid, a folder to move, and a function of a file to edit."""

    lay: Callable[[Path], Path]
    folder: str
    file: str
    function: str


def corpus(name: str) -> Callable[[Path], Path]:
    return lambda root: under_git(corpora.folder(name), root)


SUBJECTS = {
    "installed": Subject(real_tree, "pluggy", "watchdog/utils/patterns.py", "def match_any_paths("),
    "itself": Subject(
        lambda root: under_git(REPO, root), "indexer/store", "indexer/config.py", "def index_dir("
    ),
    "flask": Subject(corpus("flask"), "src/flask", "src/flask/app.py", "def make_response("),
    "django": Subject(corpus("django"), "django/db", "django/db/models/query.py", "def bulk_create("),
    "sympy": Subject(corpus("sympy"), "sympy/core", "sympy/core/expr.py", "def sort_key("),
    "go": Subject(corpus("go"), "net", "bufio/scan.go", "func (s *Scanner) Scan("),
}
LARGE = ("flask", "django", "sympy", "go")


@pytest.fixture(
    scope="module", params=[pytest.param(n, marks=pytest.mark.slow if n in LARGE else ()) for n in SUBJECTS]
)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


@pytest.fixture(scope="module")
def indexed(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of real code, indexed once; each test works on it and leaves it indexed."""
    root = subject.lay(tmp_path_factory.mktemp("tree"))
    reindex(workspace(root))
    return root


def embedded(root: Path) -> int:
    counting = Counting()
    age(root)
    outcome = reindex(workspace(root, counting))
    assert counting.texts == outcome.report.embedded
    return counting.texts


def names_in(root: Path) -> set[str]:
    return {path.name for path in files_of(root) if not path.is_symlink()} - RULES


def test_the_first_run_opens_each_file_once(tmp_path: Path) -> None:
    root = real_tree(tmp_path / "tree")
    run = command(tmp_path / "log", "reindex", root, "--json")
    assert run.status == 0, run.err
    opened = opened_of(run, root, names_in(root))
    assert run.json["files"]["added"] > 50
    assert len(opened) == run.json["files"]["scanned"] - sum(path.name in RULES for path in files_of(root))


def test_a_text_is_let_go_when_it_has_been_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Run] = []
    real = Run.go

    def go(self: Run, suspects: Suspects) -> None:
        runs.append(self)
        real(self, suspects)

    monkeypatch.setattr(Run, "go", go)
    reindex(workspace(real_tree(tmp_path / "tree")))
    kept = [same.text for same in runs[0]._same.values() if isinstance(same, Waiting)]
    assert len(kept) > 50
    assert not any(kept)


def test_a_second_run_opens_and_embeds_nothing(indexed: Path, tmp_path: Path) -> None:
    run = command(tmp_path / "log", "reindex", indexed, "--json")
    assert run.status == 0, run.err
    assert opened_of(run, indexed, names_in(indexed)) == []
    assert run.json["embedded"] == 0
    assert run.json["files"]["unchanged"] == run.json["files"]["scanned"]


def test_the_counter_sees_what_is_opened(indexed: Path, subject: Subject, tmp_path: Path) -> None:
    target = indexed / subject.file
    target.write_bytes(target.read_bytes() + b"\n\n")
    run = command(tmp_path / "log", "reindex", indexed, "--json")
    assert opened_of(run, indexed, names_in(indexed)) == [target.name]
    git(indexed, "checkout", "-q", ".")
    embedded(indexed)


def edit_nothing_but_touch(root: Path, folder: str) -> None:
    for path in files_of(root):
        path.touch()


def move_a_directory(root: Path, folder: str) -> None:
    git(root, "mv", folder, "renamed_folder")


def insert_a_line_at_the_top(root: Path, folder: str) -> None:
    for path in (root / folder).rglob("*"):
        if path.suffix in {".py", ".go", ".c"} and path.stat().st_size and path.is_file():
            path.write_bytes(b"\n" + path.read_bytes())


def copy_a_directory(root: Path, folder: str) -> None:
    shutil.copytree(root / folder, root / "copied_folder")


def delete_a_directory(root: Path, folder: str) -> None:
    shutil.rmtree(root / folder)


def rewrite_the_same_bytes(root: Path, folder: str) -> None:
    for path in files_of(root / folder):
        replacement = path.with_name("." + path.name + ".tmp")
        replacement.write_bytes(path.read_bytes())
        replacement.replace(path)


@pytest.mark.parametrize(
    "edit",
    [
        edit_nothing_but_touch,
        move_a_directory,
        insert_a_line_at_the_top,
        copy_a_directory,
        delete_a_directory,
        rewrite_the_same_bytes,
    ],
)
def test_nothing_is_embedded(indexed: Path, subject: Subject, edit: Callable[[Path, str], None]) -> None:
    edit(indexed, subject.folder)
    assert embedded(indexed) == 0
    git(indexed, "reset", "-q", "--hard")
    git(indexed, "clean", "-fdq", "-e", ".indexer")
    assert embedded(indexed) == 0


def test_only_the_changed_function_is_embedded(indexed: Path, subject: Subject) -> None:
    path = indexed / subject.file
    text = path.read_text(encoding="utf-8")
    body = text.index("return", text.index(subject.function)) + len("return")
    path.write_text(f"{text[:body]} {text[body:]}", encoding="utf-8")
    count = embedded(indexed)
    # A function that is too large for one chunk is some parts, of which the edit may touch two.
    assert 1 <= count <= 2
    git(indexed, "checkout", "-q", ".")
    assert embedded(indexed) == 0


def test_switching_branches_and_back_embeds_nothing(indexed: Path) -> None:
    git(indexed, "checkout", "-q", "-b", "other")
    for number, path in enumerate(files_of(indexed)):
        if path.suffix == ".py" and number % 3 == 0 and not path.is_symlink():
            path.write_bytes(path.read_bytes() + f"\n\ndef added_{number}():\n    return {number}\n".encode())
    (indexed / "new.py").write_text("def quite_new():\n    return 'here'\n")
    commit(indexed)
    assert embedded(indexed) > 0
    git(indexed, "checkout", "-q", "main")
    assert embedded(indexed) == 0
    git(indexed, "checkout", "-q", "other")
    assert embedded(indexed) == 0
    git(indexed, "checkout", "-q", "main")
    assert embedded(indexed) == 0


def test_a_rename_is_counted_as_one(indexed: Path, subject: Subject) -> None:
    (indexed / subject.file).rename(indexed / f"{subject.file[:-3]}_renamed{subject.file[-3:]}")
    age(indexed)
    report = reindex(workspace(indexed)).report
    assert (report.files.renamed, report.files.added, report.files.removed) == (1, 0, 0)
    git(indexed, "reset", "-q", "--hard")
    git(indexed, "clean", "-fdq", "-e", ".indexer")
    embedded(indexed)


def test_a_racy_file_is_opened_once_more_and_then_settled(indexed: Path, tmp_path: Path) -> None:
    path = indexed / "racy.py"
    path.write_text("def a(): pass\n")
    reindex(workspace(indexed))  # within the clock tick of the writing
    age(indexed)
    opened = [
        opened_of(command(tmp_path / "log", "reindex", indexed, "--json"), indexed, {"racy.py"})
        for _ in range(2)
    ]
    assert opened[1] == []
    assert len(opened[0]) <= 1
    path.unlink()
    embedded(indexed)


def test_unindexable_files_are_opened_once(indexed: Path, tmp_path: Path) -> None:
    """S-005: what turned out to be no text is left alone until it changes."""
    names = {f"noise{number}.txt" for number in range(20)}
    for name in names:
        (indexed / name).write_bytes(b"\x00\x01\x02" * 50)
    age(indexed)
    first = command(tmp_path / "log", "reindex", indexed, "--json")
    assert sorted(opened_of(first, indexed, names)) == sorted(names)
    second = command(tmp_path / "log", "reindex", indexed, "--json")
    assert opened_of(second, indexed, names) == []
    assert second.json["files"]["skipped"] >= 20
    for name in names:
        (indexed / name).unlink()
    embedded(indexed)
