"""The list of packages is well formed and names none that is held out; archives are unpacked safely."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from indexer.train.excluded import reason
from indexer.train.sources import LICENCES, LIST, Source, SourceListError, bring_all, read_list
from indexer.train.sources_fetch import FetchError, fetch, sha256_of, the_archive
from indexer.train.sources_unpack import UnpackError, unpack

GOOD = {
    "language": "python",
    "name": "one",
    "kind": "wheel",
    "version": "1.0",
    "licence": "MIT",
    "sha256": "a" * 64,
}
COPYLEFT = ("GPL", "MPL", "EPL", "CC-BY-SA", "CDDL")


def a_source(**changed: str) -> Source:
    row = GOOD | changed
    return Source(
        language=row["language"],
        name=row["name"],
        kind=row["kind"],
        version=row["version"],
        licence=row["licence"],
        sha256=row["sha256"],
        take=row.get("take", "code"),
    )


def a_tar(path: Path, members: dict[str, bytes], *, link: str = "") -> Path:
    with tarfile.open(path, "w:gz") as box:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            box.addfile(member, io.BytesIO(data))
        if link:
            member = tarfile.TarInfo(link)
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            box.addfile(member)
    return path


def a_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as box:
        for name, data in members.items():
            box.writestr(name, data)
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_the_list_can_be_read_and_has_packages_of_every_language_asked_for() -> None:
    languages = {source.language for source in read_list()}
    assert {"python", "javascript"} <= languages


def test_no_package_is_under_a_copyleft_licence_only() -> None:
    assert not [name for name in LICENCES if any(word in name for word in COPYLEFT)]
    for source in read_list():
        for term in source.licence.split(" AND "):
            assert LICENCES.intersection(term.strip("()").split(" OR ")), (source.name, term)


def test_no_project_that_is_held_out_is_named() -> None:
    assert [(source.name, reason(source.name)) for source in read_list() if reason(source.name)] == []


def test_each_has_a_folder_of_its_own() -> None:
    folders = [source.folder for source in read_list()]
    assert len(folders) == len(set(folders))
    assert all(folder.count("/") == 1 and ".." not in folder for folder in folders)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("language", "Py thon"),
        ("name", "../one"),
        ("name", "one two"),
        ("kind", "git"),
        ("version", "1.0; rm"),
        ("licence", "GPL-3.0-only"),
        ("licence", "MIT AND LGPL-2.1-only"),
        ("sha256", "a" * 63),
        ("sha256", "G" * 64),
        ("take", "all"),
    ],
)
def test_a_row_that_is_not_well_formed_is_refused_by_its_key(key: str, value: str) -> None:
    with pytest.raises(SourceListError, match=f"{key} may not be"):
        a_source(**{key: value})


def test_of_two_licences_to_choose_from_one_is_enough() -> None:
    assert a_source(licence="Apache-2.0 OR GPL-2.0-only").licence


def test_an_unknown_key_and_a_package_twice_are_refused(tmp_path: Path) -> None:
    row = 'name = "one", kind = "npm", version = "1", licence = "MIT", sha256 = "' + "a" * 64 + '"'
    listed = tmp_path / "list.toml"
    listed.write_text(f"python = [{{ {row} }}, {{ {row} }}]")
    with pytest.raises(SourceListError, match=r"python\.one: stands there twice"):
        read_list(listed)
    listed.write_text(f'python = [{{ {row}, colour = "red" }}]')
    with pytest.raises(SourceListError, match="colour"):
        read_list(listed)


@pytest.mark.parametrize("name", ["../evil.py", "/evil.py", "a/../../evil.py", "a\\..\\evil.py"])
def test_a_path_outside_refuses_the_whole_archive(tmp_path: Path, name: str) -> None:
    for made in (
        a_tar(tmp_path / "a.tar.gz", {"good.py": b"x", name: b"y"}),
        a_zip(tmp_path / "a.zip", {"good.py": b"x", name: b"y"}),
    ):
        with pytest.raises(UnpackError, match="outside"):
            unpack(made, tmp_path / "into" / "one-1.0")
    assert files_below(tmp_path / "into") == []


def test_links_binaries_vendored_and_minified_files_are_left_out(tmp_path: Path) -> None:
    members = {
        "p/a.py": b"a",
        "p/LICENSE": b"MIT",
        "p/logo.png": b"\x89",
        "p/node_modules/q/b.js": b"b",
        "p/_vendor/requests/c.py": b"c",
        "p/d.min.js": b"d",
        "p/data.json": b"{}",
    }
    target = tmp_path / "one-1.0"
    assert unpack(a_tar(tmp_path / "a.tar.gz", members, link="p/e.py"), target) == 2
    assert files_below(target) == ["p/LICENSE", "p/a.py"]


def test_catalogues_are_kept_when_they_are_wanted_and_only_the_paths_asked_for(tmp_path: Path) -> None:
    made = a_zip(
        tmp_path / "a.whl",
        {"p/zh_CN.po": b"a", "p/a.py": b"a", "q/zh_CN.po": b"a", "q/a.py": b"a", "p/en.js": b"a"},
    )
    unpack(made, tmp_path / "one", only=["p/*"], take="both")
    unpack(made, tmp_path / "three", take="catalogue")
    unpack(made, tmp_path / "two", only=["p/*"])
    assert files_below(tmp_path / "one") == ["p/a.py", "p/en.js", "p/zh_CN.po"]
    assert files_below(tmp_path / "two") == ["p/a.py", "p/en.js"]
    assert files_below(tmp_path / "three") == ["p/en.js", "p/zh_CN.po", "q/zh_CN.po"]


def test_an_archive_that_is_broken_or_empty_of_text_leaves_nothing(tmp_path: Path) -> None:
    whole = a_tar(tmp_path / "whole.tar.gz", {"a.py": bytes(range(256)) * 400})
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(whole.read_bytes()[:-300])
    for archive in (cut, a_zip(tmp_path / "a.zip", {"logo.png": b"\x89"})):
        with pytest.raises(UnpackError, match=archive.name):
            unpack(archive, tmp_path / "into" / "one")
    assert files_below(tmp_path / "into") == []


def test_of_a_debian_source_the_original_is_hashed(tmp_path: Path) -> None:
    for name in ("z_1.debian.tar.xz", "z_1.orig.tar.gz", "z_1.orig.tar.gz.asc", "z_1.dsc"):
        (tmp_path / name).write_bytes(b"z")
    assert the_archive(tmp_path).name == "z_1.orig.tar.gz"
    assert (
        sha256_of(tmp_path / "z_1.dsc") == "594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06"
    )


def test_a_client_that_brings_nothing_is_a_fault_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="no such kind"):
        fetch("svn", "one", "1", tmp_path, apt_state=tmp_path)
    with pytest.raises(FetchError, match="no archive"):
        the_archive(tmp_path)


def test_the_program_tells_what_is_there_already(tmp_path: Path) -> None:
    for source in read_list():
        if source.language == "elixir":
            (tmp_path / source.folder).mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", "indexer.train.sources", str(tmp_path), "--language", "elixir"],
        capture_output=True,
        text=True,
        check=False,
    )
    wanted = sum(source.language == "elixir" for source in read_list())
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{wanted} of {wanted} packages are in {tmp_path}\n"


def test_the_list_lies_beside_the_trainer() -> None:
    assert LIST.is_file()


def a_wheel(folder: Path) -> Path:
    folder.mkdir()
    about = "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n"
    members = {
        "one/a.py": b"a = 1\n",
        "one/zh.json": b"{}",
        "one-1.0.dist-info/METADATA": about.encode(),
        "one-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "one-1.0.dist-info/RECORD": b"",
    }
    return a_zip(folder / "one-1.0-py3-none-any.whl", members)


def test_a_package_is_brought_by_its_client_when_its_hash_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = a_wheel(tmp_path / "index")
    for key, value in {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "PIP_CONFIG_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(key, value)
    dest = tmp_path / "dest"
    wrong = a_source()
    assert bring_all([wrong], dest)[0].startswith("python/one-1.0: one-1.0-py3-none-any.whl has SHA-256")
    assert files_below(dest) == []
    right = a_source(sha256=sha256_of(wheel))
    assert bring_all([right], dest) == []
    assert files_below(dest / right.folder) == ["one/a.py"]
    wheel.unlink()
    assert bring_all([right], dest) == []  # there already: nothing is asked for
    gone = a_source(name="two")
    assert "python/two-1.0: " in bring_all([gone], dest)[0]
    assert "\n" not in bring_all([gone], dest)[0]
