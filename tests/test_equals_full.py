"""Incremental equals full (invariant 1): random edits, crashes among them, against an index made from nothing.

After each step all tables of both are compared, row for row, and both are asked fifty questions. The planted faults
at the end show that the comparison can fail.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer import search
from indexer.check import differences
from indexer.oneshot import text_reader
from indexer.reindex import Indexer, reindex
from indexer.reindex import live as live_module
from indexer.reindex import run as run_module
from indexer.search import Request
from indexer.settings import Settings, WorkerSettings
from indexer.store import Snapshot, Writer
from indexer.store.disk import Disk
from indexer.store.tables import F32, U64
from indexer.tokens import TermCounts
from indexer.types import FileRecord, Hit
from indexer.workspace import Workspace
from tests.beside import replaced, unlike_a_new_one
from tests.counting import workspace

T = TypeVar("T")

SNIPPETS = [
    'def load_config(path):\n    """Read the settings."""\n    return open(path).read()\n',
    "class Store:\n    size = 3\n\n    def commit(self):\n        return self.size\n\n    def unbind(self, row):\n        pass\n",
    "# 数据库迁移\ndef migrate_database():\n    return '完成'\n",
    "import os\nfrom typing import Any\n\nLIMIT = 10\n",
    "func Serve(port int) error {\n\treturn nil\n}\n",
    "export function renderPage(title) {\n  return title.trim();\n}\n",
    "# Heading\n\nSome words about freshness.\n\n## Inner heading\n\nMore words about locks.\n",
    "plain words, one line\n\nanother paragraph with a lock and a queue\n",
    "x = [" + "(" * 40 + ")" * 40 + "]\n",
    "",
]
PATHS = [
    "a.py",
    "b.py",
    "pkg/a.py",
    "pkg/c.go",
    "pkg/deep/d.md",
    "e.txt",
    "f.js",
    "中文.py",
    "pkg/name with\nline.py",
]
FOLDERS = ["pkg", "lib", "pkg/deep"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "gb18030"]
QUESTIONS = [
    "load config", "Store.commit", "unbind", "数据库迁移", "迁移", "LIMIT", "Serve", "port", "renderPage", "title trim",
    "heading", "freshness", "locks", "queue", "paragraph", "settings", "read the settings", "size", "row", "Any",
    "import os", "完成", "error", "return nil", "words", "inner", "plain", "line", "deep", "pkg", "a.py", "c.go", "d.md",
    "migrate_database", "migrate", "database", "commit the store", "class Store", "func Serve", "function", "lock",
    "name with", "more words", "another", "load_config path", "open", "one", "x", "nothing of the kind", "store size",
]  # fmt: skip

texts = st.lists(st.sampled_from(SNIPPETS), max_size=3).map("\n".join)
paths = st.sampled_from(PATHS)
steps = st.one_of(
    st.tuples(st.just("write"), paths, texts, st.sampled_from(ENCODINGS)),
    st.tuples(st.just("append"), paths, st.sampled_from(SNIPPETS)),
    st.tuples(st.just("insert"), paths),
    st.tuples(st.just("binary"), paths),
    st.tuples(st.just("delete"), paths),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("copy"), paths, paths),
    st.tuples(st.just("swap"), paths, paths),
    st.tuples(st.just("move folder"), st.sampled_from(FOLDERS), st.sampled_from(FOLDERS)),
    st.tuples(st.just("ignore"), st.sampled_from(["pkg/", "*.py", "!a.py", ""])),
    st.tuples(st.just("kill"), st.integers(1, 40)),
    st.tuples(st.just("full")),
)


def write(path: Path, data: bytes) -> None:
    if path.parent.exists() and not path.parent.is_dir():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def edit(root: Path, step: tuple[object, ...]) -> None:
    """Make one step in the tree; one that has nothing to work on does nothing."""
    what, *given = step
    one = root / str(given[0]) if given else root
    if what == "write":
        write(one, str(given[1]).encode(str(given[2])))
    elif what == "binary":
        write(one, b"\x00\xff" * 20)
    elif what == "ignore":
        write(root / ".gitignore", f"{given[0]}\n".encode())
    elif not one.exists() or what in {"kill", "full"}:
        return
    elif what == "append":
        write(one, one.read_bytes() + str(given[1]).encode())
    elif what == "insert":
        write(one, b"\n" + one.read_bytes())
    elif what == "delete":
        one.unlink()
    elif what == "copy":
        write(root / str(given[1]), one.read_bytes())
    else:
        move(root, str(what), one, root / str(given[1]))


def move(root: Path, what: str, one: Path, other: Path) -> None:
    if one == other or one in other.parents or other in one.parents:
        return
    other.parent.mkdir(parents=True, exist_ok=True)
    if what == "swap" and other.exists():
        one.rename(root / ".swap")
        other.rename(one)
        (root / ".swap").rename(other)
    elif what == "move folder" and other.exists():
        return
    else:
        one.rename(other)


class Killer(Disk):
    """A disk under which the process dies at its n-th operation."""

    def __init__(self, after: int) -> None:
        self.left = after

    def attempt(self, action: str, path: Path, call: Callable[[], T]) -> T:  # noqa: ARG002
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call()


def killed_run(space: Workspace, after: int) -> None:
    """Reindex in a child that is killed at one of the store's operations on the disk."""
    child = os.fork()
    if not child:
        with replaced(live_module, "Writer", partial(Writer, disk=Killer(after))):
            reindex(space)
        os._exit(0)
    os.waitpid(child, 0)


def compare(space: Workspace) -> list[str]:
    """Bring the index up to date, make one from nothing, and return how they differ."""
    mine = reindex(space).snapshot
    with tempfile.TemporaryDirectory() as folder:
        new = reindex(space._replace(index_dir=Path(folder) / "index")).snapshot
        found = differences(mine, new)
        ours, theirs = answers(space, mine), answers(space, new)
        found += [f"question {question!r}" for question in QUESTIONS if ours[question] != theirs[question]]
    return found


def answers(space: Workspace, snapshot: Snapshot) -> dict[str, list[Hit]]:
    corpus, read_text = search.Corpus.of(snapshot), text_reader(space)
    return {
        question: search.search(corpus, Request(question, k=20), embedder=space.embedder, read_text=read_text)
        for question in QUESTIONS
    }


def space_of(root: Path) -> Workspace:
    return workspace(root, settings=Settings(worker=WorkerSettings(processes=1)))


def play(root: Path, script: list[tuple[object, ...]]) -> list[str]:
    """Play a script of steps and return the first differences."""
    space = space_of(root)
    for number, step in enumerate(script):
        edit(root, step)
        if step[0] == "kill":
            assert isinstance(step[1], int)
            killed_run(space, step[1])
        if step[0] == "full":
            reindex(space, full=True)
        if found := compare(space):
            return [f"after step {number}, {step!r}", *found]
    return []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=2, max_size=8))
def test_random_edits(script: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert play(Path(folder), script) == []


def state(root: Path) -> dict[str, tuple[int, int, int, int]]:
    """Every path of the tree with what tells that it was touched."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".indexer"]
        for name in names:
            stat = (Path(folder) / name).lstat()
            path = os.path.relpath(Path(folder) / name, root)
            found[path] = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)
    return found


def play_by_paths(root: Path, script: list[tuple[object, ...]]) -> list[str]:
    """Play a script, telling one indexer after each step which paths are dirty, and compare."""
    space = space_of(root)
    with Indexer(space) as indexer:
        indexer.scan()
        for number, step in enumerate(script):
            before = state(root)
            edit(root, step)
            after = state(root)
            dirty = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
            trees = {str(name) for name in step[1:]} if step[0] == "move folder" else set()
            outcome = indexer.scan() if ".gitignore" in dirty else indexer.update(dirty, trees)
            indexer.rest()
            if found := unlike_a_new_one(space, outcome.snapshot):
                return [f"after step {number}, {step!r}", *found]
    return []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, min_size=2, max_size=8))
def test_updates_by_path_equal_scans(script: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert play_by_paths(Path(folder), script) == []


def test_an_update_that_is_told_of_nothing_finds_nothing(tmp_path: Path) -> None:
    """The planted fault of the test above: a path that is dirty and not said to be."""
    space = space_of(tmp_path)
    write(tmp_path / "a.py", SNIPPETS[0].encode())
    with Indexer(space) as indexer:
        indexer.scan()
        write(tmp_path / "a.py", SNIPPETS[1].encode())
        indexer.update([])
        assert unlike_a_new_one(space, indexer.snapshot)
        indexer.update(["a.py"])
        assert unlike_a_new_one(space, indexer.snapshot) == []


def test_what_is_done_by_one_name_of_a_file_is_done_to_its_other_names(tmp_path: Path) -> None:
    """No event tells of those: a hard link is made, written through, replaced and removed."""
    space = space_of(tmp_path)
    one, other = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text(SNIPPETS[0])

    def replace_it() -> None:
        other.with_suffix(".tmp").write_text(SNIPPETS[2])
        other.with_suffix(".tmp").replace(other)

    with Indexer(space) as indexer:
        indexer.scan()
        for step in (
            lambda: other.hardlink_to(one),
            lambda: other.write_text(SNIPPETS[1]),
            replace_it,
            other.unlink,
            lambda: other.hardlink_to(one),
            other.unlink,
        ):
            step()
            assert unlike_a_new_one(space, indexer.update(["b.py"]).snapshot) == []


def test_the_audit_finds_what_nothing_else_told_of(tmp_path: Path) -> None:
    space = space_of(tmp_path)
    for name in ("a.py", "b.py"):
        write(tmp_path / name, SNIPPETS[0].encode())
    with Indexer(space) as indexer:
        indexer.scan()
        for name in ("a.py", "b.py"):
            write(tmp_path / name, SNIPPETS[1].encode())
        report = indexer.audit(["b.py", "no such file"]).report
        assert (report.files.modified, report.embedded) == (1, 3)
        assert indexer.audit(["b.py"]).report.files.modified == 0
        indexer.audit(["a.py"])
        assert unlike_a_new_one(space, indexer.snapshot) == []


SCRIPT: list[tuple[object, ...]] = [
    ("write", "a.py", SNIPPETS[0] + SNIPPETS[1], "utf-8"),
    ("write", "pkg/a.py", SNIPPETS[2], "gb18030"),
    ("write", "e.txt", SNIPPETS[7], "utf-8"),
    ("write", "a.py", SNIPPETS[3], "utf-8"),
    ("append", "e.txt", SNIPPETS[6]),
    ("move folder", "pkg", "lib"),
    ("kill", 8),
    ("delete", "a.py"),
    ("insert", "e.txt"),
]


def test_the_script_of_the_planted_faults_is_sound(tmp_path: Path) -> None:
    assert play(tmp_path, SCRIPT) == []


def unbind_skipped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Writer, "remove_file", lambda self, path: None)


def stale_posting_kept(patch: pytest.MonkeyPatch) -> None:
    """A changed content is given the terms of the one that was added before it."""
    real, kept = Writer.add_contents, []

    def add_contents(self: Writer, keys: U64, terms: TermCounts, vectors: F32) -> None:
        kept.append(
            TermCounts(terms.offsets[:2], terms.terms[: terms.offsets[1]], terms.counts[: terms.offsets[1]])
        )
        stale = kept[-2] if len(kept) > 1 and len(keys) == 1 else terms
        real(self, keys, stale, vectors)

    patch.setattr(Writer, "add_contents", add_contents)


def stale_chunks_kept(patch: pytest.MonkeyPatch) -> None:
    """A changed file stays bound to the chunks it had."""
    real = Writer.put_file

    def put_file(self: Writer, record: FileRecord, block: int | None) -> None:
        before = self.snapshot.block_of(record.stat.path)
        real(self, record, block if before is None else before)

    patch.setattr(Writer, "put_file", put_file)


def half_a_commit(patch: pytest.MonkeyPatch) -> None:
    """Every second change of a known file's bytes is lost between reading and commit."""
    real, changes = Writer.put_file, [0]

    def put_file(self: Writer, record: FileRecord, block: int | None) -> None:
        before = self.snapshot.record(record.stat.path)
        changed = before is not None and before.content_hash != record.content_hash
        changes[0] += changed
        if not changed or changes[0] % 2:
            real(self, record, block)

    patch.setattr(Writer, "put_file", put_file)


def wrong_rows_reused(patch: pytest.MonkeyPatch) -> None:
    """A content is taken for one that is known, though it is not."""
    patch.setattr(run_module, "language_of", lambda path, head: "python" if path < "b" else "text")
    real = Writer.find_block

    def find_block(self: Writer, content_hash: bytes, language: str) -> int | None:
        return real(self, content_hash, language) if self.snapshot.generation < 2 else 0

    patch.setattr(Writer, "find_block", find_block)


PLANTS = [unbind_skipped, stale_posting_kept, stale_chunks_kept, half_a_commit, wrong_rows_reused]


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert play(tmp_path, SCRIPT) != []


def test_a_killed_run_is_gone_on_with(tmp_path: Path) -> None:
    """At each of the store's operations in turn; the next run ends with what a new index holds."""
    for after in range(0, 30, 3):
        root = tmp_path / str(after)
        write(root / "a.py", SNIPPETS[0].encode())
        space = space_of(root)
        reindex(space)
        write(root / "b.py", SNIPPETS[1].encode())
        killed_run(space, after)
        assert compare(space) == []
        shutil.rmtree(root)


@pytest.mark.parametrize("aim", ["pkg", "pkg/inner/deep", "lib", "lib/a.py", "..", "/", "nowhere"])
@pytest.mark.parametrize("inner", ["", "/inner"])
def test_a_folder_that_has_become_a_link_has_nothing_below(tmp_path: Path, aim: str, inner: str) -> None:
    """Nor is it a folder that cannot be read, where the link leads in a circle; and nothing is read where it leads."""
    for path in ("pkg/inner/b.py", "lib/a.py", "lib/inner/c.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(f"def of_{path[0]}():\n    pass\n")
    space = workspace(tmp_path)
    walked: list[str] = []
    walk = os.walk

    def seen(top: Path, **named: Callable[[OSError], None]) -> Iterator[tuple[str, list[str], list[str]]]:
        walked.append(str(top))
        return walk(str(top), onerror=named["onerror"])

    with Indexer(space) as indexer, replaced(os, "walk", seen):
        indexer.scan()
        shutil.rmtree(tmp_path / "pkg")
        (tmp_path / "pkg").symlink_to(tmp_path / aim)
        outcome = indexer.update([], [f"pkg{inner}"])
        assert outcome.unknown == ()
        assert walked == []
        assert unlike_a_new_one(space, outcome.snapshot) == []
