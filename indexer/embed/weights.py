"""How much a term counts for that stands several times in a text: 1 + log(count), as whole numbers of 1/1024.

Whole numbers, since sums of them are exact in float64, in any order and on any processor. The last bits of a logarithm
differ between mathematical libraries, but none of these numbers is within 5e-7 of where rounding would notice.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@cache
def weights() -> NDArray[np.float64]:
    """Return the weight of each count, (65536,): 0 for none."""
    table = np.zeros(65536)
    table[1:] = np.rint(1024 * (1 + np.log(np.arange(1, 65536))))
    table.flags.writeable = False
    return table
