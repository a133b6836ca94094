"""What went wrong in other indexers, by the number of the case in `fixtures/situations.toml`.

That table names the tests of all cases; here are those that no room's own tests hold.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from indexer import oneshot, search, status
from indexer.check import check
from indexer.errors import QueryError
from indexer.reindex import Outcome, reindex
from indexer.settings import ScanSettings, Settings
from indexer.store import open_snapshot
from tests.counting import Counting, command, opened_of, workspace
from tests.trees import REPO, age, commit, git

if TYPE_CHECKING:
    from indexer.types import Hit
    from indexer.workspace import Workspace


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def repository(root: Path, files: dict[str, str | bytes]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    return write(root, files)


def ask(space: Workspace, query: str, literal: bool = False, **request: Any) -> list[Hit]:
    question = search.Request(query, **request)
    return oneshot.answer(space, oneshot.view(space), question, literal=literal).hits


def asked(root: Path, query: str, **request: Any) -> list[str]:
    return [hit.path for hit in ask(workspace(root), query, **request)]


def indexed(outcome: Outcome) -> set[str]:
    """The files that have chunks."""
    snapshot = outcome.snapshot
    return {snapshot.paths[at] for at in snapshot.rows.file.tolist()}


def reasons(root: Path) -> dict[str, str]:
    return {item.path: item.reason for item in status.status_of(workspace(root)).skipped}


def function(name: str, lines: int = 1) -> str:
    return f"def {name}():\n" + "".join(f"    {name}_{at} = {at}\n" for at in range(lines)) + "\n"


def test_s003_one_file_of_another_encoding_costs_no_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"latin.py": b"# caf\xe9\ndef latin(): pass\n", "a.py": function("a"), "b.py": function("b")},
    )
    assert indexed(reindex(workspace(tmp_path))) == {"latin.py", "a.py", "b.py"}
    assert asked(tmp_path, "latin") == ["latin.py"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", "/// frobnicates\n/// twice\nfn first() {}\n"),
        ("a.go", "package a\n\n// frobnicates\n// twice\nfunc first() {}\n"),
        ("A.java", "class A {\n    /**\n     * frobnicates\n     */\n    void first() {}\n}\n"),
    ],
)
def test_s017_a_doc_comment_belongs_to_its_function(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, {name: text})
    hit = ask(workspace(tmp_path), "frobnicates")[0]
    assert hit.symbol == "first"
    assert text.split("\n")[hit.start_line - 1].strip().startswith("/")


def test_s031_parsers_are_pinned_to_what_was_tested() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parsers = [line for line in project["dependencies"] if line.startswith("tree-sitter")]
    assert parsers
    assert all("==" in line or "<" in line for line in parsers)


@pytest.mark.parametrize(
    "ignore",
    [
        "*\n!*/\n!*.cpp\nContent/\n",
        "build/\n",
        "/*\n!/Engine/\n",
        "**/Source/*\n!kept.cpp\n",
        "Content/*\n!Content/r*\n",
    ],
)
def test_s033_what_is_indexed_is_what_git_lists(tmp_path: Path, ignore: str) -> None:
    names = ["Root.cpp", "Engine/Source/kept.cpp", "Content/reignored.cpp", "Engine/readme.md", "build/x.cpp"]
    repository(tmp_path, {".gitignore": ignore, **dict.fromkeys(names, "int x;\n")})
    listed = git(tmp_path, "ls-files", "-co", "--exclude-standard").split("\n")[:-1]
    assert indexed(reindex(workspace(tmp_path))) == set(listed)


@pytest.mark.parametrize("is_git", [True, False])
def test_s035_s045_what_is_ignored_is_not_entered(tmp_path: Path, is_git: bool) -> None:
    root = tmp_path / "r"
    files = {".gitignore": "node_modules/\n", "a.py": function("a"), "node_modules/deep/b.py": function("b")}
    write(root, files)  # type: ignore[arg-type]
    if is_git:
        git(root, "init", "-q")
    seen = command(tmp_path / "log", "reindex", root, "--json")
    assert seen.json["files"]["scanned"] == 2
    assert opened_of(seen, root, {"b.py"}) == []
    done = (
        subprocess.run(
            ["strace", "-f", "-e", "trace=%file", sys.executable, "-m", "indexer", "reindex", str(root)],
            capture_output=True,
            text=True,
            check=False,
        )
        if shutil.which("strace")
        else None
    )
    assert done is None or "node_modules/deep" not in done.stderr


def test_s037_the_users_own_excludes_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "r", {"a.py": "x = 1\n", "b.secret.py": "x = 2\n", "c.local.py": "x = 3\n"})
    write(
        tmp_path, {"gitconfig": f'[core]\n excludesFile = "{tmp_path}/ignore"\n', "ignore": "*.secret.py\n"}
    )
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("*.local.py\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert indexed(reindex(workspace(root))) == {"a.py"}


def test_s041_an_excluded_file_stays_out_when_it_is_edited(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": function("a"), "fixtures/a.py": function("hidden")})
    space = workspace(tmp_path, settings=Settings(scan=ScanSettings(exclude=("fixtures/",))))
    assert indexed(reindex(space)) == {"a.py"}
    write(tmp_path, {"fixtures/a.py": function("hidden_again")})
    assert indexed(reindex(space)) == {"a.py"}


def test_s043_neither_git_nor_the_index_is_in_the_index(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": function("a")})
    commit(root)
    space = workspace(root)
    reindex(space)
    assert indexed(reindex(space)) == {"a.py"}
    assert ask(space, "ref: refs/heads", literal=True) == []


def test_s047_binary_from_the_first_byte(tmp_path: Path) -> None:
    write(
        tmp_path, {"font.txt": b"\0\1\0\0" + bytes(range(256)), "data.py": b"\0\1\0\0abc", "a.py": "x = 1\n"}
    )
    assert indexed(reindex(workspace(tmp_path))) == {"a.py"}
    assert reasons(tmp_path) == {"font.txt": "binary", "data.py": "binary"}


def test_s063_s065_branches_are_followed_and_cost_nothing_on_the_way_back(tmp_path: Path) -> None:
    root = repository(tmp_path, {"a.py": function("on_main"), "b.py": function("both")})
    commit(root)
    embedder = Counting()
    space = workspace(root, embedder)
    reindex(space)
    git(root, "checkout", "-q", "-b", "pr")
    write(root, {"a.py": function("on_pr"), "c.py": function("new_on_pr")})
    commit(root)
    assert ask(space, "new_on_pr")[0].symbol == "new_on_pr"
    assert ask(space, "on_main", literal=True) == []
    paid = embedder.texts
    for step in (["checkout", "-q", "main"], ["checkout", "-q", "pr"], ["checkout", "-q", "main"]):
        git(root, *step)
        reindex(space)
    for path in root.glob("*.py"):
        os.utime(path)
    reindex(space)
    (root / "b.py").write_text(function("stashed"))
    git(root, "stash", "-q")
    reindex(space)
    assert embedder.texts == paid


def test_s067_a_worktree_in_an_ignored_folder_is_not_indexed(tmp_path: Path) -> None:
    root = repository(tmp_path, {".gitignore": ".wt/\n", "a.py": function("common")})
    commit(root)
    git(root, "worktree", "add", "-q", ".wt/x")
    hits = ask(workspace(root), "common")
    assert [(hit.path, hit.also) for hit in hits] == [("a.py", ())]


def test_s071_s073_a_run_that_is_ended_early_is_gone_on_with(tmp_path: Path) -> None:
    write(tmp_path, {f"m{at}.py": function(f"name_{at}", 40) for at in range(300)})
    for delay in (0.4, 0.7, 1.0, 1.3):
        words = [
            "timeout",
            "-s",
            "INT",
            str(delay),
            sys.executable,
            "-m",
            "indexer",
            "reindex",
            str(tmp_path),
            "--quiet",
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
    outcome = reindex(workspace(tmp_path))
    assert outcome.snapshot.complete
    assert check(workspace(tmp_path)).problems == ()


def test_s075_edits_leave_no_rows_behind(tmp_path: Path) -> None:
    write(tmp_path, {f"m{at}.py": function(f"name_{at}", 5) for at in range(20)})
    space = workspace(tmp_path)
    reindex(space)
    sizes = []
    for at in range(200):
        write(tmp_path, {"m3.py": function(f"version_{at}", 5)})
        outcome = reindex(space)
        assert len(outcome.snapshot.rows.content) == 20
        sizes.append(sum(path.stat().st_size for path in space.index_dir.rglob("*") if path.is_file()))
    assert max(sizes[150:]) < 1.5 * max(sizes[80:130])


class Renamed(Counting):
    """Another model of the same dimension."""

    @property
    def name(self) -> str:
        return "another"


def test_s079_another_model_of_the_same_size_is_not_mixed_in(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": function("a"), "b.py": function("b")})
    reindex(workspace(tmp_path))
    other = Renamed()
    reindex(workspace(tmp_path, other))
    assert other.texts == 2


def test_s081_words_and_vectors_are_of_one_generation(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": function("first")})
    assert asked(tmp_path, "zanzibar", mode="lexical") == []
    write(tmp_path, {"b.py": function("zanzibar")})
    for mode in ("lexical", "dense", "hybrid"):
        assert asked(tmp_path, "zanzibar", mode=mode)[0] == "b.py"


def test_s085_a_damaged_manifest_is_made_good(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": function("first")})
    space = workspace(tmp_path)
    reindex(space)
    manifest = space.index_dir / "manifest.json"
    for damage in (
        b"{}",
        b"",
        b"[1]",
        b'{"segments": 7}',
        b"\xff\0",
        manifest.read_bytes().replace(b"1", b'"x"'),
    ):
        manifest.write_bytes(damage)
        assert asked(tmp_path, "first") == ["a.py"]
        assert check(space).problems == ()


def test_s103_readers_wait_for_no_writer(tmp_path: Path) -> None:
    write(tmp_path, {f"m{at}.py": function(f"name_{at}") for at in range(5)})
    space = workspace(tmp_path)
    reindex(space)
    held = open_snapshot(space.index_dir)
    write(tmp_path, {f"m{at}.py": function(f"other_{at}") for at in range(5)})
    writer = threading.Thread(target=reindex, args=(space,), kwargs={"full": True})
    writer.start()
    while writer.is_alive():
        answer = oneshot.answer(space, oneshot.view(space, now=True), search.Request("name_3"))
        assert answer.generation in {1, 2}
    writer.join()
    assert held.generation == 1
    assert len(held.paths) == 5


def test_s105_filters_come_before_the_first_k(tmp_path: Path) -> None:
    noise: dict[str, str | bytes] = {
        f"noise/n{at}.py": "# renew the token\n" * 5 + function("renew_token") for at in range(8)
    }
    write(tmp_path, {**noise, "scope/a.py": function("helper") + "# token\n"})
    assert set(asked(tmp_path, "renew token", k=3, path=("scope/**",))) == {"scope/a.py"}


def test_s109_the_code_comes_before_its_tests(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "pkg/runtime.py": 'def build():\n    """The builder for a runtime."""\n    return 1\n',
            "tests/test_runtime.py": "".join(
                f'def test_build_{at}():\n    """The builder for a runtime {at}."""\n    assert build()\n\n'
                for at in range(4)
            ),
        },
    )
    assert asked(tmp_path, "builder for runtime")[0] == "pkg/runtime.py"


def test_s111_no_place_comes_twice(tmp_path: Path) -> None:
    methods = "".join(
        f"    def method_{at}(self):\n"
        + "".join(f"        wanted_{line} = wanted({line})\n" for line in range(250))
        for at in range(4)
    )
    write(tmp_path, {"a.py": f"class Wanted:\n{methods}"})
    hits = ask(workspace(tmp_path), "wanted", k=5)
    assert len({(hit.path, hit.start_line) for hit in hits}) == len(hits)
    assert len({hit.symbol for hit in hits}) == len(hits)


def test_s113_a_large_file_is_never_in_memory(tmp_path: Path) -> None:
    write(tmp_path, {f"m{at}.py": function(f"name_{at}") for at in range(200)})
    write(tmp_path, {"big.json": b"[" + b"1," * 25_000_000 + b"1]", "big.js": b"a(" * 450_000})

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    words = [sys.executable, "-m", "indexer", "reindex", str(tmp_path)]
    done = subprocess.run(words, preexec_fn=limited, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert reasons(tmp_path)["big.json"] == "too-large"


def test_s115_a_linked_package_is_indexed_once(tmp_path: Path) -> None:
    root = write(
        tmp_path, {"model/m.py": function("shared"), "web/libs/x.py": "x = 1\n", "api/libs/y.py": "y = 1\n"}
    )
    (root / "web/libs/model").symlink_to(root / "model")
    (root / "api/libs/model").symlink_to("../../model")
    (root / "model/self").symlink_to(".")
    hits = ask(workspace(root), "shared")
    assert [(hit.path, hit.also) for hit in hits] == [("model/m.py", ())]


def test_s121_files_that_come_and_go_meanwhile(tmp_path: Path) -> None:
    root = write(tmp_path, {f"d{at % 7}/m{at}.py": function(f"name_{at}", 9) for at in range(400)})
    age(root)
    over = threading.Event()

    def churn() -> None:
        chance = random.Random(3)
        while not over.is_set():
            path = root / f"d{chance.randrange(7)}" / f"m{chance.randrange(400)}.py"
            if chance.random() < 0.5:
                path.unlink(missing_ok=True)
            else:
                path.write_text(function(f"changed_{chance.randrange(99)}", chance.randrange(60)))

    churning = threading.Thread(target=churn)
    churning.start()
    try:
        for _ in range(5):
            reindex(workspace(root))
    finally:
        over.set()
        churning.join()
    assert check(workspace(root)).problems == ()


def test_s123_nothing_outside_the_root_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"outside.py": function("outsider")})
    root = write(tmp_path / "r", {"a.py": function("a")})
    (root / "link.py").symlink_to("../outside.py")
    (root / "folder").symlink_to("..")
    assert ask(workspace(root), "outsider", literal=True) == []
    read_text = oneshot.text_reader(workspace(root))
    assert [read_text(path) for path in ("../outside.py", "/etc/passwd", "link.py", "folder/outside.py")] == [
        None
    ] * 4
    corpus = search.Corpus.of(oneshot.view(workspace(root)).snapshot)
    with pytest.raises(QueryError):
        search.related(corpus, "../outside.py", 1, mode="lexical", read_text=read_text)
