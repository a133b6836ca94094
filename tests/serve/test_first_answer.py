"""The order in which a daemon begins: first what answers, then what keeps that current."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from indexer.errors import StoreError
from indexer.reindex import reindex
from indexer.search import prepare as real_prepare
from indexer.serve import service as services
from indexer.serve.service import open_service
from tests.counting import workspace

if TYPE_CHECKING:
    from pathlib import Path

BOUND = 20.0
# What only changes need, and other questions than the first.
LATER = {
    "multiprocessing", "tempfile", "shutil", "tomllib", "watchdog", "tree_sitter", "indexer.scan.ignore",
    "indexer.scan.walk", "indexer.watch.watch", "indexer.reindex.live", "indexer.serve.updater", "indexer.store.commit",
    "indexer.chunk.worker", "indexer.embed.static",
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("def before(): pass\n")
    reindex(workspace(tmp_path))
    return tmp_path


@pytest.fixture
def warming(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set, the columns are made; until then that lasts."""
    may_end = threading.Event()

    def prepare(*arguments: object) -> None:
        assert may_end.wait(BOUND)
        real_prepare(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(services, "prepare", prepare)
    return may_end


def test_what_keeps_it_current_is_loaded_later() -> None:
    code = "import sys, indexer.serve.daemon; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert LATER & set(loaded.split()) == set()


def test_a_first_answer_comes_before_the_scan(root: Path, warming: threading.Event) -> None:
    """It says that it may be behind, and the next one that waits is not."""
    (root / "b.py").write_text("def after(): pass\n")

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            first = asyncio.ensure_future(service.view("now", BOUND))
            await asyncio.sleep(0.05)
            assert not first.done()
            assert service._updater is None
            warming.set()
            seen = await first
            assert (seen.corpus.snapshot.paths, bool(seen.reason)) == (["a.py"], True)
            assert (await service.view("wait", BOUND)).corpus.snapshot.paths == ["a.py", "b.py"]

    asyncio.run(asyncio.wait_for(story(), BOUND))


def test_who_waits_for_the_newest_has_it_made_meanwhile(root: Path, warming: threading.Event) -> None:
    (root / "b.py").write_text("def after(): pass\n")

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            asked = asyncio.ensure_future(service.view("wait", BOUND))
            while service.status().generation < 2:  # noqa: ASYNC110  (made though the columns are not)
                await asyncio.sleep(0.01)
            assert not asked.done()
            warming.set()
            assert (await asked).corpus.snapshot.paths == ["a.py", "b.py"]

    asyncio.run(asyncio.wait_for(story(), BOUND))


def test_what_cannot_be_started_yet_is_told_and_tried_again(root: Path) -> None:
    """Neither descriptors for a watch nor for the updater: no run waits for ever, and once there are all is well."""
    (root / "b.py").write_text("def after(): pass\n")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def story() -> None:
        async with open_service(workspace(root)) as service:
            lowest_free = os.open(os.devnull, os.O_RDONLY)
            os.close(lowest_free)
            resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))
            with pytest.raises(StoreError, match="updater process cannot be started"):
                await service.reindex(full=False)
            assert (await service.view("wait", 0.2)).reason
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            assert (await service.view("wait", BOUND)).corpus.snapshot.paths == ["a.py", "b.py"]
            while service.status().watch.mode == "failed":  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert service.status().watch.directories == 1

    try:
        asyncio.run(asyncio.wait_for(story(), BOUND))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
