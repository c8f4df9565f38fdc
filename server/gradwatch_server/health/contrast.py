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

ROWS_MAX: Final = 64
"""The first so many tell of what enters."""
GAP: Final = 0.1
"""Standard deviations by which pairs that are pushed apart lie nearer, as they enter."""
SURE: Final = 6.0
"""Standard errors, over the rows."""
NEWEST_ROWS: Final = 8
"""Rows that tell of how pairs are described by now."""
KEPT_ROWS: Final = 256
"""Of those before them."""
APART_STEPS: Final = 100
"""Between these rows and as many before them: what comes apart meanwhile is left to, until the run ends."""
LEARNED_STEPS: Final = 200
"""Steps before the first of these: what is told apart at all is by then on its way."""
TOLD_SHARE: Final = 0.5
"""Of the gap as they enter, the other way round: descriptions that lie as far apart tell the pairs apart."""
RISING: Final = 0.1
"""Standard deviations by which it does."""


class ContrastTally:
    """What the rows of one stream tell of the pairs that its loss contrasts."""

    def __init__(self) -> None:
        self._of_inputs: list[float] = []
        self._of_outputs: deque[tuple[int, float]] = deque(maxlen=KEPT_ROWS)
        self._first_step = -1
        self.is_over = False
        """Whether the run has ended."""

    def feed(self, block: Block) -> None:
        """Takes rows; those that say nothing of it are passed by."""
        for row in np.flatnonzero(np.isfinite(block.contrasts).all(axis=1)).tolist():
            step, (of_inputs, of_outputs) = int(block.steps[row]), block.contrasts[row].tolist()
            self._first_step = step if self._first_step < 0 else self._first_step
            self._of_outputs.append((step, of_outputs))
            if len(self._of_inputs) < ROWS_MAX:
                self._of_inputs.append(of_inputs)

    @property
    def means(self) -> tuple[float, float]:
        """By how much what is pushed apart lies farther apart: as it enters, and as it was described of late."""
        if not self._of_inputs:
            return math.nan, math.nan
        newest = [value for _, value in self._of_outputs][-NEWEST_ROWS:]
        return float(np.mean(self._of_inputs)), float(np.mean(newest))

    @property
    def is_contrary(self) -> bool:
        """Whether the two kinds of pairs are taken for one another."""
        first = self._of_outputs[-NEWEST_ROWS][0] if len(self._of_outputs) >= 2 * NEWEST_ROWS else -1
        if first - self._first_step < LEARNED_STEPS:
            return False
        of_inputs, of_outputs = self.means
        error = float(np.std(self._of_inputs, ddof=1)) / math.sqrt(len(self._of_inputs))
        if of_inputs > -max(SURE * error, GAP) or of_outputs > -TOLD_SHARE * of_inputs:
            return False
        before = [value for step, value in self._of_outputs if step <= first - APART_STEPS][-NEWEST_ROWS:]
        return self.is_over or (bool(before) and of_outputs - float(np.mean(before)) <= RISING)
