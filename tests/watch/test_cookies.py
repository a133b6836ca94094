"""Cookies: each is answered, by a batch that covers what was done before it."""

from __future__ import annotations

import itertools
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scan.trees import repository
from tests.watch.observing import PATIENCE, Eye

Watching = Callable[..., Eye]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(
        tmp_path / "root", {"f.py": "x = 1\n", "pkg/m.py": "y = 2\n", ".gitignore": "out/\n*.log\n"}
    )


def test_every_cookie_is_answered_and_few_are_made(root: Path, watching: Watching) -> None:
    eye = watching(root)
    asked = [eye.watch.cookie() for _ in range(5000)]
    missing = set(asked)
    while missing:
        missing -= eye.wait().cookies
    assert len(set(asked)) < 5000
    assert sorted(asked) == asked
    assert list(eye.cookies.iterdir()) == []


def test_a_cookie_covers_what_was_done_before_it(root: Path, watching: Watching) -> None:
    """Many askers at once, each having changed a file of its own just before."""
    eye = watching(root, settle_ms=5)
    asked: dict[str, int] = {}
    told: dict[str, int] = {}  # path to the batch that first held it
    answered: dict[int, int] = {}  # cookie to the batch that held it
    batches = itertools.count()
    asking = threading.Event()

    def ask(name: str) -> None:
        for n in range(100):
            path = f"{name}{n}.py"
            (root / path).write_text("")
            asked[path] = eye.watch.cookie()

    def take() -> None:
        while asking.is_set() or not set(asked.values()) <= answered.keys():
            if batch := eye.watch.next_batch(0.05):
                number = next(batches)
                told.update({path: number for path in batch.paths if path not in told})
                answered.update(dict.fromkeys(batch.cookies, number))

    asking.set()
    taker = threading.Thread(target=take)
    askers = [threading.Thread(target=ask, args=[name]) for name in "abcd"]
    for thread in (taker, *askers):
        thread.start()
    for thread in askers:
        thread.join()
    asking.clear()
    taker.join(PATIENCE)
    assert not taker.is_alive()
    assert [path for path, cookie in asked.items() if told.get(path, 1 << 60) > answered[cookie]] == []


def test_the_cookies_folder_removed_and_made_again(root: Path, watching: Watching) -> None:
    eye = watching(root)
    shutil.rmtree(eye.cookies)
    assert not eye.sync().rescans
    shutil.rmtree(eye.cookies)
    eye.cookies.mkdir()
    assert not eye.sync().rescans
    eye.cookies.rename(eye.cookies.with_name("other"))
    assert not eye.sync().rescans


def test_where_no_cookie_can_be_made_everything_is_scanned(root: Path, watching: Watching) -> None:
    eye = watching(root)
    shutil.rmtree(eye.cookies)
    eye.cookies.write_text("a file in its place")
    (root / "f.py").write_text("2")
    seen = eye.sync()
    assert "no cookie could be made" in seen.rescans[0]
    eye.cookies.unlink()
    assert not eye.sync().rescans
