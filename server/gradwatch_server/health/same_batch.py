"""Counts batches that are the first one again, elsewhere in an epoch. Owns no judgement.

What enters a step is known by its mean, deviation and range. Of two batches all of these agree to the last digit only
where the two are one, or hold the same samples in another order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.table import TensorTable

__all__ = ["SameBatchTally"]

STATISTICS = [COLUMN[name] for name in ("mean", "std", "min", "max")]


class SameBatchTally:
    """What enters one stream's steps.

    Args:
        table: the stream's tensors.
        n_batches: of an epoch; 0 where that is not known, and nothing is counted.
    """

    def __init__(self, table: TensorTable, n_batches: int) -> None:
        self._n_batches = n_batches
        names = ("input", "index", "target")
        self._columns = [column for name in names for column in table.entering(name)] if n_batches else []
        self._first: tuple[int, npt.NDArray[np.float64]] | None = None
        self.n_same = 0
        """How many were the first one; negative once one was not, or one number is all there is in the first input."""

    def feed(self, block: Block) -> None:
        """Takes rows; those in which not all that enters was looked at say nothing."""
        if not self._columns:
            return
        numbers = block.statistics[:, self._columns][:, :, STATISTICS].astype(np.float64)
        for row in np.flatnonzero(np.isfinite(numbers).all(axis=(1, 2))).tolist():
            step = int(block.steps[row])
            if self._first is None:
                self._first = step, numbers[row]
                self.n_same = 0 if numbers[row, 0, 1] > 0 else -1
            elif not np.array_equal(numbers[row], self._first[1]):
                self.n_same = -1
            elif self.n_same >= 0 and (step - self._first[0]) % self._n_batches:
                self.n_same += 1
