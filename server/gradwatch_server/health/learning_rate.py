"""The rule for a learning rate that is too high: updates large against the weights. The loss is asked later."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Rate
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.tally import Tally

__all__ = ["FIRST_ROWS", "HIGH_RATIO", "RATIO_LIMIT", "USUAL_RATIO", "LearningRateRule"]

USUAL_RATIO: Final = 1e-3
"""Update norm / weight norm of a well-set rate (Karpathy, CS231n notes, "Ratio of weights:updates")."""
RATIO_LIMIT: Final = 0.1
"""A hundred times that. SageMaker Debugger warns at 10 only; small healthy networks reach 0.03 with Adam in their
first steps."""
HIGH_RATIO: Final = 0.03
"""No finding by itself; but where something went wrong, steps of that size are among the suspects."""
CONFIRM_ROWS: Final = 20
"""Rows with weights and updates captured, less two for each calm one."""

JUDGE_ROWS: Final = 100
"""Rows that the loss is given to fall in, whatever the updates: published rules of 10 steps mistake noise for
standstill."""
FIRST_ROWS: Final = 10
"""A run's first updates. Where they are beyond the limit on average they put the weights somewhere else, and each
further one is small against those: a high rate hides itself so. Of the catalogue's 80 healthy trainings four are
beyond it, the highest at 0.25; their loss falls."""

ROUNDING: Final = 1e-6

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
        self._first: list[tuple[int, float]] = []
        self._start: Rate | None = None
        self._judge_step, self._is_judged, self._n_high = -1, False, 0
        self._began_at_zero: npt.NDArray[np.bool_] | None = None
        """Of each kernel, once seen, whether its first update was all that it then held: nothing was replaced."""
        self.episodes = self._tally.episodes

    def feed(self, block: Block) -> tuple[npt.NDArray[np.int64], Float64]:
        """Takes rows.

        Returns:
            The steps at which weights and updates were captured, and the median ratio over kernels at each.
        """
        ratio = self._measure(block)
        known = np.isfinite(ratio)
        steps, values = block.steps[known], ratio[known]
        self._take_first(steps, values)
        if self._tally.count or (values > RATIO_LIMIT).any():
            rows = self._n_rows + np.flatnonzero(known)
            for row, step, value in zip(rows.tolist(), steps.tolist(), values.tolist(), strict=True):
                self._step(row, step, value)
        self._n_rows += len(block.steps)
        self._judge_first(block, steps[values > RATIO_LIMIT])
        return steps, values

    def _take_first(self, steps: npt.NDArray[np.int64], values: Float64) -> None:
        n = FIRST_ROWS - len(self._first)
        self._first += zip(steps[:n].tolist(), values[:n].tolist(), strict=True)

    def _judge_first(self, block: Block, high: npt.NDArray[np.int64]) -> None:
        """Once the loss has had its time: were the first updates, and hardly any since, too large?

        Args:
            block: the newest rows.
            high: the steps among them with a ratio beyond the limit. Where there are many, the tally tells of them.
        """
        if (self._is_judged and self._start is None) or not len(block.steps):
            return
        if self._start is not None:
            self._start.last_step = int(block.steps[-1])
        if self._judge_step < 0 and self._n_rows >= JUDGE_ROWS:
            self._judge_step = int(block.steps[JUDGE_ROWS - self._n_rows - 1])
        if self._is_judged or self._judge_step < 0 or len(self._first) < FIRST_ROWS:
            self._n_high += len(high)
            return
        self._is_judged = True
        known_step = max(self._judge_step, self._first[-1][0])
        self._n_high += int((high <= known_step).sum())
        ratio = sum(value for _, value in self._first) / FIRST_ROWS
        if ratio > RATIO_LIMIT and self._n_high < CONFIRM_ROWS:
            self._start = Rate(
                stream=self._stream,
                phase=Phase.UPDATE,
                first_step=self._first[0][0],
                last_step=int(block.steps[-1]),
                n_rows=FIRST_ROWS,
                known_step=known_step,
                table=self._table,
                ratio=ratio,
                n_first=self._first[-1][0] - self._first[0][0] + 1,
            )
            self.episodes.insert(0, self._start)  # as if it had been told when it was known, whatever the batch

    def _measure(self, block: Block) -> Float64:
        if not len(self._weight):
            return np.full(len(block.steps), np.nan)
        weight = block.statistics[:, self._weight, COLUMN["norm"]].astype(np.float64)
        update = block.statistics[:, self._update, COLUMN["norm"]].astype(np.float64)
        is_bad = block.is_nonfinite[:, self._weight] | block.is_nonfinite[:, self._update] | ~(weight > 0)
        is_bad |= ~block.is_update[:, None]
        ratio = np.divide(update, weight, out=np.full_like(update, np.nan), where=~is_bad)
        if self._began_at_zero is None and np.isfinite(ratio).any():
            first = ratio[np.isfinite(ratio).any(axis=1)][0]
            self._began_at_zero = np.abs(first - 1) <= ROUNDING
        if self._began_at_zero is not None and self._n_rows < JUDGE_ROWS:  # they have yet to become what they will be
            ratio[: JUDGE_ROWS - self._n_rows, self._began_at_zero] = np.nan
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
