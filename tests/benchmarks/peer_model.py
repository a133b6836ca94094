"""A static model of the shape of the peer's own, with random weights, for the peer's environment to run.

The peer's model lies on a hub that is not reached from everywhere. What a model costs does not hang on what its numbers
are, so that with this one the peer's COST is comparable; its answers are not, and nothing is said of them.

Usage: ``PEER'S-PYTHON peer_model.py TEXTS OUT``. TEXTS is a folder of source code, whose words become the vocabulary.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

VOCABULARY, DIM = 62_500, 256  # together 16 million weights, as in the name of the peer's model


def texts(folder: str) -> Iterator[str]:
    """Text files of the folder, in order."""
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix in {".py", ".txt", ".js", ".md", ".rst", ".html"} and path.is_file():
            yield path.read_text(errors="replace")


def main(folder: str, out: str) -> None:
    """Train a tokenizer, draw weights, save both."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=["[PAD]", "[UNK]"], show_progress=False
    )
    tokenizer.train_from_iterator(texts(folder), trainer)
    weights = np.random.default_rng(0).standard_normal((tokenizer.get_vocab_size(), DIM)).astype(np.float32)
    StaticModel(weights, tokenizer, normalize=True).save_pretrained(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
