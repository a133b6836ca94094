"""Situations that broke other tools' daemons, brought about with a real one; `fixtures/situations.toml` has the table."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from indexer.serve.client import Client
from indexer.serve.protocol import RpcError
from indexer.store import open_snapshot
from tests.serve.homes import BOUND, Home, kill, small_tree, sync
from tests.serve.troubled import ask, found, status
from tests.trees import commit, git


def ended(client: Client, seconds: float) -> list[Any]:
    """The runs that have ended by the time that nothing is told for so many seconds."""
    notes = [note.params for note in client.notifications(seconds)]
    return [note for note in notes if note.get("state") in {"done", "failed"}]


def test_s051_churn_in_an_ignored_folder_and_then_an_edit(home: Home, tree: Path) -> None:
    (tree / ".gitignore").write_text("target/\n")
    home.start(tree)
    sync(home, tree)
    watched = status(home, tree)["watch"]["directories"]
    chance = random.Random(5)
    until = time.monotonic() + 3
    while time.monotonic() < until:
        deep = tree / "target" / f"a{chance.randrange(9)}" / f"b{chance.randrange(9)}"
        deep.mkdir(parents=True, exist_ok=True)
        (deep / "t.py").write_text("def temporary(): pass\n")
        if chance.random() < 0.3:
            shutil.rmtree(tree / "target")
    with home.client(tree) as client:
        (tree / "pkg" / "store.py").write_text("def after_the_churn(): pass\n")
        assert found(client, "after_the_churn") == ["pkg/store.py"]
        assert found(client, "temporary") == []
    stands = status(home, tree)
    assert (stands["watch"]["mode"], stands["watch"]["directories"]) == ("inotify", watched)
    assert stands["watch"]["problems"] == []


def test_s057_s069_one_pass_for_each_change_and_none_without(home: Home, tree: Path) -> None:
    """A repository with uncommitted changes, its index inside it."""
    git(tree, "init", "-q")
    commit(tree)
    (tree / "untracked.py").write_text("def untracked(): pass\n")
    (tree / "notes.md").write_text("# changed, not committed\n")
    home.start(tree)
    sync(home, tree)
    with home.client(tree) as client:
        client.request("index/subscribe")
        assert ended(client, 2.0) == []
        for number in range(3):
            (tree / "pkg" / "store.py").write_text(f"def pass_{number}(): pass\n")
            assert [run["state"] for run in ended(client, 1.5)] == ["done"]
        assert found(client, "pass_2") == ["pkg/store.py"]
    assert git(tree, "status", "--porcelain").splitlines() == [
        " M notes.md",
        " M pkg/store.py",
        "?? untracked.py",
    ]


def test_s059_a_further_root_is_served_beside_the_first(home: Home, tree: Path, tmp_path: Path) -> None:
    other = small_tree(tmp_path / "other")
    first = home.start(tree)
    sync(home, tree)
    assert home.start(other) != first
    sync(home, other)
    for root, name in ((other, "in_the_other"), (tree, "in_the_first")):
        (root / "pkg" / "store.py").write_text(f"def {name}(): pass\n")
        with home.client(root) as client:
            assert found(client, name) == ["pkg/store.py"]
    with home.client(tree) as client:
        assert client.pid == first
        assert found(client, "in_the_other") == []


def test_s059_a_repository_that_is_cloned_into_the_root_is_watched(
    home: Home, tree: Path, tmp_path: Path
) -> None:
    source = small_tree(tmp_path / "source")
    (source / "pkg" / "store.py").write_text("def in_the_clone(): pass\n")
    git(source, "init", "-q")
    commit(source)
    git(tree, "init", "-q")
    home.start(tree)
    sync(home, tree)
    git(tree, "clone", "-q", str(source), "cloned")
    with home.client(tree) as client:
        assert found(client, "in_the_clone") == ["cloned/pkg/store.py"]
        (tree / "cloned" / "pkg" / "store.py").write_text("def edited_in_the_clone(): pass\n")
        assert found(client, "edited_in_the_clone") == ["cloned/pkg/store.py"]


SLOW = """
import time
from indexer.embed.hashing import HashingEmbedder

class Slow:
    name, version = "slow", "1"

    def __init__(self):
        self.inner = HashingEmbedder()
        self.dim = self.inner.dim

    def embed(self, texts):
        time.sleep(2 if len(texts) > 1 else 0)
        return self.inner.embed(texts)
"""


@pytest.fixture
def slow_embedder(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed embedder that takes two seconds a batch, in everybody's settings."""
    info = tmp_path / "site" / "slow_model-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-model\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[indexer.embedders]\nslow = slow_model:Slow\n")
    (tmp_path / "site" / "slow_model.py").write_text(SLOW)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), *filter(None, sys.path)]))
    home.settings('[embed]\nmodel = "slow"\nbatch = 10\n')


@pytest.mark.usefixtures("slow_embedder")
def test_s061_a_slow_embedder_holds_up_no_answer(home: Home, tree: Path) -> None:
    """Fifty files are five batches, ten seconds; many questions are answered meanwhile, each as of before."""
    home.start(tree)
    sync(home, tree)
    before = status(home, tree)["generation"]
    for number in range(50):
        (tree / f"m{number}.py").write_text(f"def slow_{number}():\n    return {number}\n")
    with home.client(tree) as client:
        answers = []
        while (
            answer := client.request("index/search", {"query": "Store", "freshness": "now"}, timeout=BOUND)
        )["generation"] == before:
            assert answer["hits"][0]["symbol"] == "Store"
            answers.append(answer)
        assert len(answers) >= 20, "not one a batch"
        bounded = ask(client, "Store", timeout_ms=60_000)
        assert bounded["fresh"]
        assert found(client, "slow_49") == ["m49.py"]
        (tree / "m0.py").write_text("def again():\n    return 0\n\n\ndef and_again():\n    return 1\n")
        assert not ask(client, "Store", timeout_ms=50)["fresh"]


def rows_twice(root: Path) -> list[str]:
    """The strings and keys that two rows of an index have."""
    stack = open_snapshot(root / ".indexer").stack
    tables = stack.tables
    strings = [stack.string(number) for number in range(stack.total.strings)]
    wrong = [f"string: {text!r}" for text in set(strings) if strings.count(text) > 1]
    for name in ("content_keys", "block_keys"):
        keys = [pair for part in tables for pair in zip(*getattr(part, name).tolist(), strict=True)]
        wrong += [f"{name}: {pair}" for pair in set(keys) if keys.count(pair) > 1]
    return wrong


def test_s077_no_row_comes_twice_over_restarts(home: Home, tree: Path) -> None:
    for number in range(3):
        pid = home.start(tree)
        for name in ("a", "b"):
            (tree / f"{name}.py").write_text(
                f"def kept(): pass\n\n\ndef {name}_{number}(): pass\n\n\ndef again_{number % 2}(): pass\n"
            )
            sync(home, tree)
        assert rows_twice(tree) == []
        kill(pid) if number % 2 else home.run("daemon", "stop", tree, cwd=tree)
        (tree / "b.py").write_text(f"def kept(): pass\n\n\ndef while_stopped_{number}(): pass\n")
        assert home.run("reindex", tree, cwd=tree).returncode == 0
        assert rows_twice(tree) == []
    snapshot = open_snapshot(tree / ".indexer")
    assert len(snapshot.paths) == len(set(snapshot.paths)) == 4


PLACES = [
    "/etc/hostname",
    "../secret.py",
    "~/secret.py",
    "~",
    "out/secret.py",
    "one.py",
    "file:///etc/hostname",
]


def test_s123_a_daemon_reads_nothing_but_its_root(home: Home, tree: Path) -> None:
    """Neither by a path, nor by a filter, nor by a link, nor as another root."""
    secret = tree.parent / "secret.py"
    secret.write_text("def secret_thing(): pass\n")
    (tree / "out").symlink_to(tree.parent)
    (tree / "one.py").symlink_to(secret)
    home.start(tree)
    sync(home, tree)
    with home.client(tree) as client:
        for path in PLACES:
            with pytest.raises(RpcError) as refused:
                client.request("index/related", {"path": path, "line": 1}, timeout=BOUND)
            assert "secret_thing" not in str(refused.value)
        for params in ({"query": "x", "root": "/etc"}, {"query": "x", "path": "../**"}):
            with pytest.raises(RpcError):
                client.request("index/search", params, timeout=BOUND)
        for more in ({"literal": True}, {}, {"path": "/etc/**"}, {"path": "~/**"}):
            try:
                hits = client.request("index/search", {"query": "secret_thing", **more}, timeout=BOUND)[
                    "hits"
                ]
            except RpcError:
                continue
            assert [hit for hit in hits if hit["path"] not in {"pkg/store.py", "notes.md"}] == []
            assert "secret_thing" not in "".join(hit["text"] for hit in hits)
