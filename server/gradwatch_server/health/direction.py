"""Whether updates go up the gradient: what should make the loss smaller makes it larger. Owns what it counted."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.table import TensorTable

__all__ = ["Direction"]

UP_SHARE: Final = 0.75
"""Of the updates whose mean has the sign of their gradient's. Of plain descent none has, of Adam's about a quarter, for
each element of it has a scale of its own; of Adam up the gradient nine in ten; of what only follows old ones half."""
DEVIATIONS: Final = 2.5
"""From that half, at the least, by the spread that it has in so many rows."""


class Direction:
    """Compares, in rows with full statistics, the sign of each update's mean with that of its gradient's.

    Args:
        table: the stream's tensor table.
    """

    def __init__(self, table: TensorTable) -> None:
        known = table.update_of >= 0
        self._gradient, self._update = table.gradient[known], table.update_of[known]
        self._n_rows = self._n_pairs = self._n_up = 0

    @property
    def is_upward(self) -> bool:
        """Whether updates go up the gradient."""
        share = self._n_up / max(self._n_pairs, 1)
        return share > UP_SHARE and (2.0 * share - 1.0) * math.sqrt(self._n_rows) >= DEVIATIONS

    def feed(self, block: Block) -> None:
        """Takes rows; those without an update, or that are not finite, say nothing."""
        gradient, update = (block.statistics[:, columns, COLUMN["mean"]] for columns in (self._gradient, self._update))
        product = (np.sign(gradient) * np.sign(update))[block.is_update & block.is_sound]
        is_known = np.isfinite(product) & (product != 0)
        self._n_rows += int(is_known.any(axis=1).sum())
        self._n_pairs += int(is_known.sum())
        self._n_up += int((product[is_known] > 0).sum())
