"""The tokenizer: which terms, the same ones everywhere, and counted as the plain way counts them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer import tokens


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("HTTPServer2", ["http", "server", "httpserver2"]),
        ("get_queryset", ["get", "queryset", "getqueryset"]),
        ("QuerySet", ["queri", "set", "queryset"]),
        ("querysets", ["queryset"]),
        ("__init__", ["init"]),
        ("_private MAX_SIZE", ["privat", "max", "size", "maxsiz"]),
        ("utf8 utf-8", ["utf", "utf8", "utf"]),
        ("self.assertEqual(x, 404)", ["self", "assert", "equal", "assertequ", "404"]),
        ("how are the migrations applied", ["migrat", "appli"]),
        ("_ __ 1 x", []),
        ("数据库", ["数", "据", "库", "数据", "据库"]),
        ("获取user列表。", ["获", "取", "获取", "user", "列", "表", "列表"]),
        ("ＱｕｅｒｙＳｅｔ", ["queri", "set", "queryset"]),
        ("ｶﾞ", ["ガ"]),
        ("Größe straße STRASSE", ["grösse", "strass", "strass"]),
        ("имя_файла", ["имя", "файла", "имяфайла"]),
        ("caf\u0065\u0301", ["café"]),
        ("λ → π", ["λ", "π"]),
        ("a—bee…cat🎉dog\ufffdemu", ["bee", "cat", "dog", "emu"]),
        ("\ufeffimport", ["import"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert tokens.terms_of(text) == terms
    assert tokens.terms_of(text.encode()) == terms


def test_spellings_of_one_name_meet() -> None:
    for query in ("queryset", "QuerySet", "query_set", "QUERY_SET", "querySets"):
        assert "queryset" in tokens.terms_of(query)


PARTS = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


@given(st.text("aZbC9_", min_size=1, max_size=12))
def test_an_identifier_is_cut_at_case_digits_and_underscores(word: str) -> None:
    parts = [part.lower() for part in PARTS.findall(word)]
    whole = [word.replace("_", "").lower()] if len(parts) > 1 else []
    expected = [tokens.terms_of(part) for part in parts + whole]
    assert tokens.terms_of(word) == [term for terms in expected for term in terms[-1:]]


def test_counting_goes_on_after_it_has_failed_halfway(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(word: str) -> str:
        raise MemoryError(word)

    texts = [b"halfway through fallenWords"]
    with monkeypatch.context() as patch:
        patch.setattr(tokens, "_stem", fail)
        with pytest.raises(MemoryError):
            tokens.count_terms(texts)
    assert counted(texts) == [plain(text) for text in texts]


def test_bytes_that_are_no_utf8_separate() -> None:
    assert tokens.terms_of(b"alpha\xffbeta \xe4\xb8gamma") == ["alpha", "beta", "gamma"]
    assert tokens.terms_of("alpha\udcffbeta") == ["alpha", "beta"]


def test_a_very_long_word_is_one_term() -> None:
    blob = "aB3_" * 300_000
    assert tokens.terms_of(blob) == [blob.replace("_", "").lower()]


def test_a_terms_number_tells_how_it_begins_and_ends() -> None:
    one, like, other, han = tokens.hash_terms(["validator", "validxxxator", "queryset", "数据"])[:, None]
    assert one != like
    assert tokens.heads(one) == tokens.heads(like)
    assert tokens.tails(one) == tokens.tails(like)
    assert tokens.heads(one) != tokens.heads(other)
    assert tokens.heads(han) != tokens.tails(han)
    assert 0 <= tokens.heads(one)[0] < tokens.BUCKETS
    assert tokens.hash_terms(["数据库x"])[0] >> np.uint64(24) != han[0] >> np.uint64(24)
    assert tokens.heads(tokens.hash_terms(["数据库模型"])) == tokens.heads(tokens.hash_terms(["数据库模具"]))


def plain(text: bytes) -> list[tuple[int, int]]:
    counts = Counter(tokens.hash_terms(tokens.terms_of(text)).tolist())
    return sorted((term, min(count, 65535)) for term, count in counts.items())


def counted(texts: list[bytes]) -> list[list[tuple[int, int]]]:
    found = tokens.count_terms(texts)
    assert [part.dtype.name for part in found] == ["int64", "uint64", "uint16"]
    assert found.offsets[0] == 0
    assert len(found.offsets) == len(texts) + 1
    assert found.offsets[-1] == len(found.terms) == len(found.counts)
    pairs = list(zip(found.terms.tolist(), found.counts.tolist(), strict=True))
    return [pairs[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]


WORDS = st.sampled_from(
    [
        "foo",
        "Foo",
        "fooBar",
        "foo_bar",
        "FOO_bars",
        "HTTPServer2",
        "the",
        "x",
        "数据",
        "数据库",
        "ключ",
        "é",
        "�",
        "404",
        ".",
    ]
)
SOURCE = st.lists(WORDS | st.text(max_size=4), max_size=30).map(
    lambda words: " ".join(words).encode("utf-8", "replace")
)


@given(st.lists(st.binary(max_size=60) | SOURCE, max_size=6))
def test_counts_equal_the_plain_way(texts: list[bytes]) -> None:
    assert counted(texts) == [plain(text) for text in texts]


def test_counts_over_many_slices_and_a_forgotten_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        b"",
        *(f"name{i % 7} other_{i} 数据{i}".encode() for i in range(200)),
        b"",
        b"fooBar " * 70_000,
        b"",
    ]
    whole = counted(texts)
    monkeypatch.setattr(tokens, "_SLICE", 100)
    monkeypatch.setattr(tokens, "_ROOM", 2000)
    assert counted(texts) == whole == [plain(text) for text in texts]
    assert dict(whole[-2])[int(tokens.hash_terms(["foobar"])[0])] == 65535


def test_the_vocabulary_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_ROOM", 10_000)
    tokens.count_terms([b"%d" % i for i in range(1000)])
    tokens.count_terms([b"again"])
    assert len(tokens._vocabulary()) == 1


def test_nothing_to_count() -> None:
    assert counted([]) == []
    assert counted([b"", b" the . "]) == [[], []]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", 0),
        (b"x = get_queryset(HTTPServer2, 3.14)", 5),
        ("数据库 db".encode(), 4),
        ("größe = naïve_count — x".encode(), 3),
        (b"\xff\xfe.", 0),
        ("日本語text".encode(), 4),
    ],
)
def test_size(data: bytes, words: int) -> None:
    assert tokens.size(data) == words


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_size_adds_up_over_lines(one: bytes, two: bytes) -> None:
    assert tokens.size(one + b"\n" + two) == tokens.size(one) + tokens.size(two)


def test_every_process_gives_the_same_terms() -> None:
    code = (
        "from indexer import tokens\n"
        "c = tokens.count_terms([b'QuerySet.filter get_queryset', '数据库 größe Ключ'.encode()])\n"
        "print(tokens.VERSION, [a.tolist() for a in c])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert b"4268025277528226417" in outputs.pop()


@pytest.mark.parametrize(
    "hostile",
    [
        "A" * 1_000_000,
        "aB" * 500_000,
        "_" * 1_000_000,
        "\u0301\u0323" * 200_000,
        "数" * 500_000,
        "a\u0301" * 400_000,
    ],
    ids=["capitals", "camel", "underscores", "marks", "han", "accents"],
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    started = time.process_time()
    tokens.count_terms([hostile.encode()])
    tokens.size(hostile.encode())
    assert time.process_time() - started < 10


def test_letters_do_not_depend_on_this_pythons_unicode_tables() -> None:
    # Characters newer than Unicode 3.2 (a Kawi letter of 15.0, a Han character of 15.1) are words by their range.
    assert tokens.terms_of("\U00011f04\U00011f05") == ["\U00011f04\U00011f05"]
    assert tokens.terms_of("\U0002ebf0") == ["\U0002ebf0"]
