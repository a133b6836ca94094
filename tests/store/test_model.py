"""Any history gives what a store built from nothing on the same files gives; three planted faults are noticed."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from indexer import tokens
from indexer.errors import IndexerError
from indexer.store import Snapshot, Writer, commit, open_snapshot, pending, retention, segment, tiers, verify
from indexer.store.format import MANIFEST, PREVIOUS
from indexer.store.manifest import decode
from indexer.store.tables import join_digests, unsort_keys
from tests.store.samples import IDENTITY, QuickDisk, build, put

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WORDS = ["alpha", "beta", "get_queryset", "QuerySet", "统一码", "x"]
LINES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
DATA = st.lists(LINES, max_size=4).map(lambda lines: "\n".join(lines).encode())
PATHS = st.sampled_from(["a", "b", "d/é", "d/\udcff", "z"])
EDITS = st.dictionaries(PATHS, st.none() | DATA, min_size=1, max_size=4)
TERMS = [
    int(term) for term in tokens.hash_terms(sorted({t for word in WORDS for t in tokens.terms_of(word)}))
]


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a dozen commits merge, fold, forget and compact."""
    monkeypatch.setattr(tiers, "MOST_PIECES", 3)
    monkeypatch.setattr(tiers, "FEWEST", 2)
    monkeypatch.setattr(commit, "FOLD_BYTES", 6000)
    monkeypatch.setattr(retention, "FLOOR", 4)


def answers(snapshot: Snapshot) -> object:
    """Everything a search stands on, without ids."""
    keys = [
        key
        for tables in snapshot.stack.tables
        for key in join_digests(*unsort_keys(tables.content_keys, tables.content_rows).T)
    ]
    postings = {}
    for term in TERMS:
        ids, counts = snapshot.postings(term)
        assert (np.diff(ids.astype(np.int64)) > 0).all(), "ids ascend"
        postings[term] = sorted(
            (keys[number], count) for number, count in zip(ids.tolist(), counts.tolist(), strict=True)
        )
    live = snapshot.symbol.tolist() + snapshot.scope.tolist() + snapshot.files.path.tolist()
    names = {}
    for term in TERMS:
        found = dict(zip(*(array.tolist() for array in snapshot.stack.postings("name", term)), strict=True))
        names[term] = sorted((snapshot.string(number), found[number]) for number in set(live) & found.keys())
    columns = [
        (snapshot.paths[file], keys[content], parent, line, part)
        for file, content, parent, line, part in zip(
            snapshot.rows.file.tolist(),
            snapshot.rows.content.tolist(),
            map(snapshot.parent, range(len(snapshot.rows.file))),
            snapshot.line.tolist(),
            snapshot.part.tolist(),
            strict=True,
        )
    ]
    by_file = [join_digests(*snapshot.content_keys_of(path).T) for path in snapshot.paths]
    assert [key for some in by_file for key in some] == [column[1] for column in columns]
    lengths = sorted(
        (keys[number], int(snapshot.content_length[number])) for number in np.flatnonzero(snapshot.live)
    )
    return snapshot.tables(), postings, names, columns, lengths, snapshot.known()


def same_as_fresh(snapshot: Snapshot, files: Mapping[str, bytes], scratch: Path) -> None:
    """Hold a snapshot against one built from nothing, in another order."""
    shutil.rmtree(scratch, ignore_errors=True)
    fresh = open_snapshot(build(scratch, dict(sorted(files.items(), reverse=True))))
    assert answers(snapshot) == answers(fresh)


class Histories(RuleBasedStateMachine):
    """Drives one writer; ``files`` is what is pending too, ``durable`` what was committed last."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp(prefix="store-model-"))
        self.followed: Snapshot | None = None
        self.root = self.top / "root"
        self.root.mkdir()
        self.index = self.root / ".indexer"
        self.files: dict[str, bytes] = {}
        self.durable: dict[str, bytes] = {}
        self.writer = self.open()

    def open(self, *, fresh: bool = False) -> Writer:
        return Writer(self.root, self.index, IDENTITY, fresh=fresh, keep_generations=2, disk=QuickDisk())

    @initialize()
    def first(self) -> None:
        self.commit()

    @rule(edits=EDITS)
    def edit(self, edits: dict[str, bytes | None]) -> None:
        for path, data in edits.items():
            if data is None:
                self.remove(path)
            else:
                put(self.writer, path, data)
                self.files[path] = data

    @rule(edits=EDITS)
    def edit_and_commit(self, edits: dict[str, bytes | None]) -> None:
        self.edit(edits)
        self.commit()

    @rule(edits=st.lists(EDITS, min_size=4, max_size=8))
    def many_commits(self, edits: list[dict[str, bytes | None]]) -> None:
        for some in edits:
            self.edit(some)
            self.writer.commit()
        self.commit()

    def remove(self, path: str) -> None:
        self.writer.remove_file(path)
        self.files.pop(path, None)

    @rule(old=PATHS, new=PATHS, keep=st.booleans())
    def rename_or_copy(self, old: str, new: str, keep: bool) -> None:
        """A rename embeds nothing, nor does a copy."""
        if old not in self.files or old == new:
            return
        self.files[new] = self.files[old]
        assert put(self.writer, new, self.files[new]) == 0, "a known content is not embedded again"
        if not keep:
            self.remove(old)

    @rule()
    def commit(self) -> None:
        self.writer.commit()
        self.durable = dict(self.files)
        self.look()

    @rule()
    def checkpoint(self) -> None:
        self.writer.commit(complete=False)
        self.durable = dict(self.files)

    @rule()
    def compact(self) -> None:
        self.writer.compact()
        self.durable = dict(self.files)
        self.look()

    @rule()
    def reopen(self) -> None:
        """What was not committed is lost; what was is there."""
        self.writer.close()
        self.writer = self.open()
        assert self.writer.notes == ()
        assert self.writer.fresh == ""
        self.files = dict(self.durable)

    @rule()
    def rebuild(self) -> None:
        self.writer.close()
        self.writer = self.open(fresh=True)
        for path in self.writer.snapshot.paths:
            self.writer.remove_file(path)
        for path, data in self.durable.items():
            put(self.writer, path, data)
        self.files = dict(self.durable)
        self.commit()

    def look(self) -> None:
        snapshot = open_snapshot(self.index, IDENTITY)
        self.followed = open_snapshot(self.index, IDENTITY, self.followed)
        assert answers(self.followed) == answers(snapshot), "what is spliced is what is read anew"
        assert snapshot.complete == self.writer.snapshot.complete
        assert len(snapshot.stack.segments) <= tiers.MOST_PIECES
        assert verify(self.index) == []
        same_as_fresh(snapshot, self.durable, self.top / "fresh")
        named = {MANIFEST, PREVIOUS, ".gitignore"}
        for name in (MANIFEST, PREVIOUS):
            if (self.index / name).exists():
                named |= decode((self.index / name).read_bytes(), name).names
        assert {path.name for path in self.index.iterdir()} <= named, "nothing is left lying"

    def teardown(self) -> None:
        self.writer.close()
        shutil.rmtree(self.top)


def run(examples: int) -> None:
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=examples,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # shrinking a planted fault takes minutes and tells nothing
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.usefixtures("small_limits")
def test_any_history_equals_a_fresh_build() -> None:
    run(60)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("seed", range(3))
def test_a_long_history_equals_a_fresh_build(seed: int) -> None:
    """Longer and denser than what hypothesis draws: folders, eight merges deep, removals that must outlive merges."""
    draw = random.Random(seed)
    machine = Histories()
    paths = [f"d{i % 4}/{i}" for i in range(30)]
    steps: dict[str, Callable[[], None]] = {
        "compact": machine.compact,
        "reopen": machine.reopen,
        "rebuild": machine.rebuild,
        "checkpoint": machine.checkpoint,
    }
    for _ in range(80):
        edits: dict[str, bytes | None] = {}
        for path in draw.sample(paths, draw.randint(1, 12 if draw.random() < 0.1 else 2)):
            lines = [" ".join(draw.choices(WORDS, k=draw.randint(1, 3))) for _ in range(draw.randint(0, 6))]
            edits[path] = None if draw.random() < 0.3 else "\n".join(lines).encode()
        machine.edit(edits)
        machine.rename_or_copy(draw.choice(paths), draw.choice(paths), keep=draw.random() < 0.5)
        if draw.random() < 0.1:
            steps[draw.choice(list(steps))]()
        elif draw.random() < 0.8:
            machine.writer.commit()
            machine.durable = dict(machine.files)
            if draw.random() < 0.2:
                machine.look()
    machine.teardown()


@pytest.fixture
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant one fault by its name."""
    match request.param:
        case "an unbind skipped":
            monkeypatch.setattr(pending.Pending, "remove_file", lambda *_: None)
        case "a stale posting kept":
            every = property(lambda snapshot: np.ones(snapshot.content_count, np.bool_))
            monkeypatch.setattr(Snapshot, "live", every)
        case "a commit half written":
            whole = segment._body
            monkeypatch.setattr(segment, "_body", lambda tables: whole(tables)[:-100])
        case "a removal forgotten by a merge":
            newest = retention._newest
            monkeypatch.setattr(
                retention, "_newest", lambda files, base: newest(files, base._replace(strings=0))
            )
        case "an id not renumbered":
            monkeypatch.setattr("indexer.store.merge._Renumbered.of", lambda _, ids: ids)


@pytest.mark.usefixtures("small_limits", "fault")
@pytest.mark.parametrize(
    "fault",
    [
        "an unbind skipped",
        "a stale posting kept",
        "a commit half written",
        "a removal forgotten by a merge",
        "an id not renumbered",
    ],
    indirect=True,
)
def test_a_planted_fault_is_noticed() -> None:
    with pytest.raises((AssertionError, IndexerError, IndexError)):
        run(25)
