"""The commands as people and programs run them: real processes, real exit statuses, one clear line for each error."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from indexer.store.lock import RootLock
from tests.trees import age, git

INDEXER = [sys.executable, "-m", "indexer"]
REPORT: dict[str, Any] = {
    "root": str,
    "generation": int,
    "files": {"scanned", "added", "modified", "removed", "renamed", "unchanged", "skipped"},
    "chunks": {"total", "added", "reused", "unbound"},
    "embedded": int,
    "seconds": float,
}


def run(*words: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*INDEXER, *map(str, words)],
        cwd=cwd,
        env={**os.environ, "XDG_CONFIG_HOME": str(cwd / "no-settings"), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that could not be done."""
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("indexer: ")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def asked(*words: str | Path, cwd: Path) -> Any:
    done = run(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    (top / "pkg").mkdir(parents=True)
    (top / "pkg" / "store.py").write_text(
        'class Store:\n    """Keeps rows."""\n\n    def commit(self):\n        return "→ done"\n'
    )
    (top / "notes.md").write_text("# 说明\n\n数据库迁移是如何应用的。\n")
    (top / "README.md").write_text("# Tree\n\nA small tree.\n")
    git(top, "init", "-q")
    age(top)
    return top


def test_reindex_prints_the_object_of_the_contract(root: Path) -> None:
    value = asked("reindex", cwd=root)
    assert list(value) == list(REPORT)
    for key, kind in REPORT.items():
        if isinstance(kind, set):
            assert set(value[key]) == kind
        else:
            assert isinstance(value[key], kind)
    assert value["files"]["added"] == value["files"]["scanned"] == 3


def test_search_makes_the_index_and_brings_it_up_to_date(root: Path) -> None:
    first = asked("search", "Store.commit", cwd=root)
    assert list(first)[:6] == ["epoch", "generation", "fresh", "mode", "ms", "hits"]
    assert first["fresh"] is True
    assert (first["hits"][0]["path"], first["hits"][0]["start_line"]) == ("pkg/store.py", 4)
    assert first["hits"][0]["text"].startswith("    def commit")
    (root / "new.py").write_text("def brand_new_thing(): pass\n")
    assert asked("search", "brand_new_thing", cwd=root)["hits"][0]["path"] == "new.py"


def test_now_answers_from_the_index_as_it_stands(root: Path) -> None:
    assert "no index" in told(run("search", "commit", "--now", cwd=root))
    asked("reindex", cwd=root)
    (root / "new.py").write_text("def brand_new_thing(): pass\n")
    value = asked("search", "brand_new_thing", "--now", cwd=root)
    assert value["fresh"] is False
    assert value["reason"]
    assert not any(hit["path"] == "new.py" for hit in value["hits"])
    said = run("search", "commit", "--now", cwd=root)
    assert "as it stands" in said.stderr


def test_a_hit_whose_file_has_changed_is_marked(root: Path) -> None:
    asked("reindex", cwd=root)
    (root / "pkg" / "store.py").write_text("import os\n")
    value = asked("search", "Store.commit", "--now", cwd=root)
    assert value["hits"][0]["stale"] is True
    assert value["hits"][0]["text"] == ""


def test_a_chinese_question_finds_a_chinese_note(root: Path) -> None:
    assert asked("search", "数据库迁移", cwd=root)["hits"][0]["path"] == "notes.md"


def test_a_folder_inside_an_indexed_root_belongs_to_it(root: Path) -> None:
    asked("reindex", cwd=root)
    assert asked("search", "commit", cwd=root / "pkg")["hits"][0]["path"] == "pkg/store.py"
    assert not (root / "pkg" / ".indexer").exists()


def test_a_linked_folder_is_the_same_root(root: Path, tmp_path: Path) -> None:
    """S-117."""
    (tmp_path / "link").symlink_to(root)
    assert asked("reindex", tmp_path / "link", cwd=tmp_path)["root"] == str(root)
    assert asked("reindex", root, cwd=tmp_path)["files"]["unchanged"] == 3


def test_filters(root: Path) -> None:
    def paths(*words: str) -> set[str]:
        return {hit["path"] for hit in asked("search", "store tree", *words, cwd=root)["hits"]}

    assert paths("--lang", "python") == {"pkg/store.py"}
    assert paths("--path", "README.md") == {"README.md"}
    assert paths("--kind", "class") == {"pkg/store.py"}
    assert paths("--min-score", "1000") == set()
    assert len(paths("-k", "1")) == 1


def test_filters_of_names_calls_and_bases_and_in_the_question(root: Path) -> None:
    (root / "pkg" / "use.py").write_text("class Disk(Store):\n    def run(self):\n        self.commit()\n")

    def listed(*words: str) -> list[str]:
        value = asked("search", *words, cwd=root)
        assert value["mode"] == "list"
        return [hit["symbol"] for hit in value["hits"]]

    assert listed("--calls", "commit") == listed("calls:commit") == ["run"]
    assert listed("--inherits", "Store") == listed("inherits:Store") == ["Disk"]
    assert listed("--name", "com*") == listed("name:com*") == ["commit"]
    assert listed("kind:class -path:pkg/use.py", "--lang", "py") == ["Store"]
    done = run("search", "kind:class lang:cobol", cwd=root)
    assert (done.returncode, done.stdout) == (0, "")
    assert "lang: nothing here is cobol" in done.stderr
    shown = run("search", "calls:commit", cwd=root).stdout
    assert shown.startswith("pkg/use.py:2 Disk.run (method, python)\n")


def test_explain_shows_a_small_table_under_each_hit(root: Path) -> None:
    shown = run("search", "Store.commit", "--explain", cwd=root).stdout.split("\n\n")[0]
    assert re.search(r"^ {8}definition +\d+\.\d{3} +\+\d+\.\d{3}$", shown, re.MULTILINE)
    hit = asked("search", "Store.commit", "--explain", cwd=root)["hits"][0]
    assert set(hit["explain"][0]) == {"name", "value", "contribution"}


def test_a_weak_answer_says_so(root: Path) -> None:
    value = asked("search", "how long do small eggs boil", cwd=root)
    assert value["weak"] is True
    assert "no good match" in run("search", "how long do small eggs boil", cwd=root).stderr
    assert asked("search", "Store.commit", cwd=root)["weak"] is False


def test_calibrate(root: Path) -> None:
    value = asked("search", "--calibrate", cwd=root)
    assert value["scores"]["nonsense"]["count"] >= 100
    done = run("search", "--calibrate", root, cwd=root.parent)
    assert done.returncode == 0
    assert "shuts out 95 % of the nonsense" in done.stdout
    assert "takes no QUERY" in run("search", "--calibrate", "x", root, cwd=root).stderr


def test_symbols_are_one_line_each(root: Path) -> None:
    done = run("symbols", "com*", cwd=root)
    assert done.stdout == "pkg/store.py:4 Store.commit (method, python)  def commit(self):\n"
    assert run("symbols", "store", "-k", "1", cwd=root).stdout.count("\n") == 1
    assert run("symbols", "commit", "--path", "*.md", cwd=root).stdout == ""


def test_related_takes_what_compilers_print(root: Path) -> None:
    for place in ("pkg/store.py:4:9", "pkg/store.py:4-5", "pkg/store.py:4:", str(root / "pkg/store.py:4")):
        done = run("related", place, cwd=root)
        assert "like method commit in pkg/store.py:4-5" in done.stderr, done.stderr


def test_literal_symbols_related_status_check_config(root: Path) -> None:
    assert asked("search", "--literal", 'return "→', cwd=root)["hits"][0]["start_line"] == 5
    assert asked("symbols", "commit", cwd=root)["hits"][0]["symbol"] == "commit"
    assert "hits" in asked("related", "pkg/store.py:4", cwd=root)
    assert asked("related", "store.py:4", cwd=root / "pkg")["mode"] == "related"
    assert asked("status", cwd=root)["files"] == 3
    assert asked("check", cwd=root)["problems"] == []
    assert asked("config", cwd=root)["settings"]["chunk"]["max_tokens"] == 512


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["search", ""], "the question is empty"),
        (["search", "x", "-k", "0"], "k: expected at least 1"),
        (["search", "x", "--kind", "klass"], 'kind: "klass" is none of'),
        (["related", "nowhere"], "expected a path, a colon and a line number"),
        (["related", "nowhere.py:3"], "nowhere.py"),
        (["related", "pkg:3"], "pkg is a folder"),
        (["related", "pkg/store.py:99"], "has 6 lines, and no line 99"),
        (["related", "pkg/store.py:0"], "expected a path, a colon and a line number"),
        (["related", "pkg/store.py:4", "-k", "0"], "k: expected at least 1"),
        (["symbols", "x", "--kind", "klass"], 'kind: "klass" is none of'),
        (["search", "x kind:klass"], 'kind: "klass" is none of'),
        (["search", "calls:get_*"], "is a pattern"),
        (["symbols", ""], "give a name"),
        (["reindex", "missing"], "cannot be opened"),
        (["reindex", "/"], "the whole file system"),
        (["reindex", "--config", "missing.toml"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(root: Path, words: list[str], message: str) -> None:
    asked("reindex", cwd=root)
    assert message in told(run(*words, cwd=root))


@pytest.mark.parametrize(
    "words", [[], ["nonsense"], ["reindex", "--nonsense"], ["search"], ["search", "x", "-k", "y"]]
)
def test_wrong_usage(root: Path, words: list[str]) -> None:
    done = run(*words, cwd=root)
    assert done.returncode == 2
    assert "usage: indexer" in done.stderr


@pytest.mark.parametrize(
    "question",
    ["foo(bar", "std::vector<", '"unbalanced', "a AND", "*", "x" * 10_000, "-- -k", "of the", "\\", "%s%n"],
)
def test_any_question_has_an_answer(root: Path, question: str) -> None:
    """S-107."""
    done = run("search", "--json", "--", question, cwd=root)
    assert done.returncode == 0, done.stderr
    assert isinstance(json.loads(done.stdout)["hits"], list)


def test_a_narrow_console_is_no_reason_to_fail(root: Path) -> None:
    """S-011."""
    done = run("search", "Store.commit", cwd=root, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert "\\u2192 done" in done.stdout


def test_a_reader_that_has_enough(root: Path) -> None:
    """S-101."""
    asked("reindex", cwd=root)
    line = f"{sys.executable} -m indexer search commit | head -0; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_quiet_is_quiet(root: Path) -> None:
    done = run("reindex", "--quiet", cwd=root)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_another_writer_is_told_and_a_question_is_answered_all_the_same(root: Path) -> None:
    asked("reindex", cwd=root)
    lock = RootLock(root)
    try:
        assert "another indexer" in told(run("reindex", cwd=root))
        value = asked("search", "commit", cwd=root)
        assert value["fresh"] is False
        assert "another indexer" in value["reason"]
        assert value["hits"]
    finally:
        lock.close()


def test_an_index_that_came_with_the_repository_is_refused(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / ".indexer").symlink_to(tmp_path / "elsewhere")
    assert "symbolic link" in told(run("reindex", cwd=root))
    (root / ".indexer").unlink()
    (root / ".indexer").mkdir()
    (root / ".indexer" / "manifest.json").write_text("{}")
    git(root, "add", "-f", ".indexer/manifest.json")
    assert "came with the repository" in told(run("reindex", cwd=root))


def test_the_index_may_lie_elsewhere(root: Path, tmp_path: Path) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text(f"[store]\ndir = '{tmp_path / 'indexes'}'\n")
    assert asked("search", "commit", "--config", settings, cwd=root)["hits"]
    assert not (root / ".indexer").exists()
    assert [path.name.startswith("tree-") for path in (tmp_path / "indexes").iterdir()] == [True]


def test_checking_what_is_not_there(root: Path) -> None:
    assert "no index" in told(run("check", cwd=root))
    (root / ".indexer").mkdir()
    assert "no index" in told(run("check", cwd=root))


def test_git_is_not_told_of_the_index(root: Path) -> None:
    """S-057: it ignores itself."""
    asked("reindex", cwd=root)
    assert ".indexer" not in git(root, "status", "--porcelain", "-uall")


def test_an_index_whose_settings_changed_is_made_anew_by_itself(root: Path) -> None:
    before = asked("reindex", cwd=root)
    (root / ".indexer.toml").write_text("[chunk]\nmax_tokens = 64\noverlap = 8\n")
    assert "chunker is" in told(run("search", "commit", "--now", cwd=root))
    after = asked("reindex", cwd=root)
    assert after["files"]["added"] == before["files"]["added"] + 1
    assert asked("search", "commit", "--now", cwd=root)["hits"]


def test_interrupted_at_any_moment_it_leaves_a_good_index(root: Path) -> None:
    for number in range(400):
        (root / f"f{number}.py").write_text(f"def function_{number}(x):\n    return x + {number}\n" * 20)
    seen = set()
    for wait in (0.3, 0.4, 0.5, 0.6, 0.8, 1.2):  # not while the interpreter itself is starting
        with subprocess.Popen(
            [*INDEXER, "reindex", "--full"],
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        seen.add(process.returncode)
        assert "Traceback" not in errors
    assert seen <= {0, 130, -signal.SIGINT}
    asked("reindex", cwd=root)
    assert asked("check", cwd=root)["problems"] == []


@pytest.mark.parametrize("words", [["reindex"], ["reindex", "--quiet"], ["search", "commit"], ["config"]])
def test_nobody_has_to_listen(root: Path, words: list[str]) -> None:
    """Input and output may be closed; a command does what it does all the same."""
    code = "import os, sys; os.closerange(0, 3); os.execv(sys.executable, [sys.executable, '-m', 'indexer', *sys.argv[1:]])"
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=root, check=False, timeout=120)
    assert done.returncode == 0
    if words[0] != "config":
        assert (root / ".indexer" / "manifest.json").exists()
