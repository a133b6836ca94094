"""What each signal weighs: learnt by ``python -m tests.benchmarks.learn_ranking`` and kept in ``ranking.json``.

The ranking is one linear sum over `features.Candidates.signals` (softmax loss over each question's candidates, L2 towards
what one would expect, signs fixed). There are two sets: with vectors worth fusing (``hybrid``) and without (``lexical``).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

RANKING = Path(__file__).with_name("ranking.json")


class Weights(NamedTuple):
    """Weights by signal; ``bias`` and ``confidence`` turn absolute signals into how sure the best answer is."""

    signals: dict[str, float]
    confidence: dict[str, float]
    bias: float


@cache
def weights(mode: str) -> Weights:
    """Return the weights of mode "hybrid" or "lexical"."""
    learnt = json.loads(RANKING.read_text())[mode]
    return Weights(learnt["signals"], learnt["confidence"], learnt["bias"])
