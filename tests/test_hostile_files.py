"""Invariant 6: whatever a file is or holds, it costs itself at most: it is named with a reason, and all others are indexed.

The long form, 100,000 brackets deep in each grammar and 100 MB on one line: ``pytest -m slow tests/test_hostile_files.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from fixtures.hostile.make import ABSENT, INDEXED, KINDS, LARGE, SMALL, make
from indexer.status import status_of
from indexer.store import open_snapshot
from indexer.workspace import open_workspace
from tests.serve.homes import BOUND, INDEXER, SYNC, Home, home_of_daemons, sound, sync
from tests.serve.troubled import found
from tests.trees import REPO, git

_PEAK = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
print(json.dumps([done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024]))
"""
_OWN = 300_000_000  # what a file may cost its parser
_WITHOUT = 250_000_000  # what the processes have without it
# Without git the tree is walked by ourselves; the contents are the same.
OUTSIDE = [
    "names",
    "folders",
    "special files",
    "links",
    "ignore rules",
    "ignore rules that git takes years for",
]
IN_GIT = [name for name in KINDS if "years" not in name]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with home_of_daemons(monkeypatch) as made:
        yield made


def outcomes(root: Path) -> dict[str, str]:
    """What has become of each path: indexed, or why not."""
    space = open_workspace(root, named=True)
    indexed = dict.fromkeys(open_snapshot(space.index_dir).paths, INDEXED)
    return indexed | {path: reason for path, reason, _ in status_of(space).skipped}


def unlike(became: dict[str, str], allowed: dict[str, frozenset[str]]) -> dict[str, str]:
    """The paths of which something else has become than may, and what; nothing lies there that was not made."""
    wrong = {path: became.get(path, ABSENT) for path in allowed}
    wrong = {path: what for path, what in wrong.items() if what not in allowed[path]}
    return wrong | {
        path: "not made" for path in became.keys() - allowed.keys() if not path.endswith("ignore")
    }


def told(became: dict[str, str], allowed: dict[str, frozenset[str]]) -> str:
    counts = {what: list(became.values()).count(what) for what in sorted(set(became.values()))}
    return f"hostile files: {len(allowed)}, {counts}"


@pytest.mark.parametrize("under_git", [True, False])
def test_each_is_indexed_or_named_and_the_daemon_answers(home: Home, tmp_path: Path, under_git: bool) -> None:
    root = tmp_path / "root"
    kinds = IN_GIT if under_git else OUTSIDE
    allowed = make(root, SMALL, kinds)
    if under_git:
        git(root, "init", "-q")
    home.start(root)
    with home.client(root) as client:
        assert client.request("index/sync", SYNC, timeout=BOUND)["fresh"]
        assert found(client, "well_behaved_0") == [f"{kinds[0]}/good.py"]
        assert client.request("index/status", timeout=BOUND)["problems"] == []
    became = outcomes(root)
    assert unlike(became, allowed) == {}
    if not under_git:
        assert became["special files/pipe.py"] == "special-file"
    print(told(became, allowed))


@pytest.mark.slow
@pytest.mark.parametrize("bytes_allowed", [1_000_000, 100_000_000])
def test_the_worst_of_each_within_the_memory_of_one_file(
    home: Home, tmp_path: Path, bytes_allowed: int
) -> None:
    """With the limit on the size as it is, and as high as it may be set: then a file costs in proportion to its size."""
    root = tmp_path / "root"
    kinds = [name for name in KINDS if bytes_allowed == 1_000_000 or name == "larger than the limit"]
    allowed = make(root, LARGE, kinds)
    git(root, "init", "-q")
    if bytes_allowed > 1_000_000:
        home.settings(f"[scan]\nmax_file_bytes = {bytes_allowed}\n")
        any_end = frozenset({INDEXED, "minified", "timeout", "parser-crashed", "too-large"})
        allowed = dict.fromkeys(allowed, any_end)
    words = [sys.executable, "-c", _PEAK, *INDEXER, "reindex", "--quiet", str(root)]
    done = subprocess.run(words, env=home.environment, capture_output=True, text=True, check=True)
    status, peak = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    became = outcomes(root)
    assert unlike(became, allowed) == {}
    assert became[f"{kinds[0]}/good.py"] == INDEXED
    print(f"{told(became, allowed)}, a peak of {peak / 1e6:.0f} MB")
    assert peak < _OWN + _WITHOUT or bytes_allowed > 1_000_000


@contextmanager
def restless(folder: Path) -> Iterator[None]:
    """Files that grow while they are read, that come and go, that are a folder or a pipe the next moment."""
    folder.mkdir()
    stop = threading.Event()

    def grow() -> None:
        with (folder / "grows.py").open("a", encoding="utf-8") as file:
            while not stop.wait(0.0005) and file.tell() < 400_000:
                file.write("def grown(x):\n    return x\n" * 3)
                file.flush()

    def come_and_go() -> None:
        place, other = folder / "comes.py", folder / "other"
        while not stop.wait(0.0002):
            with suppress(OSError):
                place.write_text("def comes():\n    pass\n" * 50)
                place.unlink()
                place.mkdir()
                place.rmdir()
                os.mkfifo(place)
                place.rename(other)
                other.unlink()
                place.write_text("def truncated():\n    pass\n" * 500)
                os.truncate(place, 10)

    threads = [threading.Thread(target=target) for target in (grow, come_and_go)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_files_that_grow_and_vanish_while_they_are_read(home: Home, tmp_path: Path) -> None:
    root = tmp_path / "root"
    make(root, SMALL, ["names"])
    with restless(root / "live"):
        for _ in range(3):  # one-shot runs, from nothing and not
            assert home.run("reindex", root, cwd=root).returncode == 0
        home.start(root)
        with home.client(root) as client:
            for number in range(10):
                (root / "names" / "good.py").write_text(f"def calm_{number}(): pass\n")
                question = {"query": f"calm_{number}", "freshness": "now"}
                assert client.request("index/search", question, timeout=BOUND)["generation"] > 0
    for path in ("comes.py", "other"):
        with suppress(FileNotFoundError):
            (root / "live" / path).unlink()
    sync(home, root)
    with home.client(root) as client:
        assert found(client, "calm_9") == ["names/good.py"]
        assert found(client, "grown") == ["live/grows.py"]
        assert found(client, "comes") == found(client, "truncated") == []
    home.stop_all()
    sound(home, root)


def test_the_generator_is_a_program(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "fixtures.hostile.make", str(tmp_path / "made"), "names", "special files"]
    done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=True)
    assert "'special files/pipe.py': absent or special-file" in done.stdout.splitlines()


def test_what_may_not_become_of_a_file_is_seen(tmp_path: Path) -> None:
    """The planted faults of the comparison."""
    root = tmp_path / "root"
    allowed = make(root, SMALL, ["binary", "links"])
    (root / "more.py").write_text("x = 1\n")
    open_and_index = subprocess.run([*INDEXER, "reindex", str(root)], check=True, capture_output=True)
    assert open_and_index.returncode == 0
    allowed["links/gone.py"] = frozenset({INDEXED})
    allowed["nowhere.py"] = frozenset({INDEXED})
    assert unlike(outcomes(root), allowed) == {
        "links/gone.py": "symlink",
        "nowhere.py": ABSENT,
        "more.py": "not made",
    }
