"""Mining on small real files: what becomes a pair, what does not, and that it is counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from indexer.train import pairs
from indexer.train.mining import in_words, pairs_of_file, shortened
from indexer.train.reading import Pair
from indexer.train.remarks import remarks

CACHE = '''"""A cache."""


class Cache:
    """Keeps answers for a while. Old ones go first, since nobody asks for them again."""

    limit = 10
    entries = {}

    def evict_oldest(self, limit):
        """Throw away what was asked for longest ago."""
        while len(self.entries) > limit:
            oldest = min(self.entries, key=self.age)
            # tell the listeners before it is gone
            self.tell(oldest, "gone")
            self.count -= 1
            del self.entries[oldest]

        # x = compute(y)
        self.dirty = True
        self.saved = False
        return self.count

    def get(self):
        """TODO: write this."""
        self.hits += 1
        return self.value

    def 读取(self, path):
        """读取缓存文件并返回其中的内容。"""
        with open(path) as file:
            data = file.read()
        return data
'''


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def mined(language: str, text: str) -> tuple[list[Pair], Counter[str]]:
    dropped = Counter[str]()
    return list(pairs_of_file(language, text.encode(), "cache", dropped)), dropped


def of_kind(found: list[Pair], kind: str) -> dict[str, str]:
    return {pair.left: pair.right for pair in found if pair.kind == kind}


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_docstring_makes_pairs_with_the_code_that_it_is_taken_from() -> None:
    found = of_kind(mined("python", CACHE)[0], "doc")
    assert set(found) == {
        "Keeps answers for a while.",
        "Keeps answers for a while. Old ones go first, since nobody asks for them again.",
        "Throw away what was asked for longest ago.",
    }
    assert found["Throw away what was asked for longest ago."].startswith(
        "def evict_oldest(self, limit):\n    while"
    )


def test_a_name_and_signature_makes_a_pair_with_the_body() -> None:
    found = of_kind(mined("python", CACHE)[0], "name")
    body = found["evict oldest def evict_oldest(self, limit):"]
    assert "while len" in body
    assert "def evict_oldest" not in body


def test_a_comment_makes_a_pair_with_the_lines_behind_it() -> None:
    found = of_kind(mined("python", CACHE)[0], "comment")
    assert list(found) == ["tell the listeners before it is gone"]
    assert found["tell the listeners before it is gone"].startswith('self.tell(oldest, "gone")')


def test_chinese_documentation_is_a_kind_of_its_own() -> None:
    assert list(of_kind(mined("python", CACHE)[0], "zhdoc")) == ["读取缓存文件并返回其中的内容。"]


def test_what_says_nothing_is_counted() -> None:
    dropped = mined("python", CACHE)[1]
    assert dropped["comment that is code"] == 1
    assert dropped["says nothing"] == 1


def test_licences_and_boilerplate_make_no_pairs() -> None:
    body = "{\n  int c = 1;\n  int d = 2;\n  return c + d;\n}\n"
    for said in (
        "Licensed under the Apache License, Version 2.0.",
        "Getter for the name of it.",
        "{@inheritDoc} and so on.",
        "Auto-generated method stub here.",
    ):
        found, dropped = mined("java", f"class A {{\n/** {said} */\nint add() {body}}}\n")
        assert of_kind(found, "doc") == {}, said
        assert dropped["says nothing"] + dropped["licence"] == 1, said


def test_a_name_at_the_head_of_a_sentence_is_taken_off() -> None:
    text = "package a\n\n// Add adds two numbers.\nfunc Add(a, b int) int {\n\tc := a + b\n\treturn c\n}\n"
    assert list(of_kind(mined("go", text)[0], "doc")) == ["adds two numbers."]


def test_a_heading_and_a_paragraph_make_a_pair_with_the_code_block_behind_them() -> None:
    text = "# Use\n\nMake one cache for all of the requests:\n\n```python\ncache = Cache(limit=10)\ncache.put(1)\n```\n\n```sh\npip install it\n```\n"
    assert [tuple(one) for one in remarks("markdown", text)] == [
        ("Make one cache for all of the requests", "cache = Cache(limit=10)\ncache.put(1)", "python")
    ]


def test_identifiers_are_told_in_words() -> None:
    assert in_words("getHTTPResponse_code2") == "get http response code2"
    assert shortened("one two  three four", 3) == "one two  three"


def test_a_run_leaves_out_what_must_not_be_trained_on(tmp_path: Path) -> None:
    copied = CACHE.replace("class Cache", "class Store").replace("evict_oldest", "drop_oldest")
    lay(tmp_path / "excluded", {"cache.py": copied})
    lay(
        tmp_path / "sources" / "python",
        {
            "good-1.0/good/a.py": CACHE.replace("entries", "answers").replace("oldest", "last")
            + '\n\ndef lonely(path, mode):\n    """Open a thing nobody else has."""\n    handle = open(path, mode)\n    return handle\n',
            "good-1.0/good/tests/a.py": CACHE,
            "good-1.0/good/requests/a.py": CACHE,
            "good-1.0/good/pb.py": "# Generated by a tool. DO NOT EDIT.\n" + CACHE,
            "copy-1.0/store.py": copied,
            "flask-cors-2.0/cors.py": CACHE,
        },
    )
    lay(tmp_path / "pools", {"python.json": json.dumps([{"question": "open a thing nobody else has."}])})
    out = tmp_path / "out"
    command = [str(tmp_path / "sources"), str(out), "--twins", str(tmp_path / "excluded"), "--nice", "0"]
    pairs.main([*command, "--questions", str(tmp_path / "pools")])
    found = read(out / "python.jsonl")
    assert {pair["project"] for pair in found} <= {"good", "copy"}
    assert not any("drop_oldest" in pair["right"] for pair in found)
    assert not any(pair["left"] == "Open a thing nobody else has." for pair in found)
    dropped = Counter[str]()
    for part in (out / ".parts" / "python").glob("*.jsonl"):
        dropped.update(read(part)[0])
    assert dropped["copy of excluded code"] > 0
    assert dropped["question of a test"] == 1
    assert dropped["file below a folder requests"] == 1
    assert dropped["package of an excluded project: flask-cors"] == 1


def test_what_was_read_is_not_read_again_and_each_pair_stands_once(tmp_path: Path) -> None:
    lay(tmp_path / "sources" / "python", {"one-1.0/a.py": CACHE, "two-1.0/a.py": CACHE})
    out = tmp_path / "out"
    pairs.main([str(tmp_path / "sources"), str(out), "--nice", "0"])
    first = read(out / "python.jsonl")
    assert {pair["project"] for pair in first} == {"one"}
    lay(
        tmp_path / "sources" / "python", {"one-1.0/a.py": "", "three-1.0/b.py": CACHE.replace("gone", "away")}
    )
    pairs.main([str(tmp_path / "sources"), str(out), "--nice", "0"])
    assert {pair["project"] for pair in read(out / "python.jsonl")} == {"one", "three"}
    assert [pair for pair in read(out / "python.jsonl") if pair["project"] == "one"] == first


def test_no_project_has_more_than_its_share() -> None:
    some = [Pair(str(i), "code", "doc", "python", "p") for i in range(100)]
    dropped = Counter[str]()
    kept = pairs._share(some, 10, dropped)
    assert len(kept) == 10
    assert dropped["more than a project's share"] == 90
    assert kept == [pair for pair in some if pair in kept]


def test_one_line_is_enough_when_there_is_something_in_it() -> None:
    long = '"""Say what is in it."""\n    return [name for name in sorted(self.names) if name.startswith(prefix)]\n'
    short = '"""Say what is in it."""\n    return 1\n'
    assert (
        of_kind(mined("python", f"def inside(self, prefix: str = 'a') -> list[str]:\n    {long}")[0], "doc")
        != {}
    )
    assert mined("python", f"def inside(self):\n    {short}")[1]["too little code"] == 1
