"""How much a term counts for that stands several times in a text: 1 + log(count), as whole numbers of 1/1024.

Whole numbers, since sums of them are exact in float64, in any order and on any processor; and a table, since the
last bit of a logarithm differs between mathematical libraries.
"""

from __future__ import annotations

import math

import numpy as np

WEIGHTS = np.array([0, *(round(1024 * (1 + math.log(n))) for n in range(1, 65536))], np.float64)
WEIGHTS.flags.writeable = False
