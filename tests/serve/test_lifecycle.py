"""A daemon's life, with real processes: one a root, ready when it says so, and nothing in the way once it has ended."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from indexer.errors import DaemonError
from indexer.serve import lock, place, start
from indexer.serve.client import SilentError, connect
from indexer.serve.protocol import PROTOCOL
from tests.serve.homes import (
    BOUND,
    INDEXER,
    SYNC,
    Home,
    alive,
    answers,
    kill,
    many_files,
    small_tree,
    sound,
    sync,
    wait_until,
)
from tests.serve.test_place import deep_folder
from tests.trees import git

# --- ready when it says so


def test_started_it_is_ready_and_says_where_it_is(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    where = place.place_of(tree)
    with home.client(tree) as client:
        assert client.pid == pid
    sync(home, tree)
    said = json.loads((tree / ".indexer" / "daemon.json").read_bytes())
    assert {key: said[key] for key in ("socket", "pid", "protocol")} == {
        "socket": where.socket, "pid": pid, "protocol": PROTOCOL,
    }  # fmt: skip
    files = [where.socket, where.lock, where.log, where.runs, f"{tree}/.indexer/daemon.json"]
    assert [oct(stat.S_IMODE(os.lstat(file).st_mode)) for file in files] == ["0o600"] * len(files)
    assert stat.S_IMODE(os.lstat(where.directory).st_mode) == 0o700


def test_ended_it_leaves_nothing_in_the_way(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    sync(home, tree)
    assert home.asked("daemon", "stop", cwd=tree) == {"root": str(tree), "stopped": True}
    where = place.place_of(tree)
    assert not lock.is_held(where.lock)
    assert not any(
        os.path.lexists(path) for path in (where.socket, where.runs, tree / ".indexer/daemon.json")
    )
    wait_until(lambda: not alive(pid))
    assert home.asked("daemon", "stop", cwd=tree)["stopped"] is False
    sound(home, tree)


def test_it_belongs_to_nobody_and_holds_nothing_open(home: Home, tree: Path) -> None:
    """S-095: who started it may end; and who waits for the end of what a client inherited does not wait for a daemon."""
    reads, writes = os.pipe()
    done = subprocess.run(
        [*INDEXER, "daemon", "start"],
        cwd=tree, env=home.environment, pass_fds=(writes,), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    os.close(writes)
    assert os.read(reads, 1) == b""  # the end, since nobody has it open for writing any more
    os.close(reads)
    with home.client(tree) as client:
        fields = Path(f"/proc/{client.pid}/stat").read_text().rpartition(")")[2].split()
        assert fields[3] != str(os.getsid(0))
        assert Path(f"/proc/{client.pid}/cwd").readlink() == Path("/")


def test_nothing_of_the_repository_is_imported(home: Home, tree: Path) -> None:
    for name in ("numpy", "msgspec", "asyncio"):  # of the daemon alone: who starts it loads none of them
        (tree / f"{name}.py").write_text("raise SystemExit('the repository ran')\n")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "indexer", "daemon", "start"],
        cwd=tree, env=home.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert start.stop(str(tree), timeout=BOUND)
    code = "import sys; sys.path.insert(0, sys.argv[1]); from indexer.serve import start; start.start(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", code, str(tree)], cwd=tree, env=home.environment, check=True)
    sync(home, tree)


def test_a_second_one_comes_to_the_first(home: Home, tree: Path, tmp_path: Path) -> None:
    pid = home.start(tree)
    again = home.asked("daemon", "start", cwd=tree)
    assert (again["pid"], again["started"]) == (pid, False)
    done = home.run("daemon", "run", cwd=tree)
    assert done.returncode == 1
    assert done.stderr == f"indexer: {tree}: a daemon serves this root already\n"
    (tmp_path / "link").symlink_to(tree)
    assert home.asked("daemon", "start", tmp_path / "link", cwd=tmp_path)["pid"] == pid


def test_restarted_it_is_another_process(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    assert home.asked("daemon", "restart", cwd=tree)["pid"] != pid
    wait_until(lambda: not alive(pid))


def test_a_root_4000_bytes_deep_s087(home: Home, tmp_path: Path) -> None:
    root = small_tree(Path(deep_folder(tmp_path, 4000)) / "t")
    with start.start(str(root), timeout=BOUND) as client:
        client.request("index/sync", SYNC, timeout=BOUND)
        found = client.request("index/search", {"query": "Store.commit"}, timeout=BOUND)
        assert found["hits"][0]["path"] == "pkg/store.py"
    assert start.stop(str(root), timeout=BOUND)


# --- why it did not start


def told(home: Home, tree: Path, *words: str) -> str:
    done = home.run("daemon", *words, cwd=tree)
    assert (done.returncode, done.stdout) == (1, ""), done
    return done.stderr


def test_why_it_did_not_start_is_told_in_a_line(home: Home, tree: Path, tmp_path: Path) -> None:
    home.settings("[scan]\nnonsense = 1")
    said = told(home, tree, "start")
    assert "scan.nonsense: unknown setting" in said
    assert said.count("\n") == 1
    home.settings("")
    (tmp_path / "elsewhere").mkdir()
    (tree / ".indexer").symlink_to(tmp_path / "elsewhere")
    assert "symbolic link" in told(home, tree, "start")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (tree / ".indexer").unlink()
    (tree / ".indexer").mkdir()
    (tree / ".indexer" / "manifest.json").write_text("{}")
    git(tree, "init", "-q")
    git(tree, "add", "-f", ".indexer/manifest.json")
    said = told(home, tree, "start")
    assert "came with the repository" in said
    assert said.count("\n") == 1
    assert connect(tree) is None


def test_a_crash_before_it_is_ready_is_told_with_the_logs_tail(home: Home, tree: Path) -> None:
    said = []
    for limit in range(6, 16):  # open files: with fewer no process starts, with more the daemon does
        script = (
            f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))\n"
            "import sys; from indexer.cli import main; sys.exit(main(['daemon', 'start']))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=tree, env=home.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if not done.returncode:
            break
        assert done.stderr.startswith(f"indexer: {tree}: "), done.stderr
        said.append(done.stderr)
    assert any("ended before it was ready" in text and "Too many open files" in text for text in said)


def test_there_is_none_where_there_are_no_unix_sockets(
    home: Home, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "supported", lambda: False)
    assert connect(tree) is None
    for call in (start.start, start.stop):
        with pytest.raises(DaemonError, match="needs a Unix socket") as caught:
            call(str(tree))
        assert "\n" not in str(caught.value)


# --- one a root


def test_twenty_who_start_it_at_once_have_one_s093(home: Home, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tree)
    started = [
        home.popen("daemon", "start", tmp_path / ("link" if number % 2 else "tree"), "--json", cwd=tmp_path)
        for number in range(20)
    ]
    found = [process.communicate(timeout=BOUND) for process in started]
    assert [process.returncode for process in started] == [0] * 20, found
    facts = [json.loads(out) for out, _ in found]
    assert len({fact["pid"] for fact in facts}) == 1
    assert sum(fact["started"] for fact in facts) >= 1
    assert len(home.locks()) == 1


def test_of_many_that_would_be_the_daemon_one_is(home: Home, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tree)
    running = [
        home.popen("daemon", "run", tree.with_name(name), cwd=tmp_path) for name in ("tree", "link") * 5
    ]
    try:
        wait_until(lambda: sum(process.poll() is None for process in running) <= 1)
        wait_until(lambda: answers(tree))
        lost = [process.communicate(timeout=BOUND)[1] for process in running if process.poll() is not None]
        assert [(line.count("\n"), "serves this root already" in line) for line in lost] == [(1, True)] * 9
    finally:
        for process in running:
            process.terminate()
            process.communicate(timeout=BOUND)


def test_a_socket_that_a_dead_daemon_left_is_replaced(home: Home, tree: Path) -> None:
    kill(home.start(tree))
    assert place.is_our_socket(place.place_of(tree).socket)
    assert connect(tree) is None
    pid = home.start(tree)
    with home.client(tree) as client:
        assert client.pid == pid


def test_a_live_socket_is_never_stolen(home: Home, tree: Path) -> None:
    path = place.place_of(tree).socket
    place.make_runtime_dir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        done = home.run("daemon", "run", cwd=tree)
        assert done.returncode == 1
        assert "another process listens there" in done.stderr
        listener.setblocking(False)
        listener.accept()[0].close()  # what was tried came here
        assert os.lstat(path).st_ino
    Path(path).unlink()
    Path(path).write_text("precious")
    assert "not a socket of yours" in told(home, tree, "start")
    assert Path(path).read_text() == "precious"


def test_no_process_is_signalled_for_its_number_in_a_file_s091(home: Home, tree: Path) -> None:
    where = place.place_of(tree)
    place.make_runtime_dir()
    with subprocess.Popen(["sleep", "600"]) as bystander:
        try:
            (tree / ".indexer").mkdir()
            place.announce(tree / ".indexer", place.Announcement(where.socket, bystander.pid, PROTOCOL, "1"))
            Path(where.lock).write_text(str(bystander.pid))
            assert home.asked("daemon", "stop", cwd=tree)["stopped"] is False
            home.start(tree)
            assert home.asked("daemon", "stop", cwd=tree)["stopped"] is True
            assert bystander.poll() is None
        finally:
            bystander.kill()


# --- how it ends


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 0)]
)
def test_a_signal_ends_it_cleanly_in_the_middle_of_a_run(
    home: Home, tree: Path, number: signal.Signals, status: int
) -> None:
    many_files(tree, 300)
    with home.popen("daemon", "run", cwd=tree) as process:
        wait_until(lambda: answers(tree))
        time.sleep(0.3)
        started = time.monotonic()
        process.send_signal(number)
        _, errors = process.communicate(timeout=BOUND)
        assert time.monotonic() - started < 10  # 2 s are asked for; see the figures
    assert process.returncode == status, errors
    assert "Traceback" not in errors
    assert connect(tree) is None
    assert not place.is_our_socket(place.place_of(tree).socket)
    home.asked("reindex", cwd=tree)
    sound(home, tree)


def test_an_updater_that_hangs_does_not_keep_it(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    sync(home, tree)
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    assert children
    for child in children:
        os.kill(child, signal.SIGSTOP)
    assert start.stop(str(tree), timeout=BOUND)
    wait_until(lambda: not any(map(alive, [pid, *children])))


def test_stopping_works_while_it_indexes_and_waits_for_the_lock(home: Home, tree: Path) -> None:
    many_files(tree, 300)
    for _ in range(3):
        home.start(tree)
        time.sleep(random.random() / 2)
        assert start.stop(str(tree), timeout=BOUND)
        assert not lock.is_held(place.place_of(tree).lock)


def test_a_daemon_that_does_not_answer_is_told_of_and_left_alone(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(SilentError):
            start.stop(str(tree), timeout=0.5)
        with pytest.raises(SilentError):
            start.start(str(tree), timeout=0.5)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert alive(pid)
    assert start.stop(str(tree), timeout=BOUND)


def test_a_root_that_has_gone_can_still_be_rid_of_its_daemon(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    sync(home, tree)
    shutil.rmtree(tree)
    done = home.run("daemon", "stop", tree, cwd=tree.parent)
    assert (done.returncode, done.stdout) == (0, f"stopped: {tree}\n"), done.stderr
    wait_until(lambda: not alive(pid))


def test_what_daemons_of_roots_that_have_gone_left_is_removed(home: Home, tree: Path, tmp_path: Path) -> None:
    gone = [small_tree(tmp_path / name) for name in ("ended", "killed", "alive")]
    pids = [home.start(root) for root in gone]
    assert start.stop(str(gone[0]), timeout=BOUND)
    kill(pids[1])
    keys = [place.place_of(root).key for root in gone]
    for root in gone:
        shutil.rmtree(root)
    home.start(tree)
    left = {path.name.partition(".")[0] for path in home.runtime.glob("indexer/*")}
    assert left == {place.place_of(tree).key, keys[2]}
    assert start.stop(str(gone[2]), timeout=BOUND)


def test_nobody_connected_for_long_it_ends(home: Home, tree: Path) -> None:
    home.settings("[daemon]\nidle_exit = 0.02\n")
    pid = home.start(tree)
    with home.client(tree) as client:
        time.sleep(2)  # longer than the idle time
        assert client.request("index/status")["daemon"]["pid"] == pid
    wait_until(lambda: not alive(pid))
    assert "no client for 0.02 minutes" in Path(place.place_of(tree).log).read_text()
    assert not place.is_our_socket(place.place_of(tree).socket)


def test_one_editor_that_is_killed_does_not_end_it_s095(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    code = "import sys, time; from indexer.serve.client import connect; c = connect(sys.argv[1]); print(c.pid, flush=True); time.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tree)], env=home.environment, stdout=subprocess.PIPE, text=True
    ) as editor:
        assert editor.stdout is not None
        assert int(editor.stdout.readline()) == pid
        editor.kill()
    sync(home, tree)


def wakeups(pid: int) -> int:
    """How often the threads of a process have gone to sleep since it began."""
    count = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        count += int(status.read_text().rpartition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return count


def test_an_idle_daemon_sleeps(home: Home, tree: Path) -> None:
    pid = home.start(tree)
    sync(home, tree)
    time.sleep(3)
    before = wakeups(pid)
    time.sleep(5)
    assert wakeups(pid) - before <= 1
