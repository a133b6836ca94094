"""Pairs to a model: reading, vocabulary, examples, batches, export; all that needs no torch."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from indexer import tokens
from indexer.embed.model import read, version_of, write
from indexer.train.batches import batches, draw
from indexer.train.companions import companions_of
from indexer.train.examples import examples_of
from indexer.train.export import export, quantised
from indexer.train.judging import is_held_out, reciprocal_rank
from indexer.train.reading import LONGEST, Pair, PairFileError, read_pairs
from indexer.train.start import Remembering, start
from indexer.train.vocabulary import Frequencies, choose, words_of
from indexer.train.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

VERBS = [
    "open",
    "close",
    "read",
    "write",
    "lock",
    "flush",
    "parse",
    "merge",
    "split",
    "sort",
    "find",
    "delete",
    "copy",
    "move",
    "hash",
    "draw",
]
NOUNS = [
    "file",
    "socket",
    "table",
    "index",
    "vector",
    "queue",
    "stream",
    "buffer",
    "folder",
    "string",
    "token",
    "batch",
]
CHINESE = {"打开": "open", "关闭": "close", "读取": "read", "写入": "write", "删除": "delete", "复制": "copy"}


def some_pairs() -> list[Pair]:
    """What a project says of itself: a verb and a noun, and code that uses them by other names."""
    pairs = [
        Pair(
            f"{verb} the {noun}s",
            f"def do_{verb}_{noun}(x): return {verb}r({noun}Handle)",
            "doc",
            lang,
            project,
        )
        for lang, project in (("python", "one"), ("python", "two"), ("go", "three"))
        for verb in VERBS
        for noun in NOUNS
    ]
    pairs += [
        Pair(f"{zh}{noun}", f"{en} {noun}", "zh", "zh", "four")
        for zh, en in CHINESE.items()
        for noun in NOUNS
    ]
    return pairs


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def a_line(**changes: str) -> dict[str, str]:
    return {"left": "a b", "right": "c d", "kind": "doc", "language": "go", "project": "bolt"} | changes


def test_pairs_are_read_once_each_and_cut(tmp_path: Path) -> None:
    one = written(tmp_path / "a.jsonl", a_line(), a_line(), a_line(right="x" * 9999))
    two = written(tmp_path / "b.jsonl", a_line(), a_line(left="其他", kind="zh"))
    pairs = list(read_pairs([two, one]))
    assert [pair.left for pair in pairs] == ["a b", "a b", "其他"]
    assert len(pairs[1].right) == LONGEST


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"left": "a"}, "b.jsonl:2: .*right"),
        (a_line(left=3), "b.jsonl:2: .*left"),  # type: ignore[arg-type]
        (a_line(project="golang-github-spf13-cobra-dev"), "b.jsonl:2: .* may not be trained on: cobra"),
        (a_line(project="django"), "may not be trained on: django"),
        (a_line(project="trio"), "may not be trained on: trio"),
    ],
)
def test_a_wrong_or_forbidden_pair_stops_the_reading(tmp_path: Path, line: object, words: str) -> None:
    with pytest.raises(PairFileError, match=words):
        list(read_pairs([written(tmp_path / "b.jsonl", a_line(), line)]))


def frequencies_of(**texts: list[str]) -> Frequencies:
    found = Frequencies()
    for language, some in texts.items():
        found.add(language, some)
    return found


def test_words_know_how_they_are_written() -> None:
    words = words_of([(run, 1) for run in "queries query get_querySet QuerySet 数据库".encode().split()])
    assert words["queri"].surface == "queries"
    assert words["queryset"].parts == ("queri", "set")
    assert words["getqueryset"].parts == ("get", "queri", "set")
    assert words["数据"].parts == ()
    assert words["get"].parts == ()


def test_a_plain_word_is_plain_though_it_is_joined_elsewhere() -> None:
    assert words_of([(b"QuerySet", 9), (b"queryset", 2)])["queryset"].parts == ()


def test_the_vocabulary_gives_room_to_small_languages_and_scripts() -> None:
    found = choose(
        frequencies_of(
            python=[f"alpha beta common{i % 40}" for i in range(4000)],
            go=["goroutine alpha"] * 30 + ["rare"] * 3,
            zh=["数据"] * 10 + ["alphaBeta"] * 10,
        ),
        size=7,
        unspaced=3,
    )
    chosen = {word.term for word in found.words}
    assert {"数", "据", "数据", "alpha", "beta", "goroutin"} <= chosen
    assert "rare" not in chosen
    assert len(found.terms) == 7
    assert (found.terms[1:] > found.terms[:-1]).all()
    numbers = tokens.hash_terms([word.term for word in found.words])
    assert np.array_equal(numbers, found.terms)
    assert found.shares[[word.term for word in found.words].index("alpha")] == pytest.approx(4040 / 4053)


def test_examples_are_what_inference_sums() -> None:
    terms = np.unique(tokens.hash_terms(["open", "file", "数", "据"]))
    pairs = [
        Pair("open open file", "strange file", "doc", "go", "a"),
        Pair("", "file", "doc", "go", "a"),
        Pair("数据", "Open", "zh", "zh", "b"),
    ]
    examples = examples_of(pairs, terms)
    assert len(examples) == 2
    assert examples.groups == ["doc/go", "zh/zh"]
    assert np.diff(examples.left.offsets).tolist() == [2, 2 + 2]  # the pair of characters is two buckets
    assert np.diff(examples.right.offsets).tolist() == [3, 1]
    assert examples.left.shared.sum() == examples.right.shared.sum() == 1
    assert examples.left.weights.max() == pytest.approx(1 + np.log(2), abs=1e-3)
    both = examples.take(np.array([1, 0]))
    assert np.array_equal(both.take(np.array([1, 0])).right.rows, examples.right.rows)


def test_batches_are_blocks_of_one_project_and_small_groups_come_oftener() -> None:
    pairs = some_pairs()
    examples = examples_of(pairs, np.unique(tokens.hash_terms([*VERBS, *NOUNS])))
    rng = np.random.default_rng(3)
    chosen = draw(examples, {"zh": 2.0}, rng, balance=0.5)
    groups = np.bincount(examples.group[chosen]) / np.bincount(examples.group)
    assert groups[examples.groups.index("zh/zh")] > groups[examples.groups.index("doc/python")]
    found = list(batches(examples, chosen, rng, size=64, block=16))
    assert {len(some) for some in found} == {64}
    changes = [np.count_nonzero(np.diff(examples.project[some])) for some in found]
    assert max(changes) <= 7


def test_the_order_of_training_is_the_seed() -> None:
    examples = examples_of(some_pairs(), np.unique(tokens.hash_terms(VERBS)))

    def order() -> NDArray[np.int64]:
        rng = np.random.default_rng(5)
        return np.concatenate(
            list(batches(examples, draw(examples, {}, rng, balance=0.7), rng, size=32, block=8))
        )

    assert np.array_equal(order(), order())


def test_export_rounds_and_names_by_content(tmp_path: Path) -> None:
    terms = np.unique(tokens.hash_terms(VERBS))
    table = np.random.default_rng(1).normal(size=(len(terms) + 2 * tokens.BUCKETS, 8)).astype(np.float32)
    table[0] = 0
    whole, scales = quantised(table)
    assert np.abs(whole * scales[:, None] - table).max() <= scales.max() / 2 + 1e-6
    assert scales[0] == 0
    model = export(terms, table)
    write(tmp_path / "m.npz", model)
    assert read(tmp_path / "m.npz").version == version_of(model) == export(terms, table).version
    table[1, 1] += 1
    assert export(terms, table).version != model.version


def test_rank_counts_equals_against_the_model() -> None:
    eye = np.eye(12, dtype=np.float32)
    assert reciprocal_rank(eye, eye) == 1
    assert reciprocal_rank(eye, np.ones_like(eye)) == 0  # all twelve are equal: rank 12
    assert reciprocal_rank(eye[:2], eye[[1, 0]]) == 0.5


def test_whole_projects_are_held_out() -> None:
    held = [name for name in map(str, range(1000)) if is_held_out(name)]
    assert 10 < len(held) < 50


def test_pieces_are_the_longest_of_the_vocabulary() -> None:
    pieces = WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##known", "##kno", "cafe", "!", "_"])
    assert pieces.numbers("unknown Café!") == [1, 3, 4, 6, 7, 2]
    assert pieces.numbers("zzz _") == [1, 0, 8, 2]
    assert pieces.numbers("! " * 50, most=5) == [1, 7, 7, 7, 2]


def fake_teacher(texts: Sequence[str]) -> NDArray[np.float32]:
    """Words that begin alike are alike."""
    rng = np.random.default_rng(9)
    letters = rng.normal(size=(0x30, 300)).astype(np.float32)
    return np.stack([letters[[ord(c) % 0x30 for c in text[:3]]].sum(axis=0) for text in texts])


def test_the_start_puts_joined_names_between_their_parts(tmp_path: Path) -> None:
    texts = [
        "open_file",
        "open",
        "file",
        "数据",
        *[f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400)],
    ]
    vocabulary = choose(frequencies_of(go=texts * 6), size=500, unspaced=3)
    asked: list[str] = []

    def teacher(words: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(words)
        return fake_teacher(words)

    table = start(vocabulary, Remembering(teacher, tmp_path / "t.npz"), fake_teacher)
    assert table.shape == (len(vocabulary.terms) + 2 * tokens.BUCKETS, 256)
    place = {word.term: i for i, word in enumerate(vocabulary.words)}
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)
    assert unit[place["openfil"]] @ unit[place["open"]] > 0.5
    assert table[place["数据"]].any()
    assert np.allclose(
        table, start(vocabulary, Remembering(teacher, tmp_path / "t.npz"), fake_teacher), atol=1e-6
    )
    assert len(asked) == len(set(asked))


def test_companions_are_near_words_of_either_language_but_not_parts() -> None:
    words = ["delete", "remove", "deleted", "sort", "删", "排"]
    meaning = {"delete": 0, "remove": 0, "deleted": 0, "删": 0, "sort": 1, "排": 1}
    texts = [f"{word} {filler}" for word in words for filler in ("ka", "lo", "mi", "nu", "pe", "ro", "su")]
    vocabulary = choose(frequencies_of(go=texts * 2), size=40, unspaced=2)

    def teacher(asked: Sequence[str]) -> NDArray[np.float32]:
        found = np.eye(len(asked), 40, 2, dtype=np.float32)
        for i, word in enumerate(asked):
            if word in meaning:
                found[i] = np.eye(40)[meaning[word]]
        return found

    found = companions_of(vocabulary, teacher, teacher)
    place = {word.surface: i for i, word in enumerate(vocabulary.words)}
    assert set(found.english[place["remove"]].tolist()) - {-1} == {place["delete"]}
    assert set(found.english[place["sort"]].tolist()) == {-1}
    assert place["删"] in found.chinese[place["remove"]]
    examples = examples_of([Pair("remove remove", "sort", "doc", "go", "a")] * 200, vocabulary.terms)
    rng = np.random.default_rng(1)
    put = found.put(examples.left, rng, swap=1.0, translate=0.0)
    assert set(put.rows.tolist()) == {place["remove"], place["delete"]}
    assert place["删"] in found.put(examples.left, rng, swap=0.0, translate=1.0).rows
    assert np.array_equal(found.put(examples.left, rng, swap=0.0, translate=0.0).rows, examples.left.rows)


def test_what_stops_the_program_is_one_line(tmp_path: Path) -> None:
    forbidden = written(tmp_path / "p.jsonl", a_line(project="flask"))
    arguments = [str(forbidden), "--teacher", "none.whl", "--out", str(tmp_path / "m.npz")]
    ended = subprocess.run(
        [sys.executable, "-m", "indexer.train", *arguments], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.startswith("indexer.train: ")
    assert ended.stderr.count("\n") == 1
    assert not (tmp_path / "m.npz").exists()
