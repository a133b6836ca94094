"""Parser processes: what one file does to its parser harms no other file, and the pool always ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from indexer import chunk, tokens
from indexer.chunk import worker
from indexer.chunk.cutting import Cuts, Task, contents_of, cut_all
from indexer.columns import columns_of
from indexer.keys import keys_of
from indexer.settings import ChunkSettings, WorkerSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPO = Path(__file__).resolve().parent.parent.parent
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")
PREAMBLE = """
import json, os, signal, sys, time
from indexer import chunk
from indexer.chunk import worker
from indexer.settings import ChunkSettings, WorkerSettings
from indexer.types import Chunk, FileChunks, Span

real = chunk.chunk
def hostile(language, text, settings):
    if b"HANG" in text:
        while True: pass
    if b"SLEEP" in text:
        time.sleep(3600)
    if b"WAIT" in text:
        time.sleep(1.5)
    if b"SEGV" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if b"KILL" in text or (b"ONCE" in text and first()):
        os.kill(os.getpid(), signal.SIGKILL)
    if b"EXIT" in text:
        os._exit(3)
    if b"HOG" in text:
        bytearray(3 << 30)
    if b"RAISE" in text:
        raise ValueError("what a bug looks like")
    if b"HALF" in text:  # dies after the pipe has carried half an answer
        os.write(worker_pipe(), b"\\x00\\x00\\x10\\x00only the beginning")
        os._exit(0)
    return real(language, text, settings)
chunk.chunk = hostile
KILLS, KILL = os.pipe()
os.set_blocking(KILLS, False)
def first():  # whether so many kills are left, in whatever process
    try:
        return bool(os.read(KILLS, 1))
    except BlockingIOError:
        return False
serve = worker._serve
def worker_pipe():
    return PIPE[0]
PIPE = []
def _serve(pipe, inherited, settings):
    PIPE.append(pipe.fileno())
    serve(pipe, inherited, settings)
worker._serve = _serve

def sizes(cuts):
    return dict(zip(cuts.tags, cuts.files.sizes.tolist(), strict=True))


def run(texts, seconds=20.0, processes=2):
    tasks = [worker.Task(i, "python", text.encode()) for i, text in enumerate(texts)]
    out = {}
    with worker.Pool(ChunkSettings(), WorkerSettings(processes=processes, file_timeout=seconds)) as pool:
        for result in pool.run(tasks):
            failed = isinstance(result, worker.Failed)
            done = {result.tag: [result.reason, result.detail]} if failed else sizes(result)
            assert not done.keys() & out.keys()
            out |= done
    return out
"""


def in_a_process(body: str) -> Any:
    """Run a script in a process of its own, one thread in it, as the command line is; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(body)],
        cwd=REPO,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("poison", "reason", "detail"),
    [
        ("SEGV", "parser-crashed", "the parser died of SIGSEGV"),
        ("KILL", "parser-crashed", "the parser died of SIGKILL"),
        ("EXIT", "parser-crashed", "the parser ended with status 3"),
        ("RAISE", "parser-crashed", "ValueError: what a bug looks like"),
        ("HALF", "parser-crashed", "the parser ended with status 0"),
        pytest.param("HOG", "parser-crashed", "the parser took more than 300 MB of memory", marks=LINUX),
        ("HANG", "timeout", "the parser was stopped after 1 s"),
    ],
)
def test_one_file_harms_no_other(poison: str, reason: str, detail: str) -> None:
    """S-029, S-013: the file at fault is named with its reason, and every other file of its batch is cut."""
    result = in_a_process(f"""
        texts = [f"def f{{i}}(): pass" for i in range(20)]
        texts[7] = "x = '{poison}'"
        print(json.dumps(run(texts, seconds=1.0)))
    """)
    assert result.pop("7") == [reason, detail]
    assert result == {str(i): 1 for i in range(20) if i != 7}


@LINUX
def test_a_parser_that_is_given_no_processor_is_waited_for_but_not_for_ever() -> None:
    result = in_a_process("""
        worker._PATIENCE = 5
        print(json.dumps(run(["x = 'WAIT'", "x = 'SLEEP'", "x = 1"], seconds=0.4)))
    """)
    assert result == {"0": 1, "1": ["timeout", "the parser was stopped after 0.4 s"], "2": 1}


@LINUX
def test_without_its_bound_a_file_takes_what_it_wants() -> None:
    """The planted fault of the test above: its file is cut as if nothing were wrong with it."""
    result = in_a_process("""
        worker.limit_memory = lambda size: None
        print(json.dumps(run(["x = 'HOG'"])))
    """)
    assert result == {"0": 1}


@LINUX
@pytest.mark.parametrize(
    ("language", "piece"), [("java", "a<"), ("c", "a=>"), ("kotlin", '"${'), ("perl", '"${')]
)
def test_what_costs_a_parser_gigabytes_or_its_life_costs_one_file(language: str, piece: str) -> None:
    result = in_a_process(f"""
        bad = worker.Task(0, {language!r}, {piece!r}.encode() * 60000)
        good = worker.Task(1, {language!r}, b"int good;")
        with worker.Pool(ChunkSettings(), WorkerSettings(processes=1, file_timeout=40.0)) as pool:
            failed = [result.tag for result in pool.run([bad, good]) if isinstance(result, worker.Failed)]
        import resource
        print(json.dumps([1 in failed, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]))
    """)
    failed, peak_megabytes = result
    assert not failed
    assert peak_megabytes < 500


def test_many_bad_files_end_all_the_same() -> None:
    result = in_a_process("""
        texts = [("SEGV", "EXIT", "RAISE", "def f(): pass")[i % 4] for i in range(40)]
        print(json.dumps(run(texts)))
    """)
    assert len(result) == 40
    assert sum(value == 1 for value in result.values()) == 10


def test_abandoning_a_run_leaves_no_process_behind() -> None:
    result = in_a_process("""
        tasks = (worker.Task(i, "python", b"x = 1") for i in range(10000))
        with worker.Pool(ChunkSettings(), WorkerSettings(processes=2)) as pool:
            next(iter(pool.run(tasks)))
            pids = [child._process._process.pid for child in pool._children]
        alive = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        print(json.dumps([len(pids), alive]))
    """)
    assert result == [2, []]


def test_a_killed_parent_takes_its_children_along() -> None:
    result = in_a_process("""
        out, into = os.pipe()
        if not os.fork():
            with worker.Pool(ChunkSettings(), WorkerSettings(processes=2)) as pool:
                for _ in pool.run(worker.Task(i, "python", b"x = 1\\n" * 60000) for i in range(40)):
                    if all(c.ready for c in pool._children) and len(pool._children) == 2:
                        os.write(into, json.dumps([c._process._process.pid for c in pool._children]).encode())
                        os.kill(os.getpid(), signal.SIGKILL)
        os.wait()
        pids = json.loads(os.read(out, 1000))
        until = time.monotonic() + 20
        def running(pid):
            try:
                return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
            except FileNotFoundError:
                return False
        while any(map(running, pids)) and time.monotonic() < until:
            time.sleep(0.05)
        print(json.dumps([len(pids), [pid for pid in pids if running(pid)]]))
    """)
    assert result == [2, []]


def test_a_process_with_threads_starts_new_interpreters() -> None:
    """Forking one would copy locks that other threads hold. The script here comes from a pipe: it is no file."""
    result = in_a_process("""
        import threading
        assert worker.may_fork() == (sys.platform == "linux")
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        try:
            assert not worker.may_fork()
            print(json.dumps(run(["def f(): pass"] * 5)))
        finally:
            stop.set()
            thread.join()
    """)
    assert result == {str(i): 1 for i in range(5)}


def test_a_process_that_cannot_start_blames_no_file() -> None:
    result = in_a_process("""
        from indexer.errors import WorkerError
        worker.may_fork = lambda: False
        sys.executable = "/bin/false"
        try:
            run(["def f(): pass"] * 5)
        except WorkerError as error:
            print(json.dumps(str(error)))
    """)
    assert result.startswith("a parser process could not be started: the parser ended with status 1")


@pytest.mark.parametrize(("files", "kills"), [(1, 1), (2, 3), (20, 3)])
def test_a_parser_that_was_killed_from_outside_blames_no_file(files: int, kills: int) -> None:
    """A system short of memory kills whom it likes; no later run would try the file again until it changed."""
    result = in_a_process(f"""
        os.write(KILL, bytes({kills}))  # twice in the batch, once when it is alone
        print(json.dumps(run(["x = 'ONCE'"] + ["def f(): pass"] * ({files} - 1), processes=1)))
    """)
    assert result == {str(i): 1 for i in range(files)}


def test_a_parser_that_was_killed_before_it_was_ready_is_started_again() -> None:
    result = in_a_process("""
        os.write(KILL, b"x")
        limit = worker.limit_memory
        def killed(size):
            first() and os.kill(os.getpid(), signal.SIGKILL)
            limit(size)
        worker.limit_memory = killed
        print(json.dumps(run(["def f(): pass"] * 5)))
    """)
    assert result == {str(i): 1 for i in range(5)}


def same(some: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))


def test_what_comes_back_is_what_this_process_would_have_made() -> None:
    texts = [
        b"def a(x):\n    return x\n\nclass B:\n    def c(self): pass\n",
        b"",
        b"y = 2\n",
        "# 中文\n".encode(),
    ]
    tasks = [Task(i, "python", text) for i, text in enumerate(texts)]
    with worker.Pool(ChunkSettings(), WorkerSettings(processes=1)) as pool:
        [result] = pool.run(tasks)
    assert isinstance(result, Cuts)
    assert result.tags == [0, 1, 2, 3]
    files = columns_of([chunk.chunk("python", text, ChunkSettings()) for text in texts])
    assert result.files.strings == files.strings
    assert same(result.files[:-1], files[:-1])
    contents = contents_of(texts, files)
    assert contents == [
        b"def a(x):\n    return x",
        b"class B:",
        b"def c(self): pass",
        b"y = 2",
        "# 中文".encode(),
    ]
    assert np.array_equal(result.keys, keys_of(contents))
    assert same(result.terms, tokens.count_terms(contents))


def test_of_what_is_known_no_terms_are_made_unless_they_are_asked_for() -> None:
    texts = [b"def a(): pass\n\ndef b(): pass\n", b"def b(): pass\n\ndef c(): pass\n"]
    contents = [b"def a(): pass", b"def b(): pass", b"def b(): pass", b"def c(): pass"]
    known = keys_of(contents[1:3]).tobytes()
    cuts = cut_all([Task(0, "python", texts[0]), Task(1, "python", texts[1], known)], ChunkSettings())
    assert np.array_equal(cuts.keys, keys_of(contents))
    assert cuts.fresh.tolist() == [0, 3]
    assert same(cuts.terms, tokens.count_terms([contents[0], contents[3]]))
    assert same(cuts.terms_of(np.array([3]), texts), tokens.count_terms(contents[3:]))
    assert same(cuts.terms_of(np.array([0, 2]), texts), tokens.count_terms([contents[0], contents[2]]))


def test_texts_are_read_one_batch_ahead_of_the_parsers() -> None:
    """So that none waits while an answer is looked at, and no more texts are in memory than that takes."""
    read: list[int] = []

    def tasks() -> Iterator[Task]:
        for number in range(6):
            read.append(number)
            yield Task(number, "text", b"one line of words\n" * 15_000)  # a batch by itself

    with worker.Pool(ChunkSettings(), WorkerSettings(processes=1)) as pool:
        seen = [len(read) for _ in pool.run(tasks())]
    assert seen == [2, 3, 4, 5, 6, 6]
