"""A view that is spliced from an earlier generation's says what one made from nothing says, and makes no column anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer.search import Corpus
from indexer.search.columns import Inverse
from indexer.store import open_snapshot, since
from indexer.store.since import Edits
from tests.search.test_search import QUERIES, STORE
from tests.search.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MORE = {
    f"lib/part_{number}.py": f"def part_{number}(value):\n    return value + {number}\n"
    for number in range(12)
}
_EDIT = st.dictionaries(
    st.sampled_from([*STORE, *list(_MORE)[:4], "a.py", "zz/last.md"]),
    st.sampled_from([*STORE.values(), "import shop.models\n\nx = 1\n", "", None]),
    min_size=1,
    max_size=3,
)


def follow(tree: Tree, before: Corpus) -> Corpus:
    return Corpus(open_snapshot(tree.index_dir, previous=before.snapshot), before)


def change(tree: Tree, edits: dict[str, str | None]) -> None:
    """Write files, remove those that are None, and commit."""
    gone = [path for path, text in edits.items() if text is None and (tree.root / path).exists()]
    for path in gone:
        (tree.root / path).unlink()
    tree.write({path: text for path, text in edits.items() if text is not None}).index(*gone, only=edits)


def columns(corpus: Corpus) -> list[list[object]]:
    """Every column by row or file, whatever the ids are, and who has what."""
    snapshot = corpus.snapshot
    rows = range(corpus.rows)
    strings = [
        [snapshot.string(n) for n in ids.tolist()] for ids in (snapshot.symbol, snapshot.scope, snapshot.kind)
    ]
    keys = snapshot.content_keys[corpus.content].tolist()
    inverses = (
        (corpus.symbol, snapshot.symbol),
        (corpus.scope, snapshot.scope),
        (corpus.contents, corpus.content),
    )
    alike = [
        [inverse.find(ids[row : row + 1].astype(np.int64))[0].tolist() for row in rows]
        for inverse, ids in inverses
    ]
    paths = [
        corpus.files_by_path.find(snapshot.files.path[at : at + 1].astype(np.int64))
        for at in range(corpus.files)
    ]
    return [
        *strings, *alike, keys, [found[0].tolist() for found in paths], snapshot.paths, corpus.file.tolist(),
        snapshot.line.tolist(), snapshot.part.tolist(), corpus.row_terms.tolist(), corpus.file_name_terms.tolist(),
        corpus.graph.edges.tolist(), corpus.is_minor.tolist(), [snapshot.parent(row) for row in rows],
    ]  # fmt: skip


def same(tree: Tree, followed: Corpus) -> None:
    anew = Corpus(open_snapshot(tree.index_dir))
    assert columns(followed) == columns(anew)
    for query in QUERIES:
        for mode in ("lexical", "hybrid", "dense"):
            assert tree.ask(followed, query, mode=mode) == tree.ask(anew, query, mode=mode)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(_EDIT, st.booleans()), min_size=1, max_size=8))
def test_whatever_is_edited_the_columns_are_those_of_a_new_view(
    tmp_path_factory: pytest.TempPathFactory, steps: Sequence[tuple[dict[str, str | None], bool]]
) -> None:
    tree = Tree(tmp_path_factory.mktemp("grown"))
    followed = Corpus(tree.write(STORE | _MORE).index().snapshot)
    for edits, looked in steps:
        change(tree, edits)
        followed = follow(tree, followed)
        if looked:  # else the next generation is spliced from one of which nothing was asked
            same(tree, followed)
    same(tree, followed)


def test_an_edit_makes_no_inverse_anew(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Corpus(tree.write(STORE | _MORE).index().snapshot)
    tree.ask(first, "builder", mode="hybrid")
    made: list[int] = []
    plain = Inverse.__init__

    def counted(inverse: Inverse, column: NDArray[np.int64], values: int) -> None:
        made.append(values)
        plain(inverse, column, values)

    monkeypatch.setattr(Inverse, "__init__", counted)
    followed = first
    for number in range(20):
        change(tree, {"shop/builder.py": f"def build_{number}(runtime):\n    return {number}\n"})
        followed = follow(tree, followed)
        assert tree.ask(followed, f"build_{number}")[0].symbol == f"build_{number}"
        assert followed.grown is not None
        assert followed.grown.trunk is first
        assert followed.snapshot.paths is first.snapshot.paths
        assert followed.graph is not first.graph
    assert made == []


def test_when_too_much_is_different_everything_is_made_anew(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(since, "_FEW", 2)
    monkeypatch.setattr(since, "_SHARE", 1000)
    followed = Corpus(tree.write(STORE | _MORE).index().snapshot)
    for path, is_spliced in (("a.py", True), ("b.py", True), ("c.py", False), ("d.py", True)):
        change(tree, {path: f"def of_{path[0]}():\n    pass\n"})
        followed = follow(tree, followed)
        assert (followed.grown is not None) == is_spliced
        same(tree, followed)


@given(st.data())
def test_edits_move_and_splice_as_a_list_would(data: st.DataObject) -> None:
    before = list(range(data.draw(st.integers(0, 30))))
    cuts = sorted(
        data.draw(st.lists(st.integers(0, len(before)), max_size=8).filter(lambda some: len(some) % 2 == 0))
    )
    stretches = list(zip(cuts[::2], cuts[1::2], strict=True))
    lengths = [data.draw(st.integers(0, 3)) for _ in stretches]
    after: list[int] = []
    kept = 0
    for (start, stop), length in zip(stretches, lengths, strict=True):
        after += before[kept:start] + [-1] * length
        kept = stop
    after += before[kept:]
    starts, stops = (np.array([one[at] for one in stretches], np.int64) for at in (0, 1))
    edits = Edits(starts, stops, np.array(lengths, np.int64), len(before))
    fresh = [-1] * sum(lengths)
    assert edits.rows == len(after)
    assert edits.splice(np.array(before, np.int64), np.array(fresh, np.int64)).tolist() == after
    assert edits.splice_list(before, fresh) == after
    assert edits.fresh.tolist() == [at for at, value in enumerate(after) if value < 0]
    there, rows = edits.move(np.array(before, np.int64))
    assert {value: at for at, value in enumerate(after) if value >= 0} == {
        value: int(row) for value, row, is_there in zip(before, rows, there, strict=True) if is_there
    }
