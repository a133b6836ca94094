"""Keys of contents: the xxh3-128 of their bytes, as two halves of 64 bits that arrays can hold and sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


def keys_of(texts: Iterable[bytes]) -> NDArray[np.uint64]:
    """Return the key of each byte string: (n, 2) uint64, the high half first."""
    return split_digests(map(xxhash.xxh3_128_digest, texts))


def split_digests(digests: Iterable[bytes]) -> NDArray[np.uint64]:
    """Split digests of 16 bytes, big-endian, into (n, 2) uint64."""
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64).reshape(-1, 2)


def as_bytes(keys: NDArray[np.uint64]) -> list[bytes]:
    """Return each of (n, 2) keys as 16 bytes, good for sets and dicts of this process alone."""
    found: list[bytes] = np.ascontiguousarray(keys).view("V16").reshape(-1).tolist()
    return found
