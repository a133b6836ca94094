"""Every corruption that `fixtures.corrupt.make` knows: `check` names it, each time in one line, and `--repair` mends it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from fixtures.corrupt import make
from indexer import check as checking
from indexer.check import Findings, check, differences
from indexer.errors import IndexerError
from indexer.oneshot import View, answer
from indexer.reindex import reindex
from indexer.search import Request
from indexer.store import Snapshot, inspect, make_private, open_snapshot
from indexer.store.format import ARRAYS
from tests.watch.namespaced import drop_rights

QUESTIONS = ["Store.commit", "helper", "rows", "added", "Fourth", "renderPage", "locks", "queue", "third"]
# One of each kind; the others take minutes.
SHORT = {
    "torn manifest", "missing manifest", "stale previous manifest", "stale manifest", "no manifests",
    "manifest of another version", "missing folder segment", "swapped segments", "torn file segment",
    "bit flip in vectors", "bit flip in body_rows", "a folder in the place of the manifest",
    "a pipe in the place of a file segment", "a link in the place of an array", "everything empty", "orphans",
    "git is not kept away", "postings of contents out of range", "postings in each other's place",
    "a line that is wrong", "a hash that is wrong", "open to others",
}  # fmt: skip


@dataclass
class Case:
    """A tree with a sound index, a copy of that, and what a new index of the tree holds."""

    root: Path
    good: Path
    new: Snapshot

    def __post_init__(self) -> None:
        self.space = make.space_of(self.root)
        self.index = self.space.index_dir

    def restore(self) -> None:
        if self.index.is_dir():
            make_private(self.index)
            shutil.rmtree(self.index)
        shutil.copytree(self.good, self.index, symlinks=True)

    def harm(self, corruption: make.Corruption) -> None:
        self.restore()
        corruption.harm(self.index)

    def answers(self, snapshot: Snapshot) -> list[object]:
        return [answer(self.space, View(snapshot, ""), Request(question)).hits for question in QUESTIONS]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return lay_case(tmp_path_factory.mktemp("corrupt"))


def lay_case(folder: Path) -> Case:
    index = make.lay(folder / "root")
    shutil.copytree(index, folder / "good")
    shutil.rmtree(index)
    return Case(folder / "root", folder / "good", reindex(make.space_of(folder / "root")).snapshot)


def found_and_mended(case: Case, corruption: make.Corruption) -> Findings:
    case.harm(corruption)
    findings = check(case.space, repair=True)
    told = "\n".join(findings.problems)
    assert [word for word in corruption.words if word not in told] == [], findings.problems
    assert [line for line in findings.problems if "\n" in line] == []
    assert findings.repaired, findings.problems
    assert inspect(case.index) == []
    now = open_snapshot(case.index)
    assert differences(now, case.new) == []
    assert case.answers(now) == case.answers(case.new)
    return findings


ALL = [pytest.param(name, marks=() if name in SHORT else pytest.mark.slow) for name in make.CORRUPTIONS]


@pytest.mark.parametrize("name", ALL)
def test_it_is_named_and_mended(case: Case, name: str) -> None:
    found_and_mended(case, make.CORRUPTIONS[name])


def test_the_short_list_names_what_there_is() -> None:
    assert make.CORRUPTIONS.keys() >= SHORT


@pytest.mark.parametrize("name", [f"bit flip in {array}" for array in ARRAYS])
def test_a_bit_that_flipped_is_named_in_one_line(case: Case, name: str) -> None:
    corruption = make.CORRUPTIONS[name]
    case.harm(corruption)
    (line,) = inspect(case.index)
    assert [word for word in corruption.words if word not in line] == []


def test_a_sound_index_is_clean(case: Case) -> None:
    case.restore()
    assert inspect(case.index) == []
    findings = check(case.space, repair=True)
    assert (findings.problems, findings.repaired) == ((), False)


def test_a_check_that_looks_at_less_misses_some(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted faults: the checksums left out, and the tables."""
    monkeypatch.setattr(checking, "inspect", lambda index_dir: [])
    with pytest.raises(AssertionError):
        found_and_mended(case, make.CORRUPTIONS["bit flip in vectors"])
    monkeypatch.undo()
    monkeypatch.setattr(checking, "differences", lambda mine, new: [])
    with pytest.raises(AssertionError):
        found_and_mended(case, make.CORRUPTIONS["a line that is wrong"])


@pytest.mark.parametrize("name", ["torn manifest", "a folder in the place of the manifest", "orphans"])
def test_the_command_says_so(case: Case, name: str) -> None:
    case.harm(make.CORRUPTIONS[name])
    words = [sys.executable, "-m", "indexer", "check", str(case.root)]
    done = subprocess.run([*words, "--repair"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("mended: ")
    done = subprocess.run([*words, "--json"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, json.loads(done.stdout)["problems"]) == (0, [])


def test_what_is_not_there_is_not_corrupt(case: Case) -> None:
    """An empty folder, whoever made it."""
    case.restore()
    shutil.rmtree(case.index)
    case.index.mkdir(mode=0o755)
    assert inspect(case.index) == []
    with suppress(IndexerError):
        check(case.space)
        raise AssertionError("there is no index")


def test_what_may_not_be_read(tmp_path: Path) -> None:
    """Takes another user than root, or one who gives up his rights."""
    words = ["unshare", "-Urm", sys.executable, "-m", "tests.test_corrupt", str(tmp_path)]
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no name spaces here")
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    drop_rights()
    shut = lay_case(Path(sys.argv[1]))
    for what, one in make.SHUT.items():
        print(what, flush=True)
        found_and_mended(shut, one)
