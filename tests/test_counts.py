"""The counts that stand for speed, exactly: what is opened, hashed, embedded, synced and started, whatever the machine.

Each was chosen to hang on the change alone: a tree twice as large has the same counts for the same edit. Which files a
run opens, and what an edit of each kind embeds, is in `tests.test_incremental`. What is loaded, module by module: by the
client in `tests.cli.test_daemon`, by a run that finds nothing in `tests.test_standing`, and not by a daemon before its
first answer in `tests.serve.test_first_answer`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import xxhash

from indexer import tokens
from indexer.chunk import cutting, worker
from indexer.reindex import Indexer, reindex
from indexer.scan import read
from tests.counting import Counting, workspace
from tests.trees import age, commit, git
from tests.world import CutHere

FUNCTIONS = 3  # in each file, so that each is so many chunks and as many contents


def text_of(number: int) -> str:
    return "".join(f"def f{number}_{at}(x):\n    return x + {number}\n\n\n" for at in range(FUNCTIONS))


def tree(root: Path, files: int) -> Path:
    """Files of a few functions in two folders of a git repository, as old as need be."""
    for number in range(files):
        path = root / ("one" if number % 2 else "two") / f"m{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(number))
    git(root, "init", "-q", "-b", "main")
    commit(root)
    age(root)
    return root


@pytest.fixture(params=[8, 24])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Trees of two sizes: whatever is counted must not hang on that."""
    return tree(tmp_path / "tree", request.param)


def edited(root: Path) -> Path:
    """One function of one file changed."""
    path = root / "one" / "m1.py"
    path.write_text(path.read_text().replace("return x + 1", "return x - 1", 1))
    age(root)
    return path


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each content that is hashed from now on."""
    sizes: list[int] = []

    def digest(data: bytes) -> bytes:
        sizes.append(len(data))
        return xxhash.xxh3_128_digest(data)

    monkeypatch.setattr(read, "xxhash", SimpleNamespace(xxh3_128_digest=digest))
    return sizes


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is made durable from now on: the name of each file or directory."""
    names: list[str] = []
    for function in ("fsync", "fdatasync"):
        real: Callable[[int], None] = getattr(os, function)

        def noted(descriptor: int, real: Callable[[int], None] = real) -> None:
            names.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
            real(descriptor)

        monkeypatch.setattr(os, function, noted)
    return names


_watching: list[list[str]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching:
        return
    if event == "os.fork":
        _watching[-1].append("fork")
    elif event in {"os.posix_spawn", "subprocess.Popen"}:
        command = arguments[1]
        assert isinstance(command, list)
        # What git is asked; what comes before is how it is kept from running anything of the repository's.
        _watching[-1].append(" ".join(command[command.index("safe.bareRepository=explicit") + 1 :]))


@cache
def _hooked() -> None:
    sys.addaudithook(_hook)  # there is no taking it away again


@contextmanager
def started() -> Iterator[list[str]]:
    """What git is asked meanwhile, and ``fork`` for each parser process; any other program is an error."""
    _hooked()
    programs: list[str] = []
    _watching.append(programs)
    try:
        yield programs
    finally:
        _watching.remove(programs)


def test_what_is_hashed_is_what_changed(root: Path, hashed: list[int]) -> None:
    sizes = [path.stat().st_size for path in root.rglob("*.py")]
    reindex(workspace(root))
    assert sorted(hashed) == sorted(sizes)
    hashed.clear()
    reindex(workspace(root))
    assert hashed == []
    path = edited(root)
    reindex(workspace(root))
    assert hashed == [path.stat().st_size]


def test_each_content_is_embedded_once(root: Path) -> None:
    counting = Counting()
    outcome = reindex(workspace(root, counting))
    files = len(list(root.rglob("*.py")))
    assert counting.texts == outcome.report.embedded == outcome.snapshot.content_count == files * FUNCTIONS
    edited(root)
    assert reindex(workspace(root, counting)).report.embedded == 1
    assert counting.texts == files * FUNCTIONS + 1


def test_each_content_is_tokenised_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the parsers, who are told what a file was cut into before: of its other chunks they make keys alone."""
    texts: list[bytes] = []

    def count_terms(those: list[bytes]) -> tokens.TermCounts:
        texts.extend(those)
        return tokens.count_terms(those)

    monkeypatch.setattr(cutting, "tokens", SimpleNamespace(count_terms=count_terms))
    monkeypatch.setattr(worker, "Pool", CutHere)
    reindex(workspace(root))
    assert len(texts) == len(set(texts)) == len(list(root.rglob("*.py"))) * FUNCTIONS
    texts.clear()
    edited(root)
    reindex(workspace(root))
    assert texts == [b"def f1_0(x):\n    return x - 1"]


def test_a_generation_is_synced_as_often_as_it_must_be(root: Path, synced: list[str]) -> None:
    """The new segment, the manifest before its rename, the directory for both renames, and again for the clearing up."""
    a_generation = ["SEGMENT", "MANIFEST", ".indexer", ".indexer"]
    reindex(workspace(root))
    assert kinds(synced) == [root.name, *a_generation]  # the root, since the index is new in it
    synced.clear()
    reindex(workspace(root))
    assert synced == []
    edited(root)
    reindex(workspace(root))
    assert kinds(synced) == a_generation


def kinds(names: list[str]) -> list[str]:
    """Names of files of the index without what is different each time."""
    return [
        re.sub(r"^tmp-g.*\.seg$", "SEGMENT", re.sub(r"^tmp-manifest.*", "MANIFEST", name)) for name in names
    ]


def test_a_save_under_the_daemon_looks_at_that_file_alone(
    root: Path, hashed: list[int], synced: list[str]
) -> None:
    """As the daemon's updater does it: the rules are known, and the path is told."""
    space = workspace(root)
    with Indexer(space) as indexer:
        indexer.scan()
        path = edited(root)
        hashed.clear()
        synced.clear()
        with started() as programs:
            report = indexer.update([path.relative_to(root).as_posix()]).report
    assert (report.files.scanned, report.files.modified, report.embedded) == (1, 1, 1)
    assert hashed == [path.stat().st_size]
    assert kinds(synced) == ["SEGMENT", "MANIFEST", ".indexer", ".indexer"]
    assert programs == []


def test_a_run_that_finds_nothing_starts_git_and_no_parser(root: Path) -> None:
    reindex(workspace(root))
    with started() as programs:
        reindex(workspace(root))
    assert programs == [
        "rev-parse --show-prefix --absolute-git-dir --git-common-dir --show-toplevel",
        "ls-files -co --exclude-standard -z",
        "ls-files -c -z",
    ]


_CALLS = "%file,read,write,getdents64,fsync,fdatasync"


def calls(root: Path, log: Path) -> Counter[str]:
    """The system calls about files that a run over a tree makes, by name; git's own are not among them."""
    command = [sys.executable, "-P", "-m", "indexer", "reindex", str(root), "--quiet"]
    strace = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={_CALLS}"]
    subprocess.run([*strace, *command], check=True, cwd=root.parent)
    lines = [line.split(maxsplit=1) for line in log.read_text(errors="replace").splitlines()]
    mine = [call for process, call in lines if process == lines[0][0] and re.match(r"\w+\(", call)]
    return Counter(call.partition("(")[0] for call in mine)


@pytest.mark.skipif(not shutil.which("strace"), reason="there is no strace here")
def test_a_file_that_has_not_changed_is_one_system_call(tmp_path: Path) -> None:
    """A run that finds nothing, over two trees, whose indexes are both large enough to be mapped (`disk.MAP_FROM`)."""
    counts = []
    for files in (100, 160):
        root = tree(tmp_path / f"of{files}", files)
        reindex(workspace(root))
        counts.append(calls(root, tmp_path / "log"))
    few, many = counts
    more = {name: many[name] - few[name] for name in many | few if many[name] != few[name]}
    assert more == {"newfstatat": 60}, (few, many)
    assert not {"fsync", "fdatasync", "rename", "unlink", "mkdir"} & many.keys()
