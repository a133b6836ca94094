"""Checks that need a name space of users and mounts: ``unshare -Urm python -m tests.watch.namespaced NAME FOLDER``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.scan.trees import repository, write
from tests.watch.observing import Eye


def mount(*words: str | Path) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def umount(place: Path) -> None:
    subprocess.run(["umount", str(place)], check=True)


def limit(name: str, number: int) -> None:
    Path(f"/proc/sys/user/max_inotify_{name}").write_text(str(number))


def few_watches(folder: Path) -> None:
    """Fifty watches for four hundred folders: the rest is polled, told, and watched when there is room."""
    root = repository(folder / "root")
    write(root, {f"d{i}/e{j}/x.py": "" for i in range(20) for j in range(20)})
    limit("watches", 50)
    eye = Eye(root, poll_seconds=0.3)
    state = eye.watch.state()
    assert state.mode == "inotify", state
    assert 30 < state.directories <= 50, state
    assert all(why.startswith("ENOSPC") for why in state.failed.values()), state
    assert "max_user_watches" in state.problems[0], state
    for n in range(5):
        before = eye.scan()
        write(root, {f"d{i}/e{j}/x.py": str(n) for i in range(20) for j in range(20)})
        write(root, {f"d{n}/new{n}/deep/x.py": ""})
        assert eye.uncovered(before, eye.sync()) == []
    assert eye.wait().trees, "polled though nobody asks"
    limit("watches", 10_000)
    while eye.watch.state().failed:
        eye.wait()
    assert eye.wrong_watches() == []
    eye.sync()
    assert eye.sync().trees == set()
    eye.close()


def no_instance(folder: Path) -> None:
    """No inotify descriptor at all: polling, until there is one."""
    root = repository(folder / "root", {"f.py": ""})
    limit("instances", 0)
    eye = Eye(root, poll_seconds=0.3)
    state = eye.watch.state()
    assert state.mode == "polling", state
    assert "max_user_instances" in state.problems[0], state
    assert eye.wait().rescan
    assert eye.sync().rescans
    limit("instances", 10)
    eye.sync()
    assert eye.watch.state().mode == "inotify"
    (root / "f.py").write_text("1")
    assert eye.sync().paths == {"f.py"}
    eye.close()


def mounted_and_unmounted(folder: Path) -> None:
    """Mounts raise no event; over the root they hide it."""
    root = repository(folder / "root", {"f.py": "", "sub/below.py": ""})
    eye = Eye(root)
    mount("-t", "tmpfs", "x", root / "sub")
    (root / "sub/above.py").write_text("")
    assert eye.sync().covers("sub/above.py")
    assert eye.wrong_watches() == []
    (root / "sub/above.py").write_text("1")
    assert eye.sync().paths == {"sub/above.py"}
    umount(root / "sub")
    assert eye.sync().covers("sub/below.py")
    assert eye.wrong_watches() == []
    mount("-t", "tmpfs", "x", root)
    assert eye.sync().gone
    umount(root)
    seen = eye.sync()
    while not (seen.rescans and seen.rescans[-1] == "the root is back"):
        seen.add(eye.wait())
    eye.sync()
    assert eye.wrong_watches() == []
    eye.close()


def bind_mount(folder: Path) -> None:
    """A folder in two places has one watch: the other place is polled."""
    root = repository(folder / "root", {"one/x.py": "", "two/.keep": ""})
    mount("--bind", root / "one", root / "two")
    eye = Eye(root)
    assert [why for why in eye.watch.state().failed.values() if "same directory" in why], eye.watch.state()
    (root / "one/x.py").write_text("1")
    seen = eye.sync()
    assert seen.covers("one/x.py")
    assert seen.covers("two/x.py")
    eye.close()


def overlay(folder: Path) -> None:
    """All that is done through an overlay is told, whatever layer it was in."""
    mount("-t", "tmpfs", "x", folder)
    write(folder, {"lower/a/x.py": "1", "lower/b/y.py": "2", "upper/.k": "", "work/.k": "", "root/.k": ""})
    layers = f"lowerdir={folder}/lower,upperdir={folder}/upper,workdir={folder}/work"
    (folder / "work/.k").unlink()
    mount("-t", "overlay", "-o", layers, "x", folder / "root")
    root = folder / "root"
    eye = Eye(root)
    (root / "a/x.py").write_text("changed, and so copied up")
    assert eye.sync().paths == {"a/x.py"}
    (root / "a/x.py").write_text("again")
    with (root / "b/y.py").open("a") as file:
        file.write("more")
    (root / "b/new.py").write_text("")
    assert eye.sync().paths == {"a/x.py", "b/y.py", "b/new.py"}
    (root / "b/y.py").unlink()
    (root / "c").mkdir()
    (root / "c/z.py").write_text("")
    seen = eye.sync()
    assert seen.covers("b/y.py")
    assert seen.covers("c/z.py")
    (root / "a/x.py").rename(root / "b/x.py")
    assert eye.sync().paths == {"a/x.py", "b/x.py"}
    assert eye.wrong_watches() == []
    eye.close()


def unreadable(folder: Path) -> None:
    """A folder that may not be read is told and polled, and watched when it may. Takes another user than root."""
    root = repository(folder / "root", {"shut/in/x.py": "", "open/y.py": ""})
    for path in (folder, root, *root.rglob("*")):
        os.chown(path, 0, 0)
    drop_rights()
    (root / "shut").chmod(0o100)
    eye = Eye(root, poll_seconds=60)
    assert eye.watch.state().failed == {"shut": "EACCES: Permission denied"}, eye.watch.state()
    (root / "shut/in/x.py").write_text("1")
    assert eye.sync().covers("shut/in/x.py")
    (root / "shut").chmod(0o700)
    assert eye.sync().covers("shut/in/x.py")
    assert eye.watch.state().failed == {}
    assert eye.wrong_watches() == []
    (root / "shut/in/x.py").write_text("2")
    assert eye.sync().paths == {"shut/in/x.py"}
    eye.close()


def drop_rights() -> None:
    """Stay the user one is, without the right to read what one may not; nor has what is started from here."""
    import ctypes

    CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2  # noqa: N806  (linux/capability.h)
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, data) == 0
    for bit in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
        assert libc.prctl(24, bit, 0, 0, 0) == 0  # PR_CAPBSET_DROP
        data[0] &= ~(1 << bit)
        data[1] &= ~(1 << bit)
    assert libc.capset(header, data) == 0


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))
