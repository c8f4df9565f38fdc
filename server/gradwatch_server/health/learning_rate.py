"""The rule for a learning rate that is too high: updates large against the weights. The loss is asked later."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Rate
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.tally import Tally

__all__ = ["RATIO_LIMIT", "USUAL_RATIO", "LearningRateRule"]

USUAL_RATIO: Final = 1e-3
"""Update norm / weight norm of a well-set rate (Karpathy, CS231n notes, "Ratio of weights:updates")."""
RATIO_LIMIT: Final = 0.1
"""A hundred times that. SageMaker Debugger warns at 10 only; small healthy networks reach 0.03 with Adam in their
first steps."""
CONFIRM_ROWS: Final = 20
"""Rows with weights and updates captured, less two for each calm one."""

JUDGE_ROWS: Final = 100
"""Rows that the loss is given to fall in, whatever the updates: published rules of 10 steps mistake noise for
standstill."""

Float64 = npt.NDArray[np.float64]


class LearningRateRule:
    """Watches update norm / weight norm over the kernels of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._weight, self._update = table.weights_and_updates()
        self._stream, self._table = stream, table
        self._tally: Tally[Rate] = Tally(CONFIRM_ROWS)
        self._n_rows = 0
        self._start_row = -1
        self._ratios: list[float] = []
        self.episodes = self._tally.episodes

    def feed(self, block: Block) -> tuple[npt.NDArray[np.int64], Float64]:
        """Takes rows.

        Returns:
            The steps at which weights and updates were captured, and the median ratio over kernels at each.
        """
        ratio = self._measure(block)
        known = np.isfinite(ratio)
        steps, values = block.steps[known], ratio[known]
        if self._tally.count or (values > RATIO_LIMIT).any():
            rows = self._n_rows + np.flatnonzero(known)
            for row, step, value in zip(rows.tolist(), steps.tolist(), values.tolist(), strict=True):
                self._step(row, step, value)
        self._n_rows += len(block.steps)
        return steps, values

    def _measure(self, block: Block) -> Float64:
        if not len(self._weight):
            return np.full(len(block.steps), np.nan)
        weight = block.statistics[:, self._weight, COLUMN["norm"]].astype(np.float64)
        update = block.statistics[:, self._update, COLUMN["norm"]].astype(np.float64)
        is_bad = block.is_nonfinite[:, self._weight] | block.is_nonfinite[:, self._update] | ~(weight > 0)
        is_bad |= ~block.is_update[:, None]
        ratio = np.divide(update, weight, out=np.full_like(update, np.nan), where=~is_bad)
        # A median that ignores NaN, without numpy's warning about rows that hold nothing else.
        ratio = np.sort(ratio, axis=1)
        n = np.isfinite(ratio).sum(axis=1)
        rows = np.arange(len(ratio))
        middle = (ratio[rows, np.maximum((n - 1) // 2, 0)] + ratio[rows, np.minimum(n // 2, ratio.shape[1] - 1)]) / 2
        return np.where(n > 0, middle, np.nan)

    def _step(self, row: int, step: int, ratio: float) -> None:
        is_high = ratio > RATIO_LIMIT
        if is_high and self._tally.count == 0:
            self._start_row, self._ratios = row, []
        if is_high and len(self._ratios) < CONFIRM_ROWS:
            self._ratios.append(ratio)
        if self._tally.take(step, is_seen=is_high) and row - self._start_row >= JUDGE_ROWS:
            self._tally.open(
                Rate(
                    stream=self._stream,
                    phase=Phase.UPDATE,
                    first_step=self._tally.first_step,
                    last_step=step,
                    n_rows=self._tally.count,
                    known_step=step,
                    table=self._table,
                    ratio=float(np.median(self._ratios)),
                )
            )
