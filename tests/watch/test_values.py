"""The parts that call nothing: batches, the book of watches, the inbox."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indexer.settings import WatchSettings
from indexer.watch import Batch
from indexer.watch.batch import Dirt
from indexer.watch.bookkeeping import Book
from indexer.watch.inbox import Inbox


def test_nothing_is_no_batch() -> None:
    dirt = Dirt()
    assert dirt.batch() is None
    dirt.cookies.add(3)
    assert dirt.batch() == Batch(cookies=frozenset({3}))


def test_a_batch_names_each_thing_once() -> None:
    dirt = Dirt()
    dirt.trees = {"a/b", "a/b/c", "a-b", "d"}
    dirt.paths = {"a/b/c/x", "a/x", "a-b/x", "d", "dx"}
    batch = dirt.batch()
    assert batch is not None
    assert batch.trees == {"a/b", "a-b", "d"}
    assert batch.paths == {"a/x", "d", "dx"}
    dirt.trees.add("")
    assert dirt.batch() == Batch(trees=frozenset({""}))


def test_the_first_reason_for_a_rescan_stays() -> None:
    dirt = Dirt()
    dirt.paths = {"a"}
    dirt.everything("one")
    dirt.everything("two")
    assert dirt.batch() == Batch(trees=frozenset({""}), rescan="one", rules_changed=True)


moves = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([b"a", b"b", b"c"]), st.booleans()),
    max_size=40,
)


@given(moves)
def test_the_book_is_a_tree(script: list[tuple[int, int, bytes, bool]]) -> None:
    """Whatever is put and cut: each descriptor is at one place, all are below the root, none is lost unsaid."""
    book = Book()
    root = book.set_root(0)
    known = {0}
    for wd, above, name, cut in script:
        parent = book.by_wd.get(above, root)
        node = book.by_wd.get(wd)
        if node is not None and parent.is_below(node):
            continue
        if cut and node is not None:
            known -= set(book.cut(node))
        else:
            put, displaced = book.put(wd, parent, name)
            known = (known | {wd}) - set(displaced)
            assert book.holds(put)
            assert put.path().endswith(name)
        assert book.by_wd.keys() == known
        reached, pending = set(), [root]
        while pending:
            here = pending.pop()
            assert here.wd not in reached
            reached.add(here.wd)
            assert all(kid.parent is here and kid.name == key for key, kid in here.kids.items())
            pending += here.kids.values()
        assert reached == known


def test_an_inbox_listens_to_one_reader() -> None:
    inbox = Inbox(WatchSettings(settle_ms=0))
    old, new = object(), object()
    inbox.listen_to(old)
    inbox.put(old, [(1, 2, b"x")])
    inbox.listen_to(new)
    inbox.put(old, [(1, 2, b"y")])
    inbox.ended(old, "ended")
    assert inbox.take(0.01) is None
    inbox.put(new, [(1, 2, b"z"), (1, 0x40000100, b"d"), (1, 0x40000200, b"d")])
    taken = inbox.take(1)
    assert taken is not None
    assert taken.files == {1: {b"z"}}
    assert taken.directories == {(1, b"d"): 0x40000300}


def test_names_nobody_asked_for_wake_nobody() -> None:
    inbox = Inbox(WatchSettings(settle_ms=0))
    reader = object()
    inbox.listen_to(reader)
    inbox.only = {7: frozenset({b"index"})}
    inbox.put(reader, [(7, 2, b"index.lock")])
    assert inbox.take(0.01) is None
    inbox.put(reader, [(7, 2, b"index")])
    assert inbox.take(1) is not None
