"""Fuzzing: mutants of real code for each chunker, and nearly right words for whatever reads a peer or a rule.

The long form: ``pytest -m slow tests/fuzz -s`` tries `INDEXER_FUZZ_INPUTS` of each target (20,000 unless it says
otherwise), from the number `INDEXER_SEED` on; ``python -m tests.fuzz`` goes on for as long as it is told.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import islice

import pytest

from tests.fuzz.mutants import Mutants, Notebooks
from tests.fuzz.targets import TARGETS, matches
from tests.trees import REPO

FEW, MANY = 700, 20_000


def run(inputs: int, first: int) -> None:
    """Fuzz in a process of its own, which has one thread and may so be forked."""
    words = ["--inputs", str(inputs), "--first", str(first)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words], cwd=REPO, capture_output=True, text=True, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(TARGETS)} targets, {len(TARGETS) * inputs} inputs, 0 broken" in done.stdout


def test_a_few_inputs_of_each() -> None:
    run(FEW, 0)


@pytest.mark.slow
def test_many_inputs_of_each() -> None:
    run(int(os.environ.get("INDEXER_FUZZ_INPUTS", MANY)), int(os.environ.get("INDEXER_SEED", "1000000")))


PLANTED = """
import json, os, signal
from tests.fuzz import supervise
def check(number):
    if number == 7:
        raise ValueError("what a bug looks like")
    if number == 9:
        os.kill(os.getpid(), signal.SIGSEGV)
    while number == 11:
        pass
supervise.TARGETS["planted"] = lambda: check
supervise.HANGS_SECONDS = 0.5
result = supervise.fuzz("planted", 3, 20)
print(json.dumps([result.inputs, result.broken]))
"""


def test_what_raises_crashes_or_hangs_is_named_and_the_rest_is_tried() -> None:
    """The planted faults of the fuzzer."""
    done = subprocess.run(
        [sys.executable, "-c", PLANTED], cwd=REPO, capture_output=True, text=True, check=True, timeout=60
    )
    inputs, broken = json.loads(done.stdout)
    assert inputs == 20
    assert broken == {
        "7": "ValueError: what a bug looks like (<string>:6)",
        "9": "died of SIGSEGV",
        "11": "stopped after 0.5 s",
    }


def test_a_number_makes_the_same_mutant_again() -> None:
    for makers in ([Mutants("go"), Mutants("go")], [Notebooks(), Notebooks()]):
        one, other = ([maker.make(number) for number in range(200)] for maker in makers)
        assert one == other
        assert len(set(one)) > 150


def test_mutants_are_of_every_kind() -> None:
    texts = list(islice(map(Mutants("python").make, range(10_000)), 2000))
    for mark in (b"def ", b"\r", b"\xff", b"\0", b"class "):
        assert 20 < sum(mark in text for text in texts) < 1900
    assert any(len(text) > 2000 for text in texts)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("a*", "x/ab/c", True),
        ("a*", "xa", False),
        ("/a/**/b", "a/b", True),
        ("a?", "a/", False),
        ("[!a]", "b", True),
    ],
)
def test_the_plain_way_to_match_a_glob(glob: str, path: str, expected: bool) -> None:
    assert matches(glob, path) is expected
