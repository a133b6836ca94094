"""How much a term counts for that stands several times in a text: 1 + log(count), as whole numbers of 1/1024.

Whole numbers, since sums of them are exact in float64, in any order and on any processor; and a table, since the
last bit of a logarithm differs between mathematical libraries.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@cache
def weights() -> NDArray[np.float64]:
    """Return the weight of each count, (65536,); made when it is first needed, which costs 50 ms."""
    table = np.array([0, *(round(1024 * (1 + math.log(n))) for n in range(1, 65536))], np.float64)
    table.flags.writeable = False
    return table
