"""Copies are found whatever they are called; what only looks alike is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from indexer.train.twins import Twins, files_of, shingles

CODE = """def evict(self, limit):
    while len(self.entries) > limit:
        oldest = min(self.entries, key=lambda name: self.entries[name].used)
        self.log.debug("evicting %s", oldest)
        del self.entries[oldest]
        self.count -= 1
    return self.count
"""


def test_a_copy_is_found_with_other_white_space_case_and_a_changed_line() -> None:
    twins = Twins([("other.py", b"import os\n" * 50), ("cache.py", b"x = 1\n" + CODE.encode() + b"y = 2\n")])
    changed = CODE.replace('self.log.debug("evicting %s", oldest)', "pass").replace("    ", "\t")
    assert twins.copied_from(CODE) == "cache.py"
    assert twins.copied_from(changed.upper()) == "cache.py"


def test_shingles_spread_over_several_files_make_no_copy() -> None:
    lines = CODE.splitlines()
    twins = Twins([("a.py", "\n".join(lines[:3]).encode()), ("b.py", "\n".join(lines[3:]).encode())])
    assert twins.copied_from(CODE) == ""


def test_what_is_short_is_everybodys() -> None:
    assert (
        Twins([("a.py", b"def name(self): return self.name")]).copied_from("def name(self): return self.name")
        == ""
    )
    assert Twins([]).copied_from(CODE) == ""


def test_a_shingle_is_five_words() -> None:
    assert len(shingles(b"a b c d")) == 0
    assert len(shingles(b"a b c d e f")) == 2
    assert np.array_equal(shingles(b"a b c d e"), shingles(b"A, b;c(d) E"))


def test_files_of_folders_are_those_with_source_code(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("a")
    (tmp_path / "a.bin").write_text("b")
    assert [Path(name).name for name, _ in files_of([tmp_path])] == ["test_a.py"]


def test_what_was_kept_finds_the_same(tmp_path: Path) -> None:
    Twins([("b.py", b"x"), ("cache.py", CODE.encode())]).save(tmp_path / "kept.npz")
    assert Twins.load(tmp_path / "kept.npz").copied_from(CODE) == "cache.py"
