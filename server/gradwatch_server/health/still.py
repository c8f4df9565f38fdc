"""The rule for weights that never move: from the first step on each update is less than float32 can add to them.

Small numbers are relative: Adam makes the same of a gradient of 1e-3 and of 1e-6, and a rate may be low on purpose. An
update of less than half the distance from a weight to its neighbour among the numbers is none, whatever made it small.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Still
from gradwatch_server.health.table import TensorTable

__all__ = ["RATIO_LIMIT", "StillRule"]

RATIO_LIMIT: Final = 2.0**-24
"""Half the distance between neighbouring float32 numbers, relative. SageMaker Debugger warns below 1e-8."""
CONFIRM_ROWS: Final = 20
"""Captured updates, from the first one on."""
CONFIRM_STEPS: Final = 100
"""And steps: a rate that warms up is larger by then."""


class StillRule:
    """Watches the largest update norm / weight norm over the kernels of one stream, from its first row on.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._weight, self._update = table.weights_and_updates()
        self._stream, self._table = stream, table
        self._n_rows = 0
        self._first_step = -1
        self._norms: list[float] = []
        self._ratios: list[float] = []
        self._has_moved = not len(self._weight)
        self._current: Still | None = None
        self.episodes: list[Still] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those without an update, and those whose gradient is exactly zero, say nothing."""
        if self._has_moved:
            return
        weight = block.statistics[:, self._weight, COLUMN["norm"]].astype(np.float64)
        update = block.statistics[:, self._update, COLUMN["norm"]].astype(np.float64)
        norm = block.global_norm
        is_known = np.isfinite(np.concatenate([weight, update, norm[:, None]], axis=1)).all(axis=1)
        for row in np.flatnonzero(is_known & block.is_update & (norm > 0) & (weight > 0).any(axis=1)):
            is_moved = weight[row] > 0
            ratio = float((update[row][is_moved] / weight[row][is_moved]).max())
            self._step(int(block.steps[row]), ratio, float(norm[row]))
            if self._has_moved:
                return

    def _step(self, step: int, ratio: float, norm: float) -> None:
        if ratio >= RATIO_LIMIT:
            self._has_moved = True
            if self._current is not None:
                self._current.closed_step = step
            return
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        if self._current is not None:
            self._current.last_step = step
            self._current.n_rows += 1
            return
        self._norms.append(norm)
        self._ratios.append(ratio)
        is_sure = self._n_rows >= CONFIRM_ROWS and step - self._first_step >= CONFIRM_STEPS
        if is_sure:
            self._current = Still(
                stream=self._stream,
                phase=Phase.UPDATE,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                ratio=max(self._ratios),
                gradient_norm=float(np.median(self._norms)),
            )
            self.episodes.append(self._current)
