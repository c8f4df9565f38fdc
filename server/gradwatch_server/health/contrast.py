"""Whether a loss draws together what is less alike than what it pushes apart, and gets nowhere by it.

The hook measures in each full row by how many standard deviations the pairs that are pushed apart lie farther apart
than those that are drawn together, as they enter the network and as it describes them (`gradwatch.contrast`). Pairs
that belong together may be less alike as they enter: one of two is turned or lit otherwise, or the others were chosen
for being hard to tell. Then the descriptions tell them apart before long. Where these do not either, the two kinds are
taken for one another.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np

from gradwatch_server.health.block import Block

__all__ = ["ContrastTally"]

ROWS_MIN: Final = 12
ROWS_MAX: Final = 64
"""The first so many tell of what enters."""
GAP: Final = 0.1
"""Standard deviations by which pairs that are pushed apart lie nearer, as they enter."""
SURE: Final = 6.0
"""Standard errors, over the rows."""
NEWEST_ROWS: Final = 8
TOLD: Final = 0.2
"""Standard deviations by which descriptions lie farther apart that are pushed apart: from here on they are told."""


class ContrastTally:
    """What the rows of one stream tell of the pairs that its loss contrasts."""

    def __init__(self) -> None:
        self._of_inputs: list[float] = []
        self._of_outputs: deque[float] = deque(maxlen=NEWEST_ROWS)

    def feed(self, block: Block) -> None:
        """Takes rows; those that say nothing of it are passed by."""
        is_known = np.isfinite(block.contrasts).all(axis=1)
        inputs, outputs = block.contrasts[is_known].T.tolist()
        self._of_inputs = [*self._of_inputs, *inputs][:ROWS_MAX]
        self._of_outputs.extend(outputs)

    @property
    def means(self) -> tuple[float, float]:
        """By how much what is pushed apart lies farther apart: as it enters, and as it was described of late."""
        if not self._of_inputs:
            return math.nan, math.nan
        return float(np.mean(self._of_inputs)), float(np.mean(self._of_outputs))

    @property
    def is_contrary(self) -> bool:
        """Whether the two kinds of pairs are taken for one another."""
        n = len(self._of_inputs)
        if n < ROWS_MIN:
            return False
        of_inputs, of_outputs = self.means
        is_sure = of_inputs * math.sqrt(n) <= -SURE * float(np.std(self._of_inputs, ddof=1))
        return is_sure and of_inputs <= -GAP and of_outputs <= TOLD
