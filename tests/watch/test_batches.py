"""What becomes of single changes: which paths a batch holds, when it comes, and what raises none."""

from __future__ import annotations

import mmap
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.watch import Batch
from tests.scan.trees import git, repository, write
from tests.watch.observing import Eye

Watching = Callable[..., Eye]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(
        tmp_path / "root", {"f.py": "x = 1\n", "pkg/m.py": "y = 2\n", ".gitignore": "out/\n*.log\n"}
    )


# --- saves


def in_place(file: Path) -> None:
    """As VS Code: truncated and written."""
    file.write_text("in place\n")


def as_vim(file: Path) -> None:
    """With backupcopy=no: the old file becomes the backup, and goes when the new one is written."""
    probe = file.parent / "4913"
    probe.write_text("")
    probe.unlink()
    backup = file.with_name(file.name + "~")
    file.rename(backup)
    file.write_text("as vim\n")
    file.chmod(0o644)
    backup.unlink()


def as_jetbrains(file: Path) -> None:
    new, old = (file.with_name(f"{file.name}___jb_{word}___") for word in ("tmp", "old"))
    new.write_text("as jetbrains\n")
    file.rename(old)
    new.rename(file)
    old.unlink()


def as_emacs(file: Path) -> None:
    lock = file.with_name(".#" + file.name)
    lock.symlink_to("me@here.1:1")
    file.rename(file.with_name(file.name + "~"))
    file.write_text("as emacs\n")
    lock.unlink()
    file.with_name(file.name + "~").unlink()


def by_renaming(file: Path) -> None:
    other = file.with_name("." + file.name + ".tmp")
    other.write_text("renamed over\n")
    other.replace(file)


def by_sed(file: Path) -> None:
    subprocess.run(["sed", "-i", "s/1/2/", file.name], cwd=file.parent, check=True)


def by_vim_itself(file: Path) -> None:
    if not shutil.which("vim"):
        pytest.skip("no vim here")
    words = ["vim", "-u", "NONE", "-es", "-c", "set backupcopy=no", "-c", "%s/1/3/", "-c", "wq", file.name]
    subprocess.run(words, cwd=file.parent, check=True, stdin=subprocess.DEVNULL)


def through_a_mapping(file: Path) -> None:
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as mapping:
        mapping[0:1] = b"z"


def its_rights(file: Path) -> None:
    file.chmod(0o600)


SAVES = [
    in_place, as_vim, as_jetbrains, as_emacs, by_renaming, by_sed, by_vim_itself, through_a_mapping, its_rights,
]  # fmt: skip


@pytest.mark.parametrize("save", SAVES)
def test_a_save_is_one_dirty_file(root: Path, watching: Watching, save: Callable[[Path], None]) -> None:
    eye = watching(root)
    save(root / "f.py")
    seen = eye.sync()
    assert {path for path in seen.paths if (root / path).exists()} == {"f.py"}
    assert not seen.trees
    assert not seen.rescans
    assert not seen.rules_changed


@pytest.mark.parametrize("save", SAVES)
def test_a_save_settles_into_one_batch(root: Path, watching: Watching, save: Callable[[Path], None]) -> None:
    eye = watching(root, settle_ms=500, max_wait_ms=10_000)
    save(root / "f.py")
    assert "f.py" in eye.wait().paths
    assert eye.watch.next_batch(0.6) is None


# --- directories


def test_files_made_right_after_their_folders(root: Path, watching: Watching) -> None:
    eye = watching(root)
    subprocess.run("mkdir -p a/b/c && echo 'def z(): pass' > a/b/c/z.py", shell=True, cwd=root, check=True)
    assert eye.sync().covers("a/b/c/z.py")
    (root / "a/b/c/z.py").write_text("later\n")
    assert eye.sync().paths == {"a/b/c/z.py"}


def test_a_folder_moved_within_keeps_its_watches(root: Path, watching: Watching) -> None:
    eye = watching(root)
    write(root, {f"pkg/{n}/x.py": "" for n in range(30)})
    eye.sync()
    before = set(eye.native._tree.book.by_wd)
    (root / "pkg").rename(root / "moved")
    assert eye.sync().trees == {"pkg", "moved"}
    assert set(eye.native._tree.book.by_wd) == before
    (root / "moved/7/x.py").write_text("1")
    assert eye.sync().paths == {"moved/7/x.py"}


def test_a_link_in_the_place_of_a_folder(root: Path, tmp_path: Path, watching: Watching) -> None:
    """Whether the folder went elsewhere in the tree, or away, or was there for a moment only."""
    for place in (root / "moved", tmp_path / "away", None):
        write(root, {"was/x.py": ""})
        eye = watching(root)
        if place is None:
            shutil.rmtree(root / "was")
        else:
            (root / "was").rename(place)
        (root / "was").symlink_to("pkg")
        assert "was" in eye.sync().trees
        (root / "was").unlink()
    eye = watching(root)
    write(root, {"was/x.py": ""})
    shutil.rmtree(root / "was")
    (root / "was").symlink_to("pkg")
    assert "was" in eye.sync().trees


def test_in_out_and_across_ignored_folders(root: Path, tmp_path: Path, watching: Watching) -> None:
    write(root, {"pkg/deep/a.py": "", "out/deep/b.py": "", "out/c.py": ""})
    eye = watching(root)
    for source, target in [
        (root / "pkg/deep", root / "out/was_in"),
        (root / "out/deep", root / "pkg/was_out"),
        (root / "pkg/was_out", tmp_path / "away"),
        (tmp_path / "away", root / "pkg/back"),
        (root / "out", root / "seen"),
        (root / "seen", root / "out"),
    ]:
        before = eye.scan()
        source.rename(target)
        assert eye.uncovered(before, eye.sync()) == []
        assert eye.wrong_watches() == []


def test_two_folders_change_places(root: Path, tmp_path: Path, watching: Watching) -> None:
    write(root, {"pkg/in/a.py": "1", "other/in/b.py": "2"})
    eye = watching(root)
    (root / "pkg").rename(tmp_path / "x")
    (root / "other").rename(root / "pkg")
    (tmp_path / "x").rename(root / "other")
    assert eye.sync().trees == {"pkg", "other"}
    assert eye.wrong_watches() == []
    (root / "pkg/in/b.py").write_text("3")
    assert eye.sync().paths == {"pkg/in/b.py"}


def test_the_inside_turned_out(root: Path, watching: Watching) -> None:
    """A folder ends below what was below it."""
    write(root, {"a/b/x.py": "1"})
    eye = watching(root)
    (root / "a/b").rename(root / "b")
    (root / "a").rename(root / "b/a")
    eye.sync()
    assert eye.wrong_watches() == []
    (root / "b/a/y.py").write_text("")
    assert eye.sync().paths == {"b/a/y.py"}


def test_ignored_folders_cost_nothing(root: Path, watching: Watching) -> None:
    for n in range(2000):
        (root / f"out/{n}").mkdir(parents=True)
    eye = watching(root)
    assert eye.watch.state().directories == 2
    (root / "out/7/x.py").write_text("")
    (root / "noise.log").write_text("")
    seen = eye.sync()
    assert (seen.paths, seen.trees, seen.rescans) == (set(), set(), [])


def test_a_tracked_file_in_an_ignored_folder_is_watched(root: Path, watching: Watching) -> None:
    write(root, {"out/kept/t.py": "", "out/other/u.py": ""})
    git(root, "add", "-f", "out/kept/t.py")
    eye = watching(root)
    (root / "out/kept/t.py").write_text("1")
    (root / "out/other/u.py").write_text("1")
    assert eye.sync().paths == {"out/kept/t.py"}
    assert eye.wrong_watches() == []


def test_our_own_folder_and_git_are_never_told(root: Path, watching: Watching) -> None:
    eye = watching(root)
    write(root, {".indexer/manifest.json": "{}", ".git/objects/aa/bb": "", "pkg/.indexer/x": ""})
    seen = eye.sync()
    assert (seen.paths, seen.trees, seen.rules_changed) == (set(), set(), 0)


def test_reading_is_no_change(root: Path, watching: Watching) -> None:
    eye = watching(root)
    for _ in range(3):
        eye.scan()
        (root / "f.py").read_text()
    assert eye.watch.next_batch(0.2) is None


# --- when batches come


def test_a_burst_is_one_batch(root: Path, watching: Watching) -> None:
    eye = watching(root, settle_ms=800, max_wait_ms=20_000)
    for n in range(50):
        (root / f"n{n}.py").write_text("")
        time.sleep(0.002)
    assert eye.wait().paths == {f"n{n}.py" for n in range(50)}


def test_a_burst_without_end_is_told_all_the_same(root: Path, watching: Watching) -> None:
    eye = watching(root, settle_ms=1000, max_wait_ms=1500)
    stop = threading.Event()

    def write_on() -> None:
        while not stop.wait(0.01):
            (root / "f.py").write_text("again")

    writer = threading.Thread(target=write_on)
    writer.start()
    try:
        assert eye.wait().paths == {"f.py"}
        assert writer.is_alive()
    finally:
        stop.set()
        writer.join()


def test_a_cookie_does_not_wait_for_the_settling(root: Path, watching: Watching) -> None:
    eye = watching(root, settle_ms=10_000, max_wait_ms=60_000)
    (root / "f.py").write_text("2")
    started = time.monotonic()
    assert eye.sync().paths == {"f.py"}
    assert time.monotonic() - started < 5


def test_flush_gives_what_there_is(root: Path, watching: Watching) -> None:
    eye = watching(root, settle_ms=10_000, max_wait_ms=60_000)
    eye.watch.flush()
    assert eye.watch.next_batch(5) == Batch()
    (root / "f.py").write_text("2")
    time.sleep(0.1)
    eye.watch.flush()
    assert eye.wait().paths == {"f.py"}


def test_nothing_is_told_twice(root: Path, watching: Watching) -> None:
    eye = watching(root)
    (root / "f.py").write_text("2")
    assert eye.sync().paths == {"f.py"}
    assert eye.sync().paths == set()
    assert eye.watch.next_batch(0.05) is None


def test_close_lets_go(root: Path, watching: Watching) -> None:
    eye = watching(root)
    closer = threading.Timer(0.1, eye.watch.close)
    closer.start()
    assert eye.watch.next_batch() is None
    closer.join()
    assert eye.watch.next_batch() is None
    assert not [thread for thread in threading.enumerate() if type(thread).__name__ == "Reader"]


def test_descriptors_are_closed_and_not_inherited(root: Path) -> None:
    before = set(os.listdir("/proc/self/fd"))
    eye = Eye(root)
    assert not os.get_inheritable(eye.native._reader._inotify_fd)
    eye.sync()
    eye.close()
    assert len(os.listdir("/proc/self/fd")) <= len(before)


def test_an_idle_watch_never_wakes_up(root: Path, watching: Watching) -> None:
    eye = watching(root)
    taker = threading.Thread(target=eye.watch.next_batch)
    taker.start()
    threads = [taker, eye.native._reader]
    time.sleep(0.2)
    before = [_switches(thread) for thread in threads]
    time.sleep(1.5)
    assert [_switches(thread) for thread in threads] == before
    eye.watch.flush()
    taker.join()


def _switches(thread: threading.Thread) -> int:
    lines = Path(f"/proc/self/task/{thread.native_id}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("voluntary_ctxt")).split()[1])
