"""The log: everything that is needed to find a fault, and nothing of what is indexed or asked."""

from __future__ import annotations

import ast
import logging
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from indexer.errors import QueryError, StoreError
from indexer.serve import logs, place, start
from indexer.serve.protocol import RpcError
from tests.serve.homes import BOUND, Home, wait_until

SECRET = "open_sesame"


def parse() -> None:
    ast.parse(f"def {SECRET}(:\n")


def convert() -> None:
    int(SECRET)


def look_up() -> None:
    dict[str, int]()[SECRET]


def refuse() -> None:
    raise QueryError(f'kind: "{SECRET}" is none of ours')


def led_to() -> None:
    try:
        convert()
    except ValueError as error:
        raise StoreError("a.seg: damaged") from error


def together() -> None:
    raise ExceptionGroup(SECRET, [ValueError(SECRET), OSError(2, "No such file", "a.py")])


def noted() -> None:
    error = OSError(2, "No such file", "a.py")
    error.add_note(SECRET)
    raise error


FAULTS: list[Callable[[], None]] = [parse, convert, look_up, refuse, led_to, together, noted]


def record_of(fault: Callable[[], None]) -> logging.LogRecord:
    try:
        fault()
    except Exception as error:  # noqa: BLE001
        return logging.LogRecord(
            "x", logging.ERROR, "", 0, "it failed", None, (type(error), error, error.__traceback__)
        )
    raise AssertionError("no fault")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_traceback_names_places_and_quotes_nothing(fault: Callable[[], None]) -> None:
    text = logs.Formatter().format(record_of(fault))
    assert SECRET not in text
    assert f"in {fault.__name__}\n" in text
    assert "it failed" in text
    # What this looks for is there without it.
    assert SECRET in logging.Formatter().format(record_of(fault))


def test_messages_that_name_files_are_kept_and_causes_come_first() -> None:
    text = logs.Formatter().format(record_of(led_to))
    assert text.index("ValueError") < text.index("which led to") < text.index("StoreError: a.seg: damaged")
    assert "No such file" in logs.Formatter().format(record_of(together))
    circle = ValueError()
    circle.__cause__ = OSError()
    circle.__cause__.__cause__ = circle
    assert logs.trace_of(circle).count("ValueError") == 1


def test_a_message_is_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord(
        "x", logging.INFO, "", 0, "saw %s", ("a\n2026 ERROR forged\x1b[2J\udcff",), None
    )
    text = logs.Formatter().format(record)
    assert "\n" not in text
    assert "\x1b" not in text
    assert "a\\n2026 ERROR forged\\x1b[2J\\udcff" in text


def test_what_nobody_catches_is_logged_the_same_way() -> None:
    code = f"""
import asyncio, threading, sys
from indexer.serve import logs, place, start
from indexer.serve.protocol import RpcError
from tests.serve.homes import BOUND, Home, wait_until
logs.to_stderr()
def fail(): raise ValueError("{SECRET}")
class Odd:
    def __del__(self): fail()
thread = threading.Thread(target=fail, name="worker"); thread.start(); thread.join()
Odd()
async def main():
    asyncio.get_running_loop().set_exception_handler(logs.loop_failed)
    asyncio.ensure_future(later())
    await asyncio.sleep(0.01)
    import gc; gc.collect()
async def later(): fail()
asyncio.run(main())
fail()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("ValueError") == 4
    for word in ("worker failed", "could not be raised", "never retrieved", "the process ends"):
        assert word in done.stderr
    # Frames quote their source lines; here that is the program itself, which has no file to quote from.
    assert SECRET not in done.stderr


def test_the_tail_is_what_was_written_last(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    assert logs.tail(str(log)) == []
    log.write_text("".join(f"line {number}\n\n" for number in range(5000)))
    assert logs.tail(str(log), 2) == ["line 4998", "line 4999"]
    since = logs.size_of(str(log))
    with log.open("a") as file:
        file.write("new\x1b\n")
    assert logs.tail(str(log), since=since) == ["new\\x1b"]
    assert logs.tail(str(log), 1, since=10 * since) == ["new\\x1b"]  # it was cut meanwhile


# --- a daemon's own


def test_the_log_is_cut_when_it_grows_and_kept_from_others(home: Home, tree: Path) -> None:
    home.settings("[daemon]\nlog_bytes = 10000\n")
    log = Path(place.place_of(tree).log)
    place.make_runtime_dir()
    log.write_text("x" * 9_990 + "\n")
    log.chmod(0o600)
    home.start(tree)
    old = log.with_name(f"{log.name}.1")
    wait_until(old.exists)
    assert old.stat().st_size >= 10_000
    assert log.stat().st_size < 10_000
    assert stat.S_IMODE(old.stat().st_mode) == 0o600
    assert start.stop(str(tree), timeout=BOUND)
    assert "a client asked for it" in log.read_text()
    assert "\0" not in log.read_text()  # who writes on does so at the new end


def test_the_log_holds_neither_what_is_indexed_nor_what_is_asked(home: Home, tree: Path) -> None:
    (tree / "secret.py").write_text("def sesame_opens(:\n    '''cave_of_treasures\n")
    home.start(tree)
    with home.client(tree) as client:
        for params in ({"query": "sesame_asked"}, {"query": "sesame_asked", "k": -1}, {"sesame_asked": 1}):
            try:
                client.request("index/search", params, timeout=BOUND)
            except RpcError:
                continue
    text = Path(place.place_of(tree).log).read_text()
    assert "serves" in text
    assert "sesame" not in text
    assert "cave" not in text
