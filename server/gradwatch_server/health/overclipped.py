"""The rule for clipping that leaves next to nothing of the gradient, step after step."""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Overclipped, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["OverclippedRule"]

LEFT_SHARE: Final = 0.01
"""What is left of the norm. A clip that bounds outliers leaves most steps alone, one that acts always a tenth or so."""
CONFIRM_ROWS: Final = 100
"""Rows, less two for each in which more was left."""


class OverclippedRule:
    """Watches the norm after clipping against that before, of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._count = 0
        self._first_step = -1
        self._shares: list[float] = []
        self._norms: list[float] = []
        self._current: Overclipped | None = None
        self.episodes: list[Overclipped] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those without clipping, or with a gradient of 0, say nothing."""
        norm = block.global_norm
        known = np.isfinite(block.clipped_norm) & (norm > 0)
        if not known.any():
            return
        for row in np.flatnonzero(known).tolist():
            self._step(int(block.steps[row]), float(block.clipped_norm[row]), float(norm[row]))

    def _step(self, step: int, clipped: float, norm: float) -> None:
        is_low = clipped < LEFT_SHARE * norm
        if is_low and self._count == 0:
            self._first_step, self._shares, self._norms = step, [], []
        self._count = min(self._count + 1, 2 * CONFIRM_ROWS) if is_low else max(self._count - 2, 0)
        if is_low and len(self._shares) < CONFIRM_ROWS:
            self._shares.append(clipped / norm)
            self._norms.append(norm)
        if self._current is not None:
            if is_low:
                self._current.last_step = step
                self._current.n_rows += 1
            if self._count == 0:
                self._current.closed_step = step
                self._current = None
        elif self._count >= CONFIRM_ROWS and len(self.episodes) < EPISODES_LIMIT:
            self._current = Overclipped(
                stream=self._stream,
                phase=Phase.UPDATE,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._count,
                known_step=step,
                table=self._table,
                left=float(np.median(self._shares)),
                norm=float(np.median(self._norms)),
            )
            self.episodes.append(self._current)
