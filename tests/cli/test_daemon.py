"""The daemon's commands, and commands that a daemon answers: the same output, at once, and the usual way without one."""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexer.serve import place
from indexer.serve.client import connect
from indexer.serve.protocol import PROTOCOL
from tests.serve.homes import BOUND, Home, alive, home_of_daemons, kill, small_tree, wait_until

HEAVY = {
    "numpy", "msgspec", "xxhash", "asyncio", "tree_sitter", "watchdog", "pathspec", "Stemmer", "identify",
    "pathlib", "shutil", "socket", "selectors", "hashlib", "typing", "unicodedata", "dataclasses", "inspect", "logging", "subprocess", "tomllib", "platformdirs", "indexer.search", "indexer.config",
}  # fmt: skip
# What of our own a command loads that a daemon answers.
CLIENT = {
    "indexer", "indexer.cli", "indexer.cli.encoding", "indexer.cli.light", "indexer.cli.parser", "indexer.cli.progress",
    "indexer.cli.show", "indexer.errors", "indexer.plainly", "indexer.serve", "indexer.serve.client", "indexer.serve.place",
    "indexer.serve.protocol",
}  # fmt: skip


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    with home_of_daemons(monkeypatch) as made:
        yield made


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return small_tree(tmp_path / "tree")


@pytest.fixture
def served(home: Home, tree: Path) -> Path:
    """A tree with a daemon whose index is current."""
    home.start(tree)
    home.asked("reindex", cwd=tree)
    return tree


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return {**one, "ms": 0} == {**other, "ms": 0}


# --- answers


@pytest.mark.parametrize(
    "words",
    [
        ["search", "Store.commit"],
        ["search", "how rows are kept", "-k", "1", "--lang", "markdown"],
        ["search", "store", "--path", "pkg/*", "--kind", "class", "--mode", "lexical", "--min-score", "0.1"],
        ["search", "--literal", "return 1"],
        ["search", "name:commit", "--path", "pkg/*"],
        ["search", "--name", "com*", "--kind", "method"],
        ["search", "Store.commit -path:*.md", "--explain"],
        ["symbols", "commit"],
        ["symbols", "com*", "--path", "pkg", "--kind", "method", "-k", "1"],
        ["related", "pkg/store.py:4"],
        ["related", "pkg/store.py:4", "--path", "!pkg", "--lang", "md", "-k", "2"],
    ],
)
def test_a_daemons_answer_is_the_one_that_the_command_finds(
    home: Home, served: Path, words: list[str]
) -> None:
    by_daemon = home.asked(*words, cwd=served)
    assert home.run("daemon", "stop", cwd=served).returncode == 0
    assert same(by_daemon, home.asked(*words, cwd=served))
    assert by_daemon["hits"] or words[0] == "related"


def test_for_people_it_reads_the_same(home: Home, served: Path) -> None:
    words = ("search", "Store.commit")
    by_daemon, alone = home.run(*words, cwd=served), home.run(*words, "--no-daemon", "--now", cwd=served)
    assert by_daemon.stdout == alone.stdout
    assert by_daemon.stdout.startswith("pkg/store.py:4 Store.commit")
    assert by_daemon.stderr == ""
    assert home.run("related", "store.py:4", cwd=served / "pkg").returncode == 0
    assert "nothing found" in home.run("symbols", "no_such_name", cwd=served).stderr


def test_an_answer_holds_what_was_written_before_the_question(home: Home, served: Path) -> None:
    for number in range(5):
        (served / "new.py").write_text(f"def brand_new_{number}(): pass\n")
        found = home.asked("search", f"brand_new_{number}", cwd=served)
        assert found["fresh"] is True
        assert found["hits"][0]["symbol"] == f"brand_new_{number}"
    now = home.asked("search", "brand_new_4", "--now", cwd=served)
    assert (now["fresh"], "as it stands" in now["reason"]) == (False, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["search", ""], "the question is empty"),
        (["search", "x", "--kind", "klass"], 'kind: "klass" is none of'),
        (["search", "x", "-k", "0"], "k"),
        (["search", "x kind:klass"], 'kind: "klass" is none of'),
        (["symbols", "x", "--kind", "klass"], 'kind: "klass" is none of'),
        (["related", "pkg/store.py:99"], "and no line 99"),
        (["related", "nowhere"], "expected a path, a colon and a line number"),
        (["related", "nowhere.py:3"], "nowhere.py"),
        (["symbols", ""], "give a name"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_line(
    home: Home, served: Path, words: list[str], message: str
) -> None:
    done = home.run(*words, cwd=served)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("indexer: ")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_question_of_odd_bytes_has_an_answer(home: Home, served: Path) -> None:
    for question in ("\udcff", "-- -k", "%s%n", '"', "x" * 10_000, "数据库"):
        done = home.run("search", "--json", "--", question, cwd=served)
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout)["hits"], list)


def modules(home: Home, tree: Path, *words: str) -> set[str]:
    """What a command has loaded when it is done."""
    code = (
        "import sys\nfrom indexer.cli import main\n"
        f"status = main({list(words)!r})\nprint(*sys.modules, file=sys.stderr)\nsys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree, env=home.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "words", [["search", "commit"], ["symbols", "commit"], ["related", "pkg/store.py:4"], ["reindex"]]
)
def test_with_a_daemon_nothing_heavy_is_loaded(home: Home, served: Path, words: list[str]) -> None:
    loaded = modules(home, served, *words)
    assert not loaded & HEAVY
    assert {name for name in loaded if name.partition(".")[0] == "indexer"} == CLIENT


def test_done_here_the_same_command_loads_it_all(home: Home, served: Path) -> None:
    loaded = modules(home, served, "search", "commit", "--no-daemon", "--now")
    assert {"numpy", "xxhash", "dataclasses"} <= loaded


def test_a_question_is_quick(home: Home, served: Path) -> None:
    """80 ms on a machine that does nothing else (see the figures); bounded here so that a slow path is seen."""
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        assert home.run("search", "commit", cwd=served).returncode == 0
        seconds.append(time.perf_counter() - started)
    assert statistics.median(seconds) < 5


# --- writing


def test_reindex_is_handed_over(home: Home, served: Path) -> None:
    (served / "new.py").write_text("def brand_new(): pass\n")
    report = home.asked("reindex", cwd=served)
    assert list(report) == ["root", "generation", "files", "chunks", "embedded", "seconds"]
    assert report["files"]["scanned"] == 3
    done = home.run("reindex", "--full", cwd=served)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 files (3 added")
    quiet = home.run("reindex", "--quiet", cwd=served)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    refused = home.run("reindex", "--no-daemon", cwd=served)
    assert refused.returncode == 1
    assert "another indexer" in refused.stderr


def test_a_rebuild_beside_a_daemon_loses_no_edit_s083(home: Home, served: Path) -> None:
    home.asked("reindex", "--full", cwd=served)
    (served / "late.py").write_text("def edited_after(): pass\n")
    assert home.asked("search", "edited_after", cwd=served)["hits"][0]["path"] == "late.py"
    home.asked("daemon", "restart", cwd=served)
    assert home.asked("search", "edited_after", cwd=served)["hits"][0]["path"] == "late.py"


def test_a_long_run_is_shown_as_it_goes(home: Home, served: Path) -> None:
    for number in range(400):
        (served / f"f{number}.py").write_text(
            f"def function_{number}(x):\n    return x + {number}\n\n\n" * 20
        )
    pid, terminal = os.forkpty()
    if not pid:
        os.chdir(served)
        os.execve(sys.executable, [sys.executable, "-m", "indexer", "reindex", "--full"], home.environment)
    said = b""
    try:
        while piece := os.read(terminal, 4096):
            said += piece
    except OSError:  # Linux's word for the end of a terminal
        pass
    assert os.waitpid(pid, 0)[1] == 0
    assert b" files, " in said
    assert b"402 files (402 added" in said


# --- without an answer


def test_a_daemon_that_does_not_answer_is_done_without(home: Home, served: Path) -> None:
    pid = place.read_announcement(served / ".indexer")
    assert pid is not None
    os.kill(pid.pid, signal.SIGSTOP)
    try:
        done = home.run("search", "Store.commit", "--json", cwd=served)
    finally:
        os.kill(pid.pid, signal.SIGCONT)
    assert done.returncode == 0
    assert json.loads(done.stdout)["hits"]
    assert "has not answered" in done.stderr
    assert "done without it" in done.stderr


def test_a_daemon_of_another_protocol_is_done_without_and_stopped(home: Home, tree: Path) -> None:
    home.asked("reindex", cwd=tree)
    place.make_runtime_dir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place.place_of(tree).socket)
        listener.listen()
        thread = threading.Thread(target=answer_as_another, args=(listener,), daemon=True)
        thread.start()
        done = home.run("search", "Store.commit", cwd=tree)
        assert done.returncode == 0
        assert done.stdout.startswith("pkg/store.py:4")
        assert done.stderr.count("\n") == 1
        assert f"protocol {PROTOCOL + 1}" in done.stderr
        for action in ("status", "start"):
            done = home.run("daemon", action, cwd=tree)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1)
            assert "indexer daemon restart" in done.stderr
        assert home.run("daemon", "stop", cwd=tree).returncode == 0
        thread.join(BOUND)
        assert not thread.is_alive()


def answer_as_another(listener: socket.socket) -> None:
    """Say hello in another protocol to whoever comes, until told to stop."""
    while True:
        connection = listener.accept()[0]
        with connection:
            while data := connection.recv(1 << 16):
                asked = json.loads(data.partition(b"\r\n\r\n")[2])
                body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"protocol": PROTOCOL + 1}})
                connection.sendall(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
                if asked["method"] == "index/stop":
                    return


def test_a_planted_announcement_is_told_in_a_line_and_not_followed(home: Home, tree: Path) -> None:
    home.asked("reindex", cwd=tree)
    with socket.socket(socket.AF_UNIX) as trap:
        path = str(home.runtime / "trap.sock")
        trap.bind(path)
        trap.listen()
        said = {"socket": path, "pid": os.getpid(), "protocol": PROTOCOL, "version": "1"}
        (tree / ".indexer" / "daemon.json").write_text(json.dumps(said))
        done = home.run("search", "Store.commit", cwd=tree)
        assert done.stdout.startswith("pkg/store.py:4")
        assert done.stderr.count("\n") == 1
        assert "names a socket outside" in done.stderr
        for action in ("status", "stop"):
            done = home.run("daemon", action, cwd=tree)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        trap.setblocking(False)
        with pytest.raises(BlockingIOError):
            trap.accept()


def test_settings_of_its_own_are_not_the_daemons(home: Home, served: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f"[store]\ndir = '{tmp_path / 'indexes'}'\n")
    done = home.run("search", "Store.commit", "--now", "--config", mine, cwd=served)
    assert "no index" in done.stderr


# --- started by itself


def test_a_question_starts_the_daemon_where_that_is_set(home: Home, tree: Path) -> None:
    assert home.run("search", "Store.commit", cwd=tree).returncode == 0
    assert connect(tree) is None
    home.settings("[daemon]\nautostart = true\n")
    found = home.asked("search", "Store.commit", cwd=tree)
    assert (found["fresh"], found["hits"][0]["path"]) == (True, "pkg/store.py")
    client = connect(tree, timeout=BOUND)
    assert client is not None
    client.close()
    kill(client.pid)  # S-089: once more, after a crash
    assert home.asked("search", "Store.commit", cwd=tree)["hits"]


def test_twenty_questions_at_once_start_one_daemon(home: Home, tree: Path) -> None:
    home.settings("[daemon]\nautostart = true\n")
    asking = [home.popen("search", "Store.commit", "--json", cwd=tree) for _ in range(20)]
    found = [process.communicate(timeout=BOUND * 2) for process in asking]
    assert [process.returncode for process in asking] == [0] * 20, found
    assert all(json.loads(out)["hits"][0]["path"] == "pkg/store.py" for out, _ in found)
    assert all(json.loads(out)["fresh"] for out, _ in found)
    assert len(home.locks()) == 1


def test_a_daemon_that_always_crashes_is_given_up_and_told_of_s089(home: Home, tree: Path) -> None:
    home.settings("[daemon]\nautostart = true\n")
    for _ in range(3):
        assert home.run("search", "commit", cwd=tree).returncode == 0
        client = connect(tree, timeout=BOUND)
        assert client is not None
        client.close()
        kill(client.pid)
    for _ in range(2):
        done = home.run("search", "commit", cwd=tree)
        assert done.returncode == 0
        assert done.stdout
        assert "crashed 3 times" in done.stderr
        assert "serves" in done.stderr  # the log's tail
        assert connect(tree) is None


# --- the daemon's own commands


def test_status_tells_how_things_stand(home: Home, served: Path) -> None:
    found = home.asked("daemon", "status", cwd=served / "pkg")
    assert found["running"] is True
    assert (found["root"], found["current"], found["files"]) == (str(served), True, 2)
    assert place.is_our_socket(found["socket"])
    text = home.run("daemon", "status", cwd=served).stdout
    for word in ("root  ", "daemon  ", "state       current", "watching  ", "socket  ", "log  "):
        assert word in text
    assert "daemon  " in home.run("status", cwd=served).stdout
    assert home.asked("status", cwd=served)["daemon"]["generation"] == found["generation"]


def test_status_without_one(home: Home, tree: Path) -> None:
    done = home.run("daemon", "status", cwd=tree)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"indexer: {tree}: no daemon runs; `indexer daemon start` starts one\n"
    done = home.run("daemon", "status", "--json", cwd=tree)
    assert json.loads(done.stdout) == {"running": False, "root": str(tree), "problem": ""}


def test_in_the_foreground_it_logs_to_stderr(home: Home, tree: Path) -> None:
    with home.popen("daemon", "run", cwd=tree) as process:
        wait_until(lambda: alive(process.pid) and place.is_our_socket(place.place_of(tree).socket))
        wait_until(lambda: home.run("daemon", "status", cwd=tree).returncode == 0)
        assert home.run("daemon", "stop", cwd=tree).returncode == 0
        out, errors = process.communicate(timeout=BOUND)
    assert (process.returncode, out) == (0, "")
    assert "serves" in errors
    assert not Path(place.place_of(tree).log).exists()


@pytest.mark.parametrize("words", [["daemon"], ["daemon", "nonsense"], ["daemon", "start", "--nonsense"]])
def test_wrong_usage(home: Home, tree: Path, words: list[str]) -> None:
    done = home.run(*words, cwd=tree)
    assert done.returncode == 2
    assert "usage: indexer" in done.stderr


def test_the_file_system_is_no_root(home: Home, tree: Path) -> None:
    for action in ("run", "start", "status", "unit"):
        done = home.run("daemon", action, "/", cwd=tree)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "the whole file system" in done.stderr


def test_the_schema_is_printed(home: Home, tree: Path) -> None:
    done = home.run("daemon", "schema", cwd=tree)
    assert json.loads(done.stdout)["protocol"] == PROTOCOL
