"""A run that finds nothing changed ends early, says what any run would have said, and misses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from indexer.cli import main
from indexer.embed import later
from indexer.embed.static import StaticEmbedder
from indexer.errors import RootError
from indexer.reindex import reindex
from indexer.reindex.identity import identity_of
from indexer.reindex.standing import Begun, Unchanged, begin
from indexer.scan import early
from indexer.settings import ScanSettings, Settings
from indexer.store import known, open_snapshot
from indexer.store.format import FORMAT
from indexer.store.known import look
from indexer.types import FileStat
from indexer.workspace import Workspace
from tests.counting import workspace
from tests.test_counts import started
from tests.trees import age, commit, git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with what a name or a kind leaves out, an ignored folder, and an untracked file."""
    root = tmp_path / "tree"
    for name in ("a.py", "one/b.py", "one/deep/c.py", "two/d.py", ".hidden.py", "same/b.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"def f():\n    return {name!r}\n")
    (root / "logo.png").write_bytes(b"\x89PNG")
    (root / "data.txt").write_bytes(b"\0" * 64)
    (root / ".env").write_text("KEY=1\n")
    (root / "link").symlink_to("a.py")
    (root / "build").mkdir()
    (root / "build" / "out.py").write_text("x = 1\n")
    (root / ".gitignore").write_text("build/\n.indexerignore\n")
    git(root, "init", "-q", "-b", "main")
    commit(root)
    (root / "untracked.py").write_text("def g(): ...\n")
    age(root)
    reindex(workspace(root))
    age(root)
    return root


def begun(space: Workspace) -> Unchanged | Begun | None:
    found = begin(space)
    if isinstance(found, Begun):
        found.lock.close()
    return found


def test_git_is_asked_twice(root: Path) -> None:
    with started() as programs:
        assert main(["reindex", str(root), "--quiet"]) == 0
    assert programs == [
        "rev-parse --show-prefix --absolute-git-dir --git-common-dir --show-toplevel",
        "ls-files -co --exclude-standard -z",
    ]


def _as_submodule(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},.indexer")


@pytest.mark.parametrize("track", [lambda root: git(root, "add", "-f", ".indexer"), _as_submodule])
def test_an_index_that_git_tracks_is_refused_though_all_is_as_it_was(
    root: Path, track: Callable[[Path], object]
) -> None:
    assert isinstance(begun(workspace(root)), Unchanged)
    track(root)
    with pytest.raises(RootError, match="came with the repository"):
        begin(workspace(root))


def test_it_says_what_any_run_says(root: Path) -> None:
    found = begin(workspace(root))
    assert isinstance(found, Unchanged)
    outcome = reindex(workspace(root))
    assert replace(found.report, seconds=0) == replace(outcome.report, seconds=0)
    assert (found.notes, found.unknown) == (outcome.notes, outcome.unknown)


# What takes a millisecond or more to load.
HEAVY = {
    "asyncio", "dataclasses", "hashlib", "inspect", "logging", "msgspec", "numpy", "platformdirs", "random", "selectors",
    "shutil", "signal", "socket", "subprocess", "tempfile", "tomllib", "typing", "unicodedata", "zipfile",
}  # fmt: skip
# What of our own such a run loads, and of others.
NEEDED = {
    "": "cli config embed errors files lazily plainly reindex scan serve settings store versions workspace",
    "cli": "commands encoding light parser progress shared show writing",
    "embed": "later",
    "reindex": "identity progress standing",
    "scan": "early git ignore names nested patterns root secrets seen tree trees walk",
    "serve": "client place protocol",
    "store": "disk format known lock manifest pieces publish typed",
}
OTHERS = {"Stemmer", "xxhash"}


def test_the_command_loads_what_it_needs(root: Path) -> None:
    code = (
        "import sys; from indexer.cli import main; status = main(['reindex', sys.argv[1], '--quiet']); "
        "print(status, *sys.modules)"
    )
    run = [sys.executable, "-P", "-c", code, str(root)]
    status, *loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert status == "0"
    assert HEAVY & set(loaded) == set()
    own = {
        ".".join(filter(None, ("indexer", room, name))) for room in NEEDED for name in NEEDED[room].split()
    }
    assert {name for name in loaded if name.startswith("indexer")} == {"indexer", *own}
    bare = subprocess.run(
        [*run[:3], "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    new = set(loaded) - set(bare.stdout.split())
    others = {name.partition(".")[0] for name in new if "cython" not in name}  # which `Stemmer` brings along
    assert others - sys.stdlib_module_names - {"indexer"} == OTHERS


def test_folders_without_git_and_nested_repositories_stand_too(root: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(root, bare, symlinks=True, ignore=shutil.ignore_patterns(".git", ".indexer"))
    git(root / "two", "init", "-q")
    age(bare)
    for tree in (root, bare):
        outcome = reindex(workspace(tree))
        found = begun(workspace(tree))
        assert isinstance(found, Unchanged)
        assert asdict(found.report.files) == {
            **asdict(outcome.report.files),
            "added": 0,
            "removed": 0,
            "modified": 0,
            "renamed": 0,
            "unchanged": outcome.report.files.scanned,
        }


def _same_size_and_time(root: Path) -> None:
    path = root / "one" / "b.py"
    before = path.stat()
    path.write_text(path.read_text().replace("def f", "def k"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _file_by_link(root: Path) -> None:
    (root / "a.py").unlink()
    (root / "a.py").symlink_to("two/d.py")


def _by_link(root: Path) -> None:
    shutil.move(root / "one", root.parent / "elsewhere")
    (root / "one").symlink_to(root.parent / "elsewhere")


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda root: (root / "a.py").write_text("def h(): ...\n"),
    "edited, of the same size and time": _same_size_and_time,
    "new": lambda root: (root / "two" / "new.py").write_text("def n(): ...\n"),
    "gone": lambda root: (root / "a.py").unlink(),
    "moved": lambda root: (root / "a.py").rename(root / "two" / "a.py"),
    "replaced by a link": _file_by_link,
    "its folder replaced by a link": _by_link,
    "ignored by git": lambda root: (root / ".git" / "info" / "exclude").write_text("untracked.py\n"),
    "ignored by us, in a file that git ignores": lambda root: (root / "one" / ".indexerignore").write_text(
        "deep/\n"
    ),
    "tracked in an ignored folder": lambda root: git(root, "add", "-f", "build/out.py"),
    "excluded by the repository's settings": lambda root: (root / ".indexer.toml").write_text(
        '[scan]\nexclude = ["two/"]\n'
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen_and_leads_to_what_a_whole_run_leads_to(root: Path, change: str) -> None:
    before = identity_of(workspace(root))
    exclude = ("two/",) if "settings" in change else ()
    settings = Settings()._replace(scan=ScanSettings(exclude=exclude))
    CHANGES[change](root)
    age(root)
    space = workspace(root, settings=settings)
    assert identity_of(space) == before
    found = begin(space)
    assert isinstance(found, Begun)
    outcome = reindex(space, begun=found)
    shutil.rmtree(root / ".indexer")
    assert outcome.snapshot.tables() == reindex(space).snapshot.tables()


def test_files_of_any_date_are_indexed_and_stand(root: Path) -> None:
    years = {
        "a.py": 1500,
        "one/b.py": 1960,
        "one/deep/c.py": 2262,
        "two/d.py": 2263,
        ".hidden.py": 2600,
        "same/b.py": 30_000,
    }
    dated = {root / name: (year - 1970) * 31_556_952 for name, year in years.items()}
    for path, seconds in dated.items():
        os.utime(path, (seconds, seconds))
    age(root)
    reindex(workspace(root))
    assert isinstance(begun(workspace(root)), Unchanged)
    for path, seconds in dated.items():
        path.write_text("def h(): ...\n")
        os.utime(path, (seconds, seconds))
    assert reindex(workspace(root)).report.files.modified == len(dated)


def test_a_smaller_limit_leaves_out_what_was_let_in(root: Path) -> None:
    found = begun(workspace(root, settings=Settings()._replace(scan=ScanSettings(max_file_bytes=20))))
    assert isinstance(found, Begun)


def test_our_own_ignore_files_are_no_change(root: Path) -> None:
    (root / "one" / ".indexerignore").write_text("deep/\n")
    age(root)
    reindex(workspace(root))
    assert isinstance(begun(workspace(root)), Unchanged)


def test_what_is_damaged_or_left_behind_is_for_a_whole_run(root: Path) -> None:
    space = workspace(root)
    generation = reindex(space, full=True).report.generation
    (space.index_dir / "tmp-g0000000009-00000000.seg").write_bytes(b"")
    assert isinstance(begun(space), Begun)
    reindex(space)
    assert isinstance(begun(space), Unchanged)
    (segment,) = space.index_dir.glob(f"g*{generation}-*.seg")
    data = bytearray(segment.read_bytes())
    data[-70] ^= 1
    segment.chmod(0o600)
    segment.write_bytes(data)
    assert isinstance(begun(space), Begun)
    assert reindex(space).notes  # it was damaged, and is made again
    assert isinstance(begun(space), Unchanged)


def test_a_previous_manifest_of_another_format_is_no_reason_to_write(root: Path) -> None:
    """An upgrade leaves it there until something changes."""
    space = workspace(root)
    previous = space.index_dir / "manifest.prev.json"
    text = (space.index_dir / "manifest.json").read_text()
    assert f'"format": {FORMAT},' in text
    previous.write_text(text.replace(f'"format": {FORMAT},', f'"format": {FORMAT - 1},'))
    assert isinstance(begun(space), Unchanged)
    previous.write_bytes(b"{")
    assert isinstance(begun(space), Begun)


def test_a_damaged_array_of_a_large_segment_is_found(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexer.store.commit.FOLD_BYTES", 0)
    space = workspace(root)
    reindex(space, full=True)
    assert isinstance(begun(space), Unchanged)
    (vectors,) = space.index_dir.glob("g*/vectors.npy")
    data = bytearray(vectors.read_bytes())
    data[-1] ^= 1
    vectors.write_bytes(data)
    assert begun(space) is None
    assert reindex(space).notes


def test_what_is_read_as_it_stands_is_what_the_snapshot_knows(root: Path) -> None:
    """Over several segments: a path again in a newer one, one that is removed, one that came back."""
    space = workspace(root)
    steps: list[Callable[[], object]] = [
        lambda: (root / "a.py").write_text("def h(): ...\n"),
        (root / "two" / "d.py").unlink,
        lambda: (root / "two" / "d.py").write_text("def d(): ...\n"),
        lambda: (root / "one" / "b.py").rename(root / "e.py"),
    ]
    for step in steps:
        step()
        age(root)
        snapshot = reindex(space).snapshot
        looked = look(space.index_dir, identity_of(space))
        assert looked is not None
        told, proof = looked
        assert proof.holds()
        stats = {FileStat(os.fsdecode(name), *rest) for name, *rest in zip(*told.stats, strict=True)}
        assert stats == set(snapshot.known()[0].values())
        assert len(stats) == len(told.stats.names)
        assert told.chunks() == len(snapshot.rows.content)
        assert told.generation == snapshot.generation
    assert len(open_snapshot(space.index_dir).stack.segments) > 1


def test_numbers_of_another_byte_order_are_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "_READABLE", False)
    assert isinstance(begun(workspace(root)), Begun)


def test_the_model_says_of_itself_what_it_is() -> None:
    claim = later.claim_of(later.MODEL)
    whole = StaticEmbedder()
    assert claim is not None
    told = later.static()
    assert isinstance(told, later.Later)
    assert (told.name, told.dim, told.version) == (whole.name, whole.dim, whole.version)
    assert (told.embed(["a query"]) == whole.embed(["a query"])).all()


@pytest.mark.parametrize("cut", [0, 10, 100, 1000])
def test_what_is_no_model_is_read_whole_and_refused(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "static.npz"
    path.write_bytes(Path(later.MODEL).read_bytes()[:cut])
    assert later.claim_of(path) is None
    assert later.claim_of(tmp_path / "none") is None


def test_of_many_names_those_with_dotted_parts_are_found() -> None:
    names = [b"a", b".a", b"a.b", b"a/.b", b".a/.b/c", b"a./b", b"a/b./c", b"...", b"a/..b", b"b"]
    assert early._with_dotted_parts(names) == [b".a", b"a/.b", b".a/.b/c", b"...", b"a/..b"]
    assert early._with_dotted_parts([]) == []
