"""After a crash at any operation the index opens as the generation before or the one under way, and goes on."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from indexer.errors import NotIndexedError, StoreError
from indexer.store import Writer, commit, open_snapshot, publish, tiers, verify
from indexer.store.format import FILE_SUFFIX
from tests.store.replay import Recorder, World, lay_out
from tests.store.samples import IDENTITY, QuickDisk, build, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from indexer.store.dump import Dump

BEFORE = {"a": b"alpha one\nbeta two\n", "b": b"gamma\n", "c": b"delta x y\n"}


class Run:
    """A writer on a recording disk; ``acknowledged`` tells after how many operations each dump was promised."""

    def __init__(self, root: Path) -> None:
        self.disk = Recorder()
        self.directory = root / ".indexer"
        self.files: dict[str, bytes] = {}
        self.acknowledged: list[tuple[int, Dump | None]] = [(0, None)]
        self.writer = Writer(root, self.directory, IDENTITY, keep_generations=1, disk=self.disk)

    def commit(self, changes: dict[str, bytes | None], *, complete: bool = True) -> None:
        for path, data in changes.items():
            if data is None:
                self.writer.remove_file(path)
                self.files.pop(path)
            else:
                put(self.writer, path, data)
                self.files[path] = data
        self.writer.commit(complete=complete)
        self.promise()

    def promise(self) -> None:
        self.acknowledged.append((len(self.disk.operations), open_snapshot(self.directory).tables()))

    def reopen(self, *, fresh: bool) -> None:
        root = self.directory.parent
        self.writer.close()
        self.writer = Writer(root, self.directory, IDENTITY, fresh=fresh, keep_generations=1, disk=self.disk)


def small_commits(run: Run) -> None:
    run.commit(dict(BEFORE))
    run.commit({"a": b"alpha one\nnew\n"})
    run.commit({"b": None, "d": b"gamma\n"})


def merging_commits(run: Run) -> None:
    run.commit(dict(BEFORE))
    for number in range(3):
        run.commit({"a": b"alpha %d\n" % number})
    run.writer.compact()
    run.promise()


def checkpoints_and_a_fresh_run(run: Run) -> None:
    run.commit({"a": BEFORE["a"]}, complete=False)
    run.commit({"b": BEFORE["b"]})
    run.reopen(fresh=True)
    run.commit({"a": b"other\n"}, complete=False)  # set aside: the old generation answers
    run.files.pop("b")
    run.commit({"c": b"more\n"})


SCENES = [small_commits, merging_commits, checkpoints_and_a_fresh_run]


@pytest.fixture(autouse=True)
def few_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "MOST_PIECES", 2)
    monkeypatch.setattr(tiers, "FEWEST", 2)


def states(run: Run) -> Iterator[tuple[int, str, dict[str, bytes | None]]]:
    """Every crash point, and every tree that it may leave."""
    world = World(run.directory.parent)
    for at, operation in enumerate(run.disk.operations):
        if operation.what == "write":
            torn = World(run.directory.parent)
            for one in run.disk.operations[:at]:
                torn.apply(one)
            torn.apply(operation, half=True)
            yield at, f"killed in {operation.what} {operation.path.name}", torn.killed()
        world.apply(operation)
        yield at + 1, f"killed after {operation.what} {operation.path.name}", world.killed()
        for number, tree in enumerate(world.power_cut(run.directory)):
            yield at + 1, f"power cut {number} after {operation.what} {operation.path.name}", tree


def allowed(run: Run, at: int) -> list[Dump | None]:
    """Generation promised last before the crash, and the one under way."""
    promised = [number for number, (end, _) in enumerate(run.acknowledged) if end <= at][-1]
    return [dump for _, dump in run.acknowledged[promised : promised + 2]]


def look(directory: Path) -> Dump | None:
    try:
        return open_snapshot(directory, IDENTITY).tables()
    except NotIndexedError:
        return None


def problems(run: Run, scratch: Path) -> list[str]:
    """Crashes after which the index is none of those allowed, or cannot go on."""
    found = []
    seen = set()
    for at, how, tree in states(run):
        good = allowed(run, at)
        # What is inside a temporary folder makes no difference: only that it is there.
        kept = frozenset(
            item for item in tree.items() if not item[0].startswith(".indexer/tmp-g") or item[1] is None
        )
        key = (kept, id(good[0]))
        if key in seen:
            continue
        seen.add(key)
        lay_out(tree, scratch)
        try:
            _judge(scratch, good)
        except (AssertionError, StoreError) as error:
            found.append(f"operation {at}, {how}: {type(error).__name__}: {str(error)[:200]}")
        shutil.rmtree(scratch)
    assert len(seen) > 50, "the replay has something to look at"
    return found


def _judge(root: Path, good: list[Dump | None]) -> None:
    directory = root / ".indexer"
    assert look(directory) in good, "a reader sees a generation"
    with Writer(root, directory, IDENTITY, disk=QuickDisk()) as writer:
        assert not writer.notes, writer.notes
        paths = set(writer.snapshot.paths)
        put(writer, "after", b"the crash\n")
        writer.commit()
    assert set(open_snapshot(directory).paths) == paths | {"after"}
    assert verify(directory) == []
    names = {path.name for path in directory.iterdir()}
    assert not [name for name in names if name.startswith(("tmp-", "bad-", "manifest.next"))], names


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
@pytest.mark.parametrize("fold", [1 << 22, 1], ids=["files", "folders"])
def test_every_crash_leaves_a_generation(
    root: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, scene: Callable[[Run], None], fold: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(commit, "FOLD_BYTES", fold)
        run = Run(root)
        scene(run)
        run.writer.close()
    assert problems(run, scratch) == []


def test_the_last_promise_equals_a_fresh_build(root: Path, tmp_path: Path) -> None:
    """The dumps that the replay compares with are themselves right."""
    run = Run(root)
    small_commits(run)
    assert run.acknowledged[-1][1] == open_snapshot(build(tmp_path / "fresh", run.files)).tables()


# --- the replay itself is held by planted faults


def test_segments_that_are_not_synced_are_noticed(root: Path, scratch: Path) -> None:
    run = Run(root)
    small_commits(run)
    run.disk.operations = [
        one._replace(what="nothing") if one.what == "sync" and one.path.suffix == FILE_SUFFIX else one
        for one in run.disk.operations
    ]
    assert problems(run, scratch)


def test_a_manifest_before_its_segments_names_is_noticed(
    root: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directory is not synced before the manifest's rename: it may arrive and the segment's name not."""

    def hasty(disk: Recorder, directory: Path, name: str, data: bytes, *, keep: bool) -> None:
        temporary = directory / f"tmp-{name}"
        disk.write(temporary, [data])
        disk.sync(temporary)
        disk.rename(temporary, directory / name)
        disk.sync_directory(directory)

    monkeypatch.setattr(publish, "publish", hasty)
    run = Run(root)
    small_commits(run)
    assert problems(run, scratch)


def test_segments_removed_too_early_are_noticed(
    root: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the manifest on disk still names goes before the next manifest stands."""
    original = publish.publish

    def hasty(disk: Recorder, directory: Path, name: str, data: bytes, *, keep: bool) -> None:
        names = [
            one for one in disk.names(directory) if one.endswith(FILE_SUFFIX) and one.encode() not in data
        ]
        for one in names:
            disk.remove(directory / one)
        original(disk, directory, name, data, keep=keep)

    monkeypatch.setattr(publish, "publish", hasty)
    run = Run(root)
    merging_commits(run)
    assert problems(run, scratch)
