"""The methods over a real index, each answer held against the schema that is printed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from jsonschema import ValidationError

from indexer import __version__, answers, oneshot, search
from indexer.errors import NotIndexedError, StoreError
from indexer.serve.protocol import PROTOCOL
from tests.serve.answering import Daemon, TreeService, running
from tests.serve.checking import FILES, Checking, lay
from tests.serve.test_schema import validator

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from indexer.serve.events import Freshness, View
    from indexer.types import Report


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    with running(lay(tmp_path / "root")) as daemon:
        yield daemon


# --- hello


@pytest.mark.parametrize(
    "params",
    [
        None, {}, [], 5, {"protocol": PROTOCOL}, {"protocol": None, "next": {"year": 1}},
        {"processId": 1, "rootUri": "file:///etc", "capabilities": {"workspace": {"symbol": {}}}, "trace": "off"},
    ],
)  # fmt: skip
def test_hello_is_answered_whatever_comes_with_it(shared: Daemon, params: object) -> None:
    client = Checking(shared.connect())
    found = client.result("initialize", params)
    assert found["protocol"] == PROTOCOL
    assert found["version"] == found["serverInfo"]["version"] == __version__
    assert found["root"] == str(shared.service.root)
    assert found["capabilities"]["workspaceSymbolProvider"] is True
    assert client.result("index/search", {"query": "commit"})["hits"]


@pytest.mark.parametrize("protocol", [PROTOCOL + 1, 0, "2", {"major": 2}, [2], "x" * 10_000])
def test_a_client_of_another_protocol_can_say_hello_and_stop_and_is_told_the_rest(
    shared: Daemon, protocol: object
) -> None:
    shared.stopped.clear()
    client = Checking(shared.connect())
    assert client.result("initialize", {"protocol": protocol})["protocol"] == PROTOCOL
    code, message = client.error("index/search", {"some": "other", "shape": 1})
    assert code == -32803
    assert f"speaks protocol {PROTOCOL} and this client" in message
    assert "restart" in message
    assert len(message) < 200
    assert client.result("index/stop", {"whatever": 1}) is None
    assert shared.stopped.wait(30)
    assert client.result("shutdown", [1]) is None
    client.client.send("exit")
    assert client.client.read() is None


# --- questions


def test_search_answers_as_the_command_line_does(shared: Daemon, client: Checking) -> None:
    space = shared.service.space
    for params in (
        {"query": "commit"},
        {"query": "Writer.commit", "k": 2},
        {"query": "计算"},
        {"query": "wide"},
    ):
        found = client.result("index/search", params)
        request = search.Request(params["query"], k=params.get("k", 10))  # type: ignore[arg-type]
        expected = answers.answer_object(oneshot.answer(space, oneshot.view(space), request))
        assert {**found, "ms": 0} == {**json.loads(answers.as_json(expected)), "ms": 0}
        assert found["fresh"] is True
        assert "reason" not in found


def test_filters_take_one_word_or_several(client: Checking) -> None:
    def paths(**params: object) -> set[str]:
        return {
            hit["path"]
            for hit in client.result(
                "index/search", {"query": "commit writer odd wide marked node walk", **params}
            )["hits"]
        }

    assert paths(path="lib/**") == paths(path=["lib/**"]) == {"lib/tree.rs"}
    assert paths(path=["src/**", "!src/c*"]) == {"src/with space#50%.py", "src/wide.js", "src/marked.py"}
    assert paths(lang="rust") == {"lib/tree.rs"}
    assert paths(lang=["rust", "javascript"]) == {"lib/tree.rs", "src/wide.js"}
    assert {
        h["kind"] for h in client.result("index/search", {"query": "wide", "kind": "function"})["hits"]
    } == {"function"}
    assert paths(k=1) != paths(k=5)
    assert paths(min_score=1000.0) == set()


def test_filters_in_the_question_and_beside_it(client: Checking) -> None:
    def found(query: str, **params: object) -> list[tuple[str, str]]:
        answer = client.result("index/search", {"query": query, **params})
        assert answer["mode"] == "list"
        return [(hit["path"], hit["symbol"]) for hit in answer["hits"]]

    assert found("kind:trait") == found("", kind="trait") == [("lib/tree.rs", "Walk")]
    assert found("name:wi*") == found("", name=["wi*", "!x"]) == [("src/wide.js", "wide")]
    assert found("kind:method -path:src/copy.py path:src") == [("src/commit.py", "commit")]
    assert found("calls:nothing") == found("", inherits="Nobody", lang="python") == []
    assert client.result("index/search", {"query": "kind:class lang:cobol"})["notes"]
    code, message = client.error("index/search", {"query": "kind:klass"})
    assert (code, message.startswith('kind: "klass" is none of')) == (-32602, True)
    code, message = client.error("index/search", {"query": "x path:../outside"})
    assert (code, "outside the root" in message) == (-32602, True)


def test_explain_and_weak(client: Checking) -> None:
    found = client.result("index/search", {"query": "commit", "explain": True})
    assert found["weak"] is False
    for hit in found["hits"]:
        values = {signal["name"]: signal["value"] for signal in hit["explain"]}
        total = sum(signal["contribution"] for signal in hit["explain"])
        assert total == pytest.approx(values["sum"], abs=1e-3)
    assert "explain" not in client.result("index/search", {"query": "commit"})["hits"][0]
    nonsense = client.result("index/search", {"query": "boil the soft egg and odd noodles gently"})
    assert nonsense["weak"] is True
    assert any("no good match" in note for note in nonsense["notes"])
    assert "weak" not in client.result("index/symbols", {"name": "commit"})


def test_related_and_symbols_take_filters(client: Checking) -> None:
    params = {"path": "src/commit.py", "line": 2}
    assert {
        hit["path"] for hit in client.result("index/related", {**params, "within": "README.md"})["hits"]
    } <= {"README.md"}
    assert client.result("index/related", {**params, "kind": ["class"]})["notes"][0].startswith("like ")
    found = client.result("index/symbols", {"name": "commit", "path": "!src/commit.py"})
    assert [hit["path"] for hit in found["hits"]] == ["src/copy.py"]


def test_literal_text(client: Checking) -> None:
    found = client.result("index/search", {"query": "(self, rows):", "literal": True})
    assert found["mode"] == "literal"
    assert [(hit["path"], hit["start_line"]) for hit in found["hits"]] == [
        ("src/commit.py", 2),
        ("src/copy.py", 2),
    ]


def test_equal_contents_are_shown_once_with_their_other_places(client: Checking) -> None:
    hit = client.result("index/symbols", {"name": "Writer.commit"})["hits"]
    assert {h["path"] for h in hit} == {"src/commit.py", "src/copy.py"}
    found = client.result("index/search", {"query": "durable generation"})["hits"]
    assert any(h.get("also") for h in found)


def test_a_change_before_the_question_is_in_the_answer_and_now_says_it_may_be_behind(daemon: Daemon) -> None:
    client = Checking(daemon.connect())
    before = client.result("index/search", {"query": "brand_new", "freshness": "now"})
    assert before["fresh"] is False
    assert before["reason"]
    (daemon.service.root / "new.py").write_text("def brand_new(x):\n    return x\n")
    after = client.result("index/search", {"query": "brand_new"})
    assert after["fresh"] is True
    assert after["generation"] > before["generation"]
    assert after["hits"][0]["path"] == "new.py"
    (daemon.service.root / "new.py").write_text("def other(x):\n    return x, x\n")
    stale = client.result("index/search", {"query": "brand_new", "freshness": "now"})["hits"][0]
    assert (stale["path"], stale["stale"], stale["text"]) == ("new.py", True, "")


@pytest.mark.parametrize(
    "query",
    ["foo(bar", "std::vector<", '"unbalanced', "a AND", "*", "commit\0walk", "x " * 5000, "\ud83d\ude00", "' OR 1=1 --", "\\", "%s{}"],
)  # fmt: skip
def test_any_text_is_a_question(client: Checking, query: str) -> None:
    for literal in (False, True):
        if not (literal and "\0" in query):
            client.result("index/search", {"query": query, "literal": literal})
    client.result("index/symbols", {"name": query})
    client.result("workspace/symbol", {"query": query})


@pytest.mark.parametrize("query", ["", "  ", "\0", "\n\t"])
def test_an_empty_question_is_told_so(client: Checking, query: str) -> None:
    code, message = client.error("index/search", {"query": query})
    assert (code, "empty" in message) == (-32602, True)


def test_symbols(client: Checking) -> None:
    hits = client.result("index/symbols", {"name": "commit"})["hits"]
    assert (hits[0]["symbol"], hits[0]["scope"], hits[0]["start_line"]) == ("commit", "Writer", 2)
    assert hits[0]["text"] == "    def commit(self, rows):"
    assert len(client.result("index/symbols", {"name": "commit", "k": 1})["hits"]) == 1
    assert client.result("index/symbols", {"name": "nowhere_at_all"})["hits"] == []


# --- the index itself


def test_status(shared: Daemon, client: Checking) -> None:
    found = client.result("index/status")
    assert found["root"] == str(shared.service.root)
    assert found["generation"] >= 1
    assert found["daemon"] == {
        "pid": os.getpid(), "protocol": PROTOCOL, "version": __version__, "clients": shared.server.clients,
    }  # fmt: skip
    assert found["watch"]["failed"] == ["caf\udce9"]


def test_sync(daemon: Daemon) -> None:
    client = Checking(daemon.connect())
    first = client.result("index/sync")
    (daemon.service.root / "more.py").write_text("def more(): pass\n")
    second = client.result("index/sync", {"timeout_ms": 30_000})
    assert second["generation"] > first["generation"]
    assert second["fresh"] is True


def test_reindex_reports_and_its_progress_ends(daemon: Daemon) -> None:
    asking, listening = Checking(daemon.connect()), Checking(daemon.connect())
    before = listening.result("index/subscribe")
    assert listening.result("index/subscribe") == before  # once more changes nothing
    (daemon.service.root / "more.py").write_text("def more(): pass\n")
    report = asking.result("index/reindex", {"full": True})
    assert report["files"]["scanned"] == len(FILES) + 2
    told = [listening.told()]
    while told[-1][0] != "index/generation":
        told.append(listening.told())
    assert told[-1][1]["epoch"] == report.get("epoch", told[-1][1]["epoch"])
    assert [params["state"] for name, params in told if name == "index/progress"] == [
        "running",
        "running",
        "done",
    ]


class FailingService(TreeService):
    """Cannot index."""

    async def reindex(self, *, full: bool) -> Report:
        with self.feed.run("index") as run:
            run.at("index", 3, 10)
            raise (
                StoreError("the disk is full; make room and try again")
                if not full
                else KeyError("a fault of ours")
            )


@pytest.mark.parametrize(
    ("full", "code", "failure"),
    [(False, -32803, "the disk is full; make room and try again"), (True, -32603, "'a fault of ours'")],
)
def test_progress_that_fails_ends_with_the_failure(
    tmp_path: Path, full: bool, code: int, failure: str
) -> None:
    with running(lay(tmp_path / "root"), FailingService) as daemon:
        asking, listening = Checking(daemon.connect()), Checking(daemon.connect())
        listening.result("index/subscribe")
        assert asking.error("index/reindex", {"full": full})[0] == code
        states = [listening.told()[1] for _ in range(3)]
        assert [state["state"] for state in states] == ["running", "running", "failed"]
        assert states[-1]["failure"] == failure
        assert states[-1]["done"] == 3


class EmptyService(TreeService):
    """Has nothing to answer from yet."""

    async def seen(self, freshness: Freshness) -> View:  # noqa: ARG002
        raise NotIndexedError(f"{self.root}: there is no index yet")


def test_not_ready_is_an_error_and_never_an_empty_answer(tmp_path: Path) -> None:
    with running(lay(tmp_path / "root"), EmptyService) as daemon:
        client = daemon.connect()
        for method, params in (
            ("index/search", {"query": "x"}), ("index/symbols", {"name": "x"}), ("index/related", {"path": "x", "line": 1}),
            ("workspace/symbol", {"query": "x"}), ("index/sync", {}),
        ):  # fmt: skip
            error = client.ask(method, params)["error"]
            assert (error["code"], error["data"]) == (-32803, {"kind": "NotIndexedError"})


def test_who_unsubscribes_by_leaving_is_told_no_more(daemon: Daemon) -> None:
    client = daemon.connect()
    client.result("index/subscribe")
    assert len(daemon.service.feed._listeners) == 1
    client.close()
    daemon.wait_for(lambda: not daemon.service.feed._listeners)
    other = daemon.connect()
    other.result("index/subscribe")
    other.result("shutdown")
    assert not daemon.service.feed._listeners


def test_a_listener_that_fails_is_dropped_and_the_others_are_told(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    client = Checking(daemon.connect())
    client.result("index/subscribe")
    daemon.service.feed.subscribe(lambda _: 1 / 0)  # type: ignore[arg-type]
    daemon.call(lambda: daemon.service.feed.run("index").__enter__())
    assert client.told()[0] == "index/progress"
    assert len(daemon.service.feed._listeners) == 1
    assert "ZeroDivisionError" in caplog.text


# --- the suite can fail


def test_an_answer_that_is_not_as_the_schema_has_it_is_caught(client: Checking) -> None:
    found = client.result("index/search", {"query": "commit"})
    for planted in (
        {**found, "more": 1}, {**found, "generation": "1"}, {k: v for k, v in found.items() if k != "fresh"},
        {**found, "hits": [{**found["hits"][0], "start_line": 0}]}, {**found, "mode": "guess"},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            validator("methods", "index/search", "result").validate(planted)
