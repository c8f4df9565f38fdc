"""Whether the gradient is the same to the last bit row after row, though weights move: it is not that of the batch."""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.table import TensorTable

__all__ = ["Stale"]

STALE_ROWS: Final = 30
"""Rows, of which each that does change takes half back. Two batches hardly ever give the same sum in float32."""


class Stale:
    """Counts the rows of one stream in which no kernel's gradient changed.

    Args:
        table: the stream's tensor table.

    Attributes:
        n_rows: how many.
        first_step: since when.
        norm: the norm of the gradient that did not change.
    """

    def __init__(self, table: TensorTable) -> None:
        self._kernels = table.kernels
        _, self._update = table.weights_and_updates()
        self._last = np.full(len(self._kernels), np.nan)
        self.n_rows = 0
        self.first_step = -1
        self.norm = 0.0

    @property
    def is_long(self) -> bool:
        """Whether that can be no chance."""
        return self.n_rows >= STALE_ROWS

    def feed(self, block: Block) -> None:
        """Takes rows; those without a gradient, or in which no weight moved, begin anew."""
        if not len(self._kernels):
            return
        norms = block.gradient_norm[:, self._kernels]
        update = block.statistics[:, self._update, COLUMN["norm"]]
        has_stood = np.isfinite(update).any(axis=1) & (np.nan_to_num(update) == 0).all(axis=1)
        is_seen = np.isfinite(norms).all(axis=1) & (norms > 0).any(axis=1) & ~has_stood
        norms = np.where(is_seen[:, None], norms, np.nan)
        is_same = (norms == np.vstack([self._last, norms[:-1]])).all(axis=1)
        self._last = norms[-1] if len(norms) else self._last
        if not self.n_rows and not is_same.any():
            return
        for row, step in enumerate(block.steps.tolist()):
            if is_same[row] and not self.n_rows:
                self.first_step = step - 1
            self.n_rows = self.n_rows + 1 if is_same[row] else self.n_rows // 2
            self.norm = float(block.global_norm[row]) if is_same[row] else self.norm
