"""Paths as editors name them, none of them outside the root; symbols as the Language Server Protocol has them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from indexer.types import Kind
from tests.serve.answering import Daemon, TreeService, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from indexer.serve.events import Freshness, View

from tests.serve.checking import NO_UTF8, Checking, lay


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(lay(tmp_path / "root")) as daemon:
        yield daemon


# --- paths


def test_a_place_may_be_named_in_every_way_inside_the_root(
    shared: Daemon, client: Checking, tmp_path: Path
) -> None:
    root = shared.service.root
    (tmp_path / "link").symlink_to(root)
    ways = [
        "src/commit.py", "./src/commit.py", "src/../src/commit.py", f"{root}/src/commit.py", (root / "src/commit.py").as_uri(),
        f"file://localhost{root}/src/commit.py", f"{tmp_path}/link/src/commit.py",
    ]  # fmt: skip
    found = [client.result("index/related", {"path": way, "line": 2, "k": 3})["hits"] for way in ways]
    assert found[0]
    assert all(hits == found[0] for hits in found)
    odd = [str(root / "src/with space#50%.py"), (root / "src/with space#50%.py").as_uri()]
    assert [client.result("index/related", {"path": way, "line": 1})["mode"] for way in odd] == [
        "related"
    ] * 2


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "../secret.py", "src/../../secret.py", "file:///etc/passwd", "file:///..%2f..%2fetc/passwd", "..", "/",
        "file://elsewhere/src/commit.py", "src/commit.py\0", "file:src%00", "http://x/y",
    ],
)  # fmt: skip
def test_nothing_outside_the_root_can_be_named(shared: Daemon, client: Checking, path: str) -> None:
    (shared.service.root.parent / "secret.py").write_text("def secret(): pass\n")
    code, message = client.error("index/related", {"path": path, "line": 1})
    assert code == -32602
    assert "secret()" not in message


def test_a_link_that_leads_out_is_no_way_out(daemon: Daemon) -> None:
    root = daemon.service.root
    (root.parent / "secret.py").write_text("def secret(): pass\n")
    (root / "out").symlink_to(root.parent)
    (root / "one.py").symlink_to(root.parent / "secret.py")
    client = Checking(daemon.connect())
    for path in ("out/secret.py", f"{root}/out/secret.py", "one.py"):
        assert client.error("index/related", {"path": path, "line": 1})[0] == -32602
    assert client.result("index/search", {"query": "secret", "literal": True})["hits"] == []


@pytest.mark.parametrize("glob", ["../**", "src/../../etc/*", "!../x", ".."])
def test_a_filter_cannot_step_out(client: Checking, glob: str) -> None:
    code, message = client.error("index/search", {"query": "x", "path": ["src/**", glob]})
    assert (code, "outside the root" in message) == (-32602, True)


def test_what_is_not_indexed_is_told_so(client: Checking) -> None:
    code, message = client.error("index/related", {"path": "src/none.py", "line": 1})
    assert (code, message) == (-32602, "related: src/none.py is not in the index")


def test_a_path_that_is_no_utf8_goes_both_ways(client: Checking) -> None:
    hit = client.result("index/symbols", {"name": "coffee"})["hits"][0]
    assert hit["path"] == os.fsdecode(NO_UTF8)
    client.result("index/related", {"path": hit["path"], "line": 1})
    uri = client.result("workspace/symbol", {"query": "coffee"})[0]["location"]["uri"]
    assert uri.endswith("/caf%E9.py")
    client.result("index/related", {"path": uri, "line": 1})


# --- LSP


def symbol(client: Checking, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        s for s in client.result("workspace/symbol", {"query": name}) if s["name"] == name
    )
    return found


def at(found: dict[str, Any]) -> tuple[int, int, int, int]:
    place = found["location"]["range"]
    return (
        place["start"]["line"],
        place["start"]["character"],
        place["end"]["line"],
        place["end"]["character"],
    )


def test_symbols_as_lsp_has_them(shared: Daemon, client: Checking) -> None:
    root = shared.service.root
    found = symbol(client, "commit")
    assert found["location"]["uri"] == (root / "src/commit.py").as_uri()
    assert (found["kind"], found["containerName"], at(found)) == (6, "Writer", (1, 8, 1, 14))
    kinds = {"Writer": 5, "wide": 12, "Node": 23, "Side": 10, "Walk": 11, "LIMIT": 14}
    assert {name: symbol(client, name)["kind"] for name in kinds} == kinds


def test_columns_are_utf16_units_and_no_byte_order_mark_counts(client: Checking) -> None:
    assert at(symbol(client, "wide")) == (0, 21, 0, 25)  # two letters of two units each before it
    assert at(symbol(client, "marked")) == (0, 4, 0, 10)
    assert at(symbol(client, "计算")) == (0, 4, 0, 6)


def test_uris_are_escaped(shared: Daemon, client: Checking) -> None:
    root = shared.service.root
    for name, path in (("odd_name", "src/with space#50%.py"), ("计算", "shop/汉字.py")):
        uri = symbol(client, name)["location"]["uri"]
        assert uri == (root / path).as_uri()
        assert uri.isascii()


def test_an_empty_query_lists_definitions_and_more_fields_are_ignored(client: Checking) -> None:
    found = client.result("workspace/symbol", {"query": "", "workDoneToken": 1, "partialResultToken": "x"})
    assert {"Writer", "commit", "wide", "coffee", "Node"} <= {s["name"] for s in found}
    assert "" not in {s["name"] for s in found}


def test_every_kind_is_one_of_lsps() -> None:
    from indexer.serve import lsp

    named = {value for name, value in vars(Kind).items() if name.isupper()}
    assert named - set(lsp._KINDS) == {Kind.TEXT, Kind.REST}
    assert set(lsp._KINDS.values()) <= set(range(1, 27))


class BehindService(TreeService):
    """Never current."""

    async def seen(self, freshness: Freshness) -> View:
        found = await super().seen("now")
        return found._replace(reason="the disk is slow") if freshness == "wait" else found


def test_an_lsp_answer_that_may_be_behind_is_told_beside_it(tmp_path: Path) -> None:
    with running(lay(tmp_path / "root"), BehindService) as daemon:
        client = Checking(daemon.connect())
        client.result("initialize")
        client.result("workspace/symbol", {"query": "commit"})
        assert client.told() == ("window/logMessage", {"type": 2, "message": "indexer: the disk is slow"})
        assert client.result("index/sync")["reason"] == "the disk is slow"
        assert client.result("index/search", {"query": "commit"})["reason"] == "the disk is slow"
