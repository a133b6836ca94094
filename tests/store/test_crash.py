"""After a crash at any operation the index opens as the generation before or the one under way, and goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from indexer.store import commit, open_snapshot, publish
from indexer.store.format import FILE_SUFFIX
from tests.store.crashes import Ledger, problems
from tests.store.samples import build
from tests.store.scripts import SCRIPTS, Run, few_pieces, merging_commits, small_commits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.store.replay import Recorder


@pytest.fixture(autouse=True)
def _few_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    few_pieces(monkeypatch)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
@pytest.mark.parametrize("fold", [1 << 22, 1], ids=["files", "folders"])
def test_every_crash_leaves_a_generation(
    root: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, script: Callable[[Run], None], fold: int
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(commit, "FOLD_BYTES", fold)
        run = Run(root)
        script(run)
        run.writer.close()
    ledger = Ledger()
    assert problems(run, scratch, ledger) == []
    assert len(ledger) > 50, "the replay has something to look at"
    print(f"{len(ledger)} states: {dict(ledger.kinds)}")


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
