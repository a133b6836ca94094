"""The walk where git does not answer, and what it says of files by their kind, name and size."""

# ruff: noqa: PTH102, PTH109, PTH119, PTH123  (paths that are longer than pathlib can handle)

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from indexer.errors import RootError
from indexer.scan.ignore import Rules
from indexer.scan.walk import look
from indexer.settings import ScanSettings
from indexer.types import FileStat, Skipped

from .test_ignore_properties import assert_one_truth
from .trees import commit, found, git, paths, reasons, repository, scan, write

if TYPE_CHECKING:
    from pathlib import Path


def test_nested_ignore_files_count_without_git(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {".gitignore": "*.o\nbuild/\n", "a.c": "", "a.o": "", "build/x.c": "", "lib/.gitignore": "!*.o"},
    )
    write(root, {"lib/l.o": "", "lib/build/y.c": ""})
    assert_one_truth(root, {".gitignore", "a.c", "lib/.gitignore", "lib/l.o"})


def test_repositories_in_a_plain_folder(tmp_path: Path) -> None:
    root = write(tmp_path, {"notes.txt": "", ".gitignore": "*.tmp\nold/\n"})
    one = repository(root / "one", {"gen/kept.py": "", "gen/not.py": "", "a.tmp": "", ".gitignore": "gen/"})
    commit(one, "gen/kept.py")
    repository(root / "old/two", {"b.py": ""})
    assert_one_truth(root, {"notes.txt", ".gitignore", "one/gen/kept.py", "one/.gitignore", "one/a.tmp"})


def test_links_are_not_followed_and_loops_do_not_hang_s115(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.py": ""})
    for root in (tmp_path / "plain", repository(tmp_path / "git")):
        write(root, {"model/m.py": "", "web/w.py": ""})
        (root / "web/libs").symlink_to(root / "model")
        (root / "loop").symlink_to(".")
        (root / "out").symlink_to(outside)
        (root / "link.py").symlink_to("model/m.py")
        (root / "dangling").symlink_to("nowhere")
        result = scan(root)
        assert paths(result) == ["model/m.py", "web/w.py"]
        assert reasons(result) == dict.fromkeys(["dangling", "link.py", "loop", "out", "web/libs"], "symlink")


def test_a_root_that_is_a_link_is_the_same_root_s117(tmp_path: Path) -> None:
    root = repository(tmp_path / "real", {"a.py": "", "b.o": "", ".gitignore": "*.o"})
    (tmp_path / "link").symlink_to(root)
    assert vars(scan(tmp_path / "link")) == vars(scan(root))


def test_pipes_sockets_and_devices(tmp_path: Path) -> None:
    root = write(tmp_path, {"a.py": ""})
    os.mkfifo(root / "pipe.py")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(root / "s"))
        assert reasons(scan(root)) == {"pipe.py": "special-file", "s": "special-file"}
    git(root, "init", "-q")
    git(root, "add", "a.py")
    (root / "a.py").unlink()
    os.mkfifo(root / "a.py")
    assert reasons(scan(root))["a.py"] == "special-file"


def test_sizes(tmp_path: Path) -> None:
    write(tmp_path, {"fits.py": b"x" * 100, "large.py": b"x" * 101, "empty.py": b""})
    result = scan(tmp_path, max_file_bytes=100)
    assert paths(result) == ["empty.py", "fits.py"]
    assert result.skipped == [Skipped("large.py", "too-large", "101 bytes")]


SECRETS = [
    ".env", ".env.local", ".env.production", "deploy/.ENV", "id_rsa", "k/id_ed25519", "cert.p12", "x.PFX", ".netrc", "_netrc",
    ".pgpass", ".git-credentials", ".htpasswd", "a/.aws/credentials", "pass.kdbx", "k.ppk", "app.jks",
]  # fmt: skip
SHARED = [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.production.example",
    "env",
    "id_rsa.pub",
    "credentials",
    "netrc.py",
]


def test_secrets_by_name(tmp_path: Path) -> None:
    for root in (tmp_path / "plain", repository(tmp_path / "git")):
        write(root, dict.fromkeys([*SECRETS, *SHARED], "x"))
        result = scan(root)
        assert sorted(reasons(result)) == sorted(SECRETS)
        assert set(reasons(result).values()) == {"secret"}
        assert sorted(paths(result)) == sorted(SHARED)
    assert {r for p, r in reasons(scan(tmp_path / "plain", secrets=False)).items()} == {"binary"}


def test_binaries_by_suffix(tmp_path: Path) -> None:
    binary = ["a.png", "B.PNG", "a.b.So", "m.pyc", "locale/de/LC_MESSAGES/django.mo", "archive.tar.gz"]
    text = ["png", ".png", "a.ts", "Motor.mo", "a.svg", "so", "x.obj", "mo"]
    result = scan(write(tmp_path, dict.fromkeys([*binary, *text], "x")))
    assert sorted(reasons(result)) == sorted(binary)
    assert sorted(paths(result)) == sorted(text)


def test_a_single_path_is_judged_as_the_walk_judges_it(tmp_path: Path) -> None:
    root = repository(tmp_path, dict.fromkeys([*SECRETS, *SHARED, "B.PNG", "a.py", "no.o"], "x"))
    write(root, {".gitignore": "*.o", "large.py": b"x" * 2000})
    (root / "link").symlink_to("a.py")
    section = ScanSettings(max_file_bytes=1000)
    result = scan(root, max_file_bytes=1000)
    rules = Rules.load(root, section)
    verdicts: list[FileStat | Skipped] = [*result.files, *result.skipped]
    for verdict in verdicts:
        assert look(rules, verdict.path, section) == verdict
    for path in ("no.o", "not/there.py", ".git/HEAD", "a.py/under"):
        assert look(rules, path, section) is None
    assert isinstance(look(rules, "a.py", section), FileStat)


def test_an_unknown_root_is_an_error_and_not_an_empty_tree(tmp_path: Path) -> None:
    write(tmp_path, {"file": ""})
    for root in (tmp_path / "missing", tmp_path / "file"):
        with pytest.raises(RootError, match="is not a folder"):
            Rules.load(root, ScanSettings())


def test_order_is_that_of_the_bytes(tmp_path: Path) -> None:
    names = [
        "b",
        "a/b",
        "a.b",
        "a-b",
        "Z",
        "\uffee",
        "\U00010000",
        os.fsdecode(b"\xff"),
        os.fsdecode(b"\xed"),
        "é",
    ]
    write(tmp_path, dict.fromkeys(names, ""))
    assert paths(scan(tmp_path)) == sorted(names, key=os.fsencode)
    git(tmp_path, "init", "-q")
    assert paths(scan(tmp_path)) == sorted(names, key=os.fsencode)


def test_deeper_than_a_path_may_be_long(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": ""})
    here = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(60):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        with open("deep.py", "w"):
            pass
    finally:
        os.chdir(here)
    for _ in ("plain", "git"):
        result = scan(tmp_path)
        assert paths(result) == ["a.py"]
        assert [path.count("/") > 30 for path in result.unknown] == [True]
        git(tmp_path, "init", "-q")


def test_a_thousand_directories_deep(tmp_path: Path) -> None:
    deep = "/".join(["d"] * 1500)
    for depth in range(1, 1501):
        os.mkdir(tmp_path / "/".join(["d"] * depth))
    write(tmp_path, {f"{deep}/x.py": "", ".gitignore": "*.o\n", ".indexerignore": "*.a\n"})
    for _ in ("plain", "git"):
        assert f"{deep}/x.py" in found(scan(tmp_path))
        assert Rules.load(tmp_path, ScanSettings()).file(f"{deep}/x.py")
        assert not Rules.load(tmp_path, ScanSettings()).file(f"{deep}/x.o")
        git(tmp_path, "init", "-q")
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


COUNTED = """
    import os, sys
    seen = {"os.scandir": [], "open": []}
    def hook(event, arguments):
        if event in seen:
            seen[event].append(arguments[0])
    from indexer.scan.ignore import Rules
    from indexer.scan.walk import walk
    from indexer.settings import ScanSettings
    root = sys.argv[1]
    sys.addaudithook(hook)
    walk(root, Rules.load(root, ScanSettings()), ScanSettings())
    inside = [os.fsdecode(p) for event in ("os.scandir", "open") for p in seen[event] if isinstance(p, (str, bytes))]
    print("\\n".join(sorted(os.path.relpath(p, root) for p in inside if p.startswith(root))))
"""


@pytest.mark.parametrize("kind", ["plain", "git"])
def test_ignored_trees_are_not_entered_and_no_file_is_opened_s035_s045(tmp_path: Path, kind: str) -> None:
    root = write(tmp_path, {".gitignore": "build/\nnode_modules\n", "a.py": "", "src/b.py": ""})
    write(root, {f"node_modules/m{n}/deep/x.js": "" for n in range(50)})
    write(root, {"build/out.py": "", ".git/info/exclude": ""})
    if kind == "git":
        git(root, "init", "-q")
        commit(root, "a.py")
    script = [sys.executable, "-c", textwrap.dedent(COUNTED), str(root)]
    touched = subprocess.run(script, check=True, capture_output=True, text=True).stdout.split("\n")
    assert not [path for path in touched if path.startswith(("node_modules", "build"))]
    opened = {os.path.basename(path) for path in touched} - {"", ".", "src", ".git"}
    assert opened <= {".gitignore", ".indexerignore", "exclude"}
