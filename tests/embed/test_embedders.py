"""The embedders' contract, held for those that ship and enforced on those that do not keep it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indexer import embed, tokens
from indexer.embed.hashing import HashingEmbedder
from indexer.embed.model import Model, read, version_of, write
from indexer.embed.static import StaticEmbedder
from indexer.embed.weights import weights
from indexer.errors import EmbedderError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

TEXTS = [
    "class QuerySet: pass",
    "",
    "the of",
    "def get_queryset(self): return 1",
    "数据库迁移",
    "class QuerySet: pass",
]
WORDS = ["query", "set", "queryset", "migration", "数据", "apply", "get"]


def write_model(path: Path, **changes: object) -> Path:
    terms = np.unique(tokens.hash_terms([term for word in WORDS for term in tokens.terms_of(word)]))
    rng = np.random.default_rng(7)
    arrays: dict[str, object] = {
        "terms": terms,
        "vectors": rng.integers(-127, 128, (len(terms), 16), np.int8),
        "scales": rng.random(len(terms), np.float32),
        "buckets": rng.integers(-127, 128, (2 * tokens.BUCKETS, 16), np.int8),
        "bucket_scales": rng.random(2 * tokens.BUCKETS, np.float32),
    }
    meta = {"version": "t1", "tokenizer": tokens.VERSION}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    kept: dict[str, Any] = {key: value for key, value in (arrays | changes).items() if value is not None}
    np.savez(path, **kept)
    return path


@pytest.fixture(params=["hashing", "static"])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> embed.Embedder:
    if request.param == "hashing":
        return HashingEmbedder(64)
    return StaticEmbedder(write_model(tmp_path / "model.npz"))


def test_the_contract(embedder: embed.Embedder) -> None:
    rows = embed.checked(embedder).embed(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dim)
    assert not rows[1].any()
    assert not rows[2].any()
    assert np.allclose(np.linalg.norm(rows[[0, 3, 4]], axis=1), 1, atol=1e-3)
    assert np.array_equal(rows[0], rows[5])
    assert rows[0] @ rows[3] > rows[0] @ rows[4] or embedder.name == "static"
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_a_row_does_not_depend_on_its_batch(embedder: embed.Embedder) -> None:
    many = [f"{text} migration{i} query set {'apply ' * (i % 5)}" for i in range(60) for text in TEXTS]
    whole = embedder.embed(many)
    assert np.array_equal(whole, np.concatenate([embedder.embed([text]) for text in many]))
    assert np.array_equal(whole[::-1], embedder.embed(many[::-1]))


def test_a_batch_of_many_blocks_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    static = StaticEmbedder(write_model(tmp_path / "model.npz"))
    many = [" ".join([*WORDS, "strange", "other"][: i % 10]) for i in range(100)]
    whole = static.embed(many)
    monkeypatch.setattr("indexer.embed.static._BLOCK", 4)
    assert np.array_equal(whole, static.embed(many))
    monkeypatch.setattr("indexer.embed.static._SLICE", 5)
    assert np.array_equal(whole, static.embed(many))


def plain_sum(model: Model, text: str) -> NDArray[np.float64]:
    """The definition, word for word."""
    total = np.zeros(model.vectors.shape[1])
    counts = tokens.count_terms([text.encode()])
    for term, count in zip(counts.terms.tolist(), counts.counts.tolist(), strict=True):
        found = np.flatnonzero(model.terms == term)
        head, tail = term >> 12 & 0xFFF, tokens.BUCKETS + (term & 0xFFF)
        parts = (
            [model.vectors[found[0]] * model.scales[found[0]]]
            if len(found)
            else [model.buckets[at] * model.bucket_scales[at] for at in (head, tail)]
        )
        total += (1 + np.log(count)) * np.sum(parts, axis=0, dtype=np.float64)
    return total


def test_no_weight_is_near_where_another_logarithm_would_round_it_otherwise() -> None:
    exact = [1024 * (1 + math.log(n)) for n in range(1, 65536)]
    assert weights().tolist() == [0, *map(round, exact)]
    assert min(abs(one % 1 - 0.5) for one in exact) > 1e-7


def test_a_row_is_what_the_definition_says(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.npz")
    texts = ["query set", "strange apply apply", "数据库", "apply " * 7 + "whatever else there is", "x"]
    wanted = np.stack([plain_sum(read(path), text) for text in texts])
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1e-9)
    assert np.allclose(StaticEmbedder(path).embed(texts), wanted, atol=2e-3)  # weights are rounded to 1/1024


def test_unknown_terms_that_begin_and_end_alike_are_alike(tmp_path: Path) -> None:
    static = StaticEmbedder(write_model(tmp_path / "model.npz"))
    same, near, far = (
        static.embed(["unheardof", "unhexxxxrdof", "somethingelse"])[:, None] @ static.embed(["unheardof"])[0]
    )
    assert same == pytest.approx(1)
    assert near == pytest.approx(1)
    assert far < 0.9


def test_a_model_that_knows_no_term_still_answers(tmp_path: Path) -> None:
    empty = {
        "terms": np.empty(0, np.uint64),
        "vectors": np.empty((0, 16), np.int8),
        "scales": np.empty(0, np.float32),
    }
    assert StaticEmbedder(write_model(tmp_path / "model.npz", **empty)).embed(["query"])[0].any()


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    model = read(write_model(tmp_path / "model.npz"))
    write(tmp_path / "one.npz", model)
    write(tmp_path / "two.npz", read(tmp_path / "one.npz"))
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    assert version_of(model) == version_of(read(tmp_path / "two.npz"))
    assert version_of(model) != version_of(model._replace(scales=model.scales + 1))


def test_terms_and_texts_give_the_same(embedder: embed.Embedder) -> None:
    assert isinstance(embedder, embed.TermEmbedder)
    wrapped = embed.checked(embedder)
    assert isinstance(wrapped, embed.TermEmbedder)
    counts = tokens.count_terms([text.encode() for text in TEXTS])
    assert np.array_equal(wrapped.embed_terms(counts), wrapped.embed(TEXTS))


@settings(deadline=None)
@given(st.lists(st.text(), max_size=5))
def test_any_text_can_be_embedded(texts: list[str]) -> None:
    embed.load("hashing").embed(texts)


def test_hashing_has_the_same_bits_everywhere() -> None:
    code = (
        "import sys; from indexer.embed import load; "
        "sys.stdout.buffer.write(load('hashing').embed(['QuerySet.filter ' * 9, '数据库 migrate']).tobytes())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1
    # The digest was written down once: another machine, Python or numpy must arrive at it too.
    assert hashlib.sha256(outputs.pop()).hexdigest()[:16] == "eb7453852df3a9be"


def test_static_has_the_same_bits_everywhere(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.npz")
    code = (
        "import sys; from pathlib import Path; from indexer.embed.static import StaticEmbedder; "
        f"static = StaticEmbedder(Path({str(path)!r})); "
        "sys.stdout.buffer.write(static.embed(['query set apply', 'migration strange ' * 9, '数据库 get']).tobytes())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | changes, capture_output=True, check=True
        ).stdout
        for changes in (
            {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
            {
                "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"
            },  # what this processor lacks is not missed
        )
    }
    assert len(outputs) == 1
    assert hashlib.sha256(outputs.pop()).hexdigest()[:16] == "66c19c984d66e432"


def test_hashing_uses_both_signs_and_all_dimensions() -> None:
    rows = HashingEmbedder(32).embed([" ".join(f"word{i}" for i in range(2000))])
    assert (rows != 0).sum() > 28
    assert 0.2 < (rows > 0).mean() < 0.8


def test_the_weight_of_a_repeated_term_grows_slowly() -> None:
    row = HashingEmbedder().embed(["alpha " * 20 + "beta"])[0]
    ratio = np.abs(row).max() / np.abs(row[row != 0]).min()
    assert ratio == pytest.approx(1 + np.log(20), rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"scales": None}, "cannot be read"),
        ({"meta": np.frombuffer(b"{", np.uint8)}, "cannot be read"),
        ({"meta": np.frombuffer(b"[]", np.uint8)}, "does not tell its version"),
        ({"meta": np.frombuffer(b'{"version": "1", "tokenizer": "0"}', np.uint8)}, "is for tokenizer 0"),
        ({"terms": np.zeros(3, np.int64)}, "other types"),
        ({"terms": np.zeros((2, 2), np.uint64)}, "other shapes"),
        ({"scales": np.zeros(1, np.float32)}, "other shapes"),
        ({"buckets": None}, "cannot be read"),
        ({"buckets": np.zeros((4, 16), np.int8)}, "other shapes"),
        ({"bucket_scales": np.full(2 * tokens.BUCKETS, np.inf, np.float32)}, "not finite"),
        ({"terms": np.arange(9, dtype=np.uint64)[::-1]}, "not ascending"),
        ({"scales": np.full(9, np.nan, np.float32)}, "not finite"),
    ],
)
def test_a_damaged_model_is_one_clear_line(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(EmbedderError, match=words) as raised:
        StaticEmbedder(write_model(tmp_path / "model.npz", **changes))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("keep", [0, 3, 100, 400])
def test_a_truncated_or_missing_model(tmp_path: Path, keep: int) -> None:
    path = write_model(tmp_path / "model.npz")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(EmbedderError, match="cannot be read"):
        StaticEmbedder(path)
    path.unlink()
    with pytest.raises(EmbedderError, match="there is no model"):
        StaticEmbedder(path)


class Scripted:
    """An embedder that answers with whatever it was given."""

    name = "scripted"
    version = "1"

    def __init__(self, answer: object, dim: int = 2) -> None:
        self.answer = answer
        self.dim = dim

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:  # noqa: ARG002
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([[1.0, 0.0]], "float32 was promised, list came"),
        (np.zeros((1, 2)), "float32 was promised, float64 came"),
        (np.zeros((1, 3), np.float32), "shape"),
        (np.zeros((0, 2), np.float32), "shape"),
        (np.array([[np.nan, 0]], np.float32), "not finite"),
        (np.array([[np.inf, 0]], np.float32), "not finite"),
        (np.array([[0.5, 0]], np.float32), "length 1"),
    ],
)
def test_a_broken_promise_is_an_error(answer: object, words: str) -> None:
    with pytest.raises(EmbedderError, match=words):
        embed.checked(Scripted(answer)).embed(["x"])


def test_checked_keeps_the_identity_and_wraps_once() -> None:
    wrapped = embed.checked(Scripted(np.array([[0, 1]], np.float32)))
    assert (wrapped.name, wrapped.dim, wrapped.version) == ("scripted", 2, "1")
    assert wrapped.embed(["x"]).tolist() == [[0, 1]]
    assert embed.checked(wrapped) is wrapped
    assert not isinstance(wrapped, embed.TermEmbedder)
    with pytest.raises(EmbedderError, match="0 dimensions"):
        embed.checked(Scripted(None, dim=0))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(EmbedderError, match='"nope"; there are hashing, static'):
        embed.load("nope")


def test_a_registered_embedder_is_found(tmp_path: Path) -> None:
    """A real package with a real entry point, in its own process."""
    info = tmp_path / "my_model-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-model\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[indexer.embedders]\nmine = my_model:make\nbad = my_model:nothing\nodd = my_model:int\n"
    )
    (tmp_path / "my_model.py").write_text(
        "from indexer.embed.hashing import HashingEmbedder\ndef make(): return HashingEmbedder(8)\n"
    )
    code = (
        "from indexer.embed import load\nfrom indexer.errors import EmbedderError\n"
        "print(load('mine').embed(['x y', 'queryset']).shape)\n"
        "for name in ('bad', 'odd'):\n    try: load(name)\n    except EmbedderError as e: print(e)\n"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    lines = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, check=True, text=True
    ).stdout
    assert lines.splitlines()[0] == "(2, 8)"
    assert 'embedder "bad" (my_model:nothing) could not be made' in lines
    assert 'embedder "odd"' in lines
