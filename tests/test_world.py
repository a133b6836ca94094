"""Whatever is done to a tree, its daemon's index is as one made from nothing: a stateful test of the whole.

The long form, 5,000 steps: ``pytest -m slow tests/test_world.py -s`` prints how many were made. `INDEXER_STEPS` is
another number of them, `INDEXER_SEED` another beginning.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.serve.homes import home_of_daemons
from tests.test_equals_full import SNIPPETS
from tests.world import BRANCHES, FOLDERS, PATHS, RULES, SETTINGS, World

paths = st.sampled_from(PATHS)
folders = st.sampled_from(FOLDERS[1:])
places = st.one_of(paths, folders)
texts = st.lists(st.sampled_from(SNIPPETS), max_size=3).map("\n".join)
EVERY = 3  # so many steps from one comparison to the next, most of them made while the daemon is at work


@contextmanager
def world(fault: str = "") -> Iterator[World]:
    """A world of its own; nothing is left of it."""
    folder = Path(tempfile.mkdtemp(prefix="world-", dir="/tmp"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        with home_of_daemons(patch) as home:
            made = World(home, folder, fault)
            try:
                yield made
            finally:
                made.kill_daemon()
                shutil.rmtree(folder)


class Machine(RuleBasedStateMachine):
    """Steps at random; every few of them, and at the end, the comparison."""

    made = 0  # steps, of all examples
    compared = 0
    met: ClassVar[list[str]] = []  # what went wrong, as it was met

    def __init__(self) -> None:
        super().__init__()
        self._context = world()
        self.world = self._context.__enter__()
        self._steps: list[str] = []
        self._since = 0

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell at once what goes wrong: it is played again before hypothesis tells it, and may not be met again."""
        try:
            yield
        except BaseException:
            Machine.met.append("\n".join([*self._steps, traceback.format_exc()]))
            print(Machine.met[-1], flush=True)
            raise

    def step(self, how: str, *given: object, **named: object) -> None:
        arguments = [*map(repr, given), *(f"{name}={value!r}" for name, value in named.items())]
        self._steps.append(f"{how}({', '.join(arguments)})")
        with self.telling():
            getattr(self.world, how)(*given, **named)
            Machine.made += 1
            self._since += 1
            if self._since == EVERY:
                self.compare()

    def compare(self) -> None:
        self._since = 0
        Machine.compared += 1
        assert self.world.compare() == []

    @initialize(text=texts, git=st.booleans())
    def begin(self, text: str, git: bool) -> None:
        self._steps.append(f"begin({text!r}, git={git})")
        with self.telling():
            if git:
                self.world.git("init", "-q", "-b", "main")
            self.world.write("pkg/a.py", text)
            self.world.write("lib/d.md", SNIPPETS[6])
            self.world.commit()
            self.world.client()

    @rule(path=paths, text=texts, how=st.sampled_from(["write", "write", "save", "save", "append"]))
    def put(self, path: str, text: str, how: str) -> None:
        self.step(how, path, text)

    @rule(path=paths, how=st.sampled_from(["change_unseen", "binary", "touch", "delete"]))
    def alter(self, path: str, how: str) -> None:
        self.step(how, path)

    @rule(path=places, mode=st.sampled_from([0o600, 0o644, 0o755, 0o400, 0o000]))
    def mode(self, path: str, mode: int) -> None:
        self.step("mode", path, mode)

    @rule(path=places, aim=places, hard=st.booleans())
    def link(self, path: str, aim: str, hard: bool) -> None:
        self.step("link", path, aim, hard=hard)

    @rule(one=places, other=places, how=st.sampled_from(["move", "move", "copy_tree"]))
    def move(self, one: str, other: str, how: str) -> None:
        self.step(how, one, other)

    @rule(path=places, how=st.sampled_from(["move_out", "move_in", "move_in", "delete"]))
    def out_and_in(self, path: str, how: str) -> None:
        self.step(how, path)

    @rule(
        file=st.sampled_from([".gitignore", "pkg/.gitignore", ".indexerignore", ".git/info/exclude"]),
        rules=st.sampled_from(RULES),
    )
    def ignore(self, file: str, rules: str) -> None:
        self.step("ignore", file, rules)

    @rule(text=st.sampled_from(SETTINGS))
    def configure(self, text: str) -> None:
        self.step("configure", text)

    @rule(branch=st.sampled_from(BRANCHES), how=st.sampled_from(["checkout", "checkout", "rebase"]))
    def branch(self, branch: str, how: str) -> None:
        self.step(how, branch)

    @rule(how=st.sampled_from(["commit", "commit", "clean", "forget_git"]))
    def git(self, how: str) -> None:
        self.step(how)

    @rule()
    def git_again(self) -> None:
        self.step("git", "init", "-q", "-b", "main")

    @rule(there=st.booleans())
    def stash(self, there: bool) -> None:
        self.step("stash", pop=there)

    @rule(there=st.booleans())
    def worktree(self, there: bool) -> None:
        self.step("worktree", remove=there)

    @rule(how=st.sampled_from(["kill_daemon", "kill_updater"]))
    def kill(self, how: str) -> None:
        self.step(how)

    @rule(full=st.booleans())
    def reindex(self, full: bool) -> None:
        self.step("reindex", full=full)

    def teardown(self) -> None:
        self._steps.append("teardown()")
        try:
            with self.telling():
                self.compare()
                assert self.world.sound() == []
        finally:
            self._context.__exit__(None, None, None)


def play(examples: int, steps: int) -> None:
    """Make so many worlds of so many steps each."""
    Machine.met = []
    try:
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                derandomize=False,
                database=None,
                phases=[Phase.generate],  # the steps are printed; making them fewer takes hours
                report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck),
            ),
        )
    except HypothesisException as error:  # played again, it was not so
        raise AssertionError("\n\n".join(Machine.met)) from error
    assert Machine.met == []


def test_a_world_of_a_few_steps() -> None:
    seed(1)(Machine)
    play(2, 25)


@pytest.mark.slow
def test_a_world_of_many_steps() -> None:
    wanted = int(os.environ.get("INDEXER_STEPS", "5000"))
    start = int(os.environ.get("INDEXER_SEED", "100"))
    Machine.made = 0
    while Machine.made < wanted:
        seed(start + Machine.made)(Machine)
        play(4, 60)
        print(f"{Machine.made} steps, {Machine.compared} comparisons", flush=True)
    assert Machine.made >= wanted


SCRIPT = [
    ("write", "a.py", SNIPPETS[0]),
    ("write", "pkg/b.py", SNIPPETS[1]),
    ("append", "a.py", SNIPPETS[2]),
    ("append", "pkg/b.py", SNIPPETS[3]),
    ("delete", "a.py"),
]


def scripted(fault: str) -> list[str]:
    """Play the script against a daemon; return the first differences."""
    with world(fault) as here:
        for what, *given in SCRIPT:
            getattr(here, what)(*given)
            if found := here.compare():
                return found
    return []


def test_the_script_of_the_planted_faults_is_sound() -> None:
    assert scripted("") == []


@pytest.mark.parametrize("fault", ["an_event_lost", "a_check_skipped", "a_removal_forgotten"])
def test_a_planted_fault_is_found(fault: str) -> None:
    assert scripted(fault) != []
