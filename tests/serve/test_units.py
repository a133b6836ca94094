"""What keepers of services are told: read back by their own rules, it runs the daemon of any root."""

from __future__ import annotations

import configparser
import plistlib
import shlex
import subprocess
from pathlib import Path

import pytest

from indexer.serve import place, units
from tests.serve.homes import BOUND, Home, wait_until

ODD = ["plain", "with space", 'quote"d', "per%cent", "dol$lar", "back\\slash", "ümläut", "new\nline", "end\\"]


def unquoted(words: str) -> list[str]:
    """Read a systemd command line as systemd.syntax(7) says: quotes and C escapes, then $$ and %%."""
    raw = shlex.split(words.replace("\\x0a", "\0NEWLINE"), posix=True)
    return [word.replace("%%", "%").replace("$$", "$").replace("\0NEWLINE", "\n") for word in raw]


@pytest.mark.parametrize("name", ODD)
def test_a_unit_runs_the_daemon_of_any_root(home: Home, tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    done = home.run("daemon", "unit", root, cwd=tmp_path)
    unit = configparser.ConfigParser(interpolation=None, comment_prefixes=("#",), strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(done.stdout)
    words = unquoted(unit["Service"]["ExecStart"])
    assert words == units.command(place.place_of(root))
    assert unit["Service"]["Restart"] == "on-failure"
    plist = home.run("daemon", "unit", root, "--launchd", cwd=tmp_path)
    found = plistlib.loads(plist.stdout.encode())
    assert found["ProgramArguments"] == units.command(place.place_of(root))
    assert found["KeepAlive"] == {"SuccessfulExit": False}


def test_what_a_unit_runs_does_run(home: Home, tree: Path) -> None:
    words = units.command(place.place_of(tree))
    with subprocess.Popen(words, cwd="/", env=home.environment, stderr=subprocess.PIPE) as process:
        wait_until(lambda: home.run("daemon", "status", cwd=tree).returncode == 0)
        process.terminate()
        assert process.wait(BOUND) == 0
