"""Every command in the README is run here, in the order in which it stands there, on a copy of this repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trees import REPO, under_git

TEXT = (REPO / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(<!-- command: (\w+) -->\n)?```sh\n(.*?)```", TEXT, re.DOTALL)
COMMANDS = [line for _, name, block in BLOCKS if not name for line in block.strip().split("\n")]
LONG = re.findall(r"^\| `(tests/[\w/]+\.py)` \|(.*)$", TEXT, re.MULTILINE)
SETUP = {name: block.strip() for _, name, block in BLOCKS if name}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    checkout = under_git(REPO, tmp_path_factory.mktemp("checkout"))
    yield checkout
    run("indexer daemon stop", checkout)  # a command in between may have failed


def run(line: str, cwd: Path, seconds: int = 300) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=cwd, env=environment, capture_output=True, text=True, timeout=seconds, check=False,
    )  # fmt: skip


def test_the_readme_has_its_setups_and_some_commands() -> None:
    assert set(SETUP) == {"use", "tests", "long"}
    assert len(COMMANDS) > 10


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_does_what_it_says(checkout: Path, line: str) -> None:
    done = run(line, checkout)
    assert done.returncode == 0, done.stderr
    assert "nothing found" not in done.stderr
    assert done.stdout or "--quiet" in line


def test_the_answers_are_the_right_ones(checkout: Path) -> None:
    first = {
        "indexer search Writer.commit": "indexer/store/commit.py",
        "indexer symbols Snapshot": "indexer/store/snapshot.py",
        'indexer search "inherits:IndexerError kind:class"': "indexer/errors.py",
        "indexer search --calls fsync --lang py -k 3": "indexer/",
    }
    for line, path in first.items():
        assert line in COMMANDS
        assert run(line, checkout).stdout.startswith(path)


def test_the_file_of_settings_is_the_one_that_is_printed(checkout: Path) -> None:
    assert "max_file_bytes = 1000000" in run("indexer config", checkout).stdout


def test_continuous_integration_runs_the_tests_by_the_readme() -> None:
    script = (REPO / ".ci" / "run").read_text(encoding="utf-8")
    assert "<!-- command: tests -->" in script
    assert SETUP["tests"].endswith(".venv/bin/python -m pytest")


def test_the_long_suites_are_those_that_the_readme_lists() -> None:
    """Each with the variable that sets another size, where there is one."""
    command = SETUP["long"].removeprefix(".venv/bin/python -m pytest ").split()
    words = [sys.executable, "-m", "pytest", *command, "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(words, cwd=REPO, capture_output=True, text=True, check=True, timeout=300)
    files = set(re.findall(r"^(tests/[\w/]+\.py)", done.stdout, re.MULTILINE))
    listed = {file: set(re.findall(r"`(INDEXER_\w+)`", line)) for file, line in LONG}
    assert set(listed) == files
    for file, names in listed.items():
        assert set(re.findall(r"INDEXER_\w+", (REPO / file).read_text())) - {"INDEXER_SEED"} == names


@pytest.mark.network
def test_the_first_command_works_from_nothing(tmp_path: Path) -> None:
    checkout = under_git(REPO, tmp_path)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    line = SETUP["use"].replace("python3 -m venv", f"python{python} -m venv", 1)
    done = run(line, checkout, 600)
    assert done.returncode == 0, done.stderr
    assert "indexer/chunk/" in done.stdout
