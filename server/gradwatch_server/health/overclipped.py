"""The rule for clipping that leaves next to nothing of the gradient, step after step."""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Overclipped, Phase
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.tally import Tally

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
        self._tally: Tally[Overclipped] = Tally(CONFIRM_ROWS)
        self._shares: list[float] = []
        self._norms: list[float] = []
        self.episodes = self._tally.episodes

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
        if is_low and self._tally.count == 0:
            self._shares, self._norms = [], []
        may_open = self._tally.take(step, is_seen=is_low)
        if is_low and len(self._shares) < CONFIRM_ROWS:
            self._shares.append(clipped / norm)
            self._norms.append(norm)
        if may_open:
            self._tally.open(
                Overclipped(
                    stream=self._stream,
                    phase=Phase.UPDATE,
                    first_step=self._tally.first_step,
                    last_step=step,
                    n_rows=self._tally.count,
                    known_step=step,
                    table=self._table,
                    left=float(np.median(self._shares)),
                    norm=float(np.median(self._norms)),
                )
            )
