"""The rule for gradients that are sums of all gradients so far: added up over batches, and never set back to zero.

Such a gradient walks: it grows from the first step on, and each row is the one before and something new. The ratio of
von Neumann (the mean square of the steps of a series over its variance) is near 0 of a walk and near 2 of what is new
each time. The gradient of a batch is mostly new each time; where it is not, as of a whole data set, its steps are as
smooth as itself, while the steps of a walk are new each time. Of steps between independent numbers the ratio is 3.

The sum of smooth gradients is smooth, and is told by its beginning: the second is twice the first, the third three
times. Or by what one batch can give: the gradient of the last layer's bias is the sum of those of its scores, and no
sum of n vectors is longer than the root of n times the length of all of them together.

Where the hook saw that all gradients come straight from the tape of the step that applies them there is nothing to look
for. Where it saw that all are read from variables of the script's own it also says whether anything was ever
written into these, and how often. If something was at each step they are no such sums; if nothing was, or once in
several steps, growth alone tells.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Summed
from gradwatch_server.health.table import TensorTable

__all__ = ["GROWN_FACTOR", "SummedRule"]

WINDOW_ROWS: Final = 100
"""Rows with full statistics, the first of the run: later the weights may be where no gradient comes any more. Of a walk
of so many rows the ratio is 0.06 on average; of an average with a memory of ten steps, which is also grown, 0.2."""
WALK_LIMIT: Final = 0.1
STEPS_RATIO: Final = (1.4, 2.45)
"""Of the steps of a walk: 2, give or take twice the root of 1 / `WINDOW_ROWS`. Of smooth ones near 0."""
GROWN_FACTOR: Final = 2.0
"""Times the first rows' norm: a sum of independent gradients has ten times it after a hundred rows, less where the
gradients become smaller meanwhile."""
BEYOND_FACTOR: Final = 1.2
"""Times what one batch can give, in the later rows; in the first rows it was within that."""
LATE_GROWTH: Final = 1.2
"""Of the square of the norm, from the middle rows to the last: a gradient that falls again is no sum."""
RAMP_ROWS: Final = 8
RAMP_SLACK: Final = 0.45
"""Of k times the first norm, at the k-th row: gradients of one batch and the next are neither equal nor in line."""
RAMP_FACTOR: Final = 20.0
"""Times the first rows' norm, where the beginning counts: an average that begins at 0 and has a memory of ten steps
begins so too, and ends at ten times."""
FIRST_ROWS: Final = 3
KEPT_ROWS: Final = 20
"""Updates from variables that nothing was written into. Sums of 20 gradients have four times the norm of one."""
CLEARED_MIN: Final = 3
"""Times that sums were begun anew, where each time several updates followed."""
USES_MIN: Final = 1.9
"""Updates for each time that sums were set back to zero: one more time may be known already than its updates."""
RISEN_FACTOR: Final = 1.3
"""Times the very first norm, the usual one later between two times. The sum of two gradients has 1.4 times the norm."""
SAME: Final = 1e-5
"""By how much of itself the norm of what is clipped may differ from step to step, for rounding."""
TENSORS_MIN: Final = 3
"""Tensors with a mean that moves, of whose ratios the median counts."""

Float = npt.NDArray[np.float64]


class SummedRule:
    """Watches the mean of each gradient of one stream in its first rows with full statistics.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._means: list[Float] = []
        self._norms: list[float] = []
        self._ramp: list[float] = []
        self._beyond: list[float] = []
        """Of each row the norm of the last bias' gradient over the largest that its batch can give."""
        _, self._signal = table.scores
        self._bias = _find_last_bias(table, self._signal)
        self._first_step = -1
        self._is_cleared: bool | None = None
        """Whether the variables that gradients are read from were set back by now; None: they are read from none."""
        self._kept: list[float] = []
        self._cycle: list[float] = []
        """The norms of the first updates: those before the sums were set back to zero first, and some after."""
        self._n_updates, self._uses = 0, 0.0
        self.episodes: list[Summed] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those without full statistics, or with a gradient that is not finite, say nothing."""
        self._look_at_sums(block)
        self._count_uses(block)
        if self._is_cleared is None and len(self._means) < WINDOW_ROWS:
            self._take(block)
        for episode in self.episodes:
            episode.n_rows += int((block.steps > episode.last_step).sum())
            episode.last_step = max(episode.last_step, int(block.steps.max(initial=-1)))

    def _look_at_sums(self, block: Block) -> None:
        """Follows what the hook says of the variables that gradients are read from, until something clears them."""
        is_known = ~np.isnan(block.sums_cleared)
        if self._is_cleared or not is_known.any():
            return
        is_kept = np.cumsum(block.sums_cleared >= 1) == 0
        self._is_cleared = not is_kept.all()
        for row in np.flatnonzero(is_known & is_kept & block.is_update & np.isfinite(block.global_norm)).tolist():
            if len(self._kept) == WINDOW_ROWS:
                break
            step = int(block.steps[row])
            self._first_step = step if not self._kept else self._first_step
            self._kept.append(float(block.global_norm[row]))
            if len(self._kept) in (KEPT_ROWS, WINDOW_ROWS) and not self.episodes:
                self._judge_kept(step)
        if self._is_cleared:
            for episode in self.episodes:
                episode.closed_step = int(block.steps[is_kept.argmin()])

    def _count_uses(self, block: Block) -> None:
        """Follows how many updates there are for each time that the sums are set back to zero."""
        if not (block.sums_cleared >= 0).any():
            return
        is_update = block.is_update & np.isfinite(block.global_norm)
        self._cycle += block.global_norm[is_update][: WINDOW_ROWS - len(self._cycle)].tolist()
        self._n_updates += int(is_update.sum())
        n_cleared = float(np.nanmax(block.sums_cleared))
        if n_cleared < CLEARED_MIN or self._n_updates < KEPT_ROWS:
            return
        is_first, self._uses = not self._uses, self._n_updates / n_cleared
        if not is_first or self._uses < USES_MIN:
            for episode in self.episodes:
                episode.uses = self._uses if math.isfinite(episode.uses) else episode.uses
            return
        cycle = self._cycle[: max(2, round(self._uses))]
        later = float(np.median(cycle[len(cycle) // 2 :]))
        is_bounded = max(self._cycle) <= (1 + SAME) * min(self._cycle)
        if cycle[0] > 0 and (is_bounded or later >= RISEN_FACTOR * cycle[0]):
            step = int(block.steps[-1])
            if not self.episodes:
                self._first_step = step - self._n_updates + 1
                self._open(step, self._n_updates, grown=later / cycle[0], ratio=None)
            self.episodes[0].closed_step, self.episodes[0].uses = None, self._uses

    def _judge_kept(self, step: int) -> None:
        first, later = self._kept[0], float(np.median(self._kept[-KEPT_ROWS // 2 :]))
        # What is clipped to one norm cannot grow: there nothing but the hook's word tells, and it waits for longer.
        is_bounded = len(self._kept) == WINDOW_ROWS and max(self._kept) <= (1 + SAME) * min(self._kept)
        if first > 0 and (is_bounded or later >= GROWN_FACTOR * first):
            self._open(step, len(self._kept), grown=later / first, ratio=None)

    def _take(self, block: Block) -> None:
        known = block.global_norm[np.isfinite(block.global_norm) & block.is_update]
        self._ramp += known[: RAMP_ROWS - len(self._ramp)].tolist()
        mean = block.statistics[:, self._table.gradient, COLUMN["mean"]].astype(np.float64)
        is_seen = np.isfinite(mean).any(axis=1) & np.isfinite(block.global_norm) & block.is_update
        for row in np.flatnonzero(is_seen)[: WINDOW_ROWS - len(self._means)].tolist():
            if not self._means:
                self._first_step = int(block.steps[row])
            self._means.append(mean[row])
            self._norms.append(float(block.global_norm[row]))
            self._beyond.append(self._measure(block, row))
            if len(self._means) == WINDOW_ROWS:
                self._judge(int(block.steps[row]))

    def _judge(self, step: int) -> None:
        norms = np.array(self._norms)
        grown = float(np.median(norms[WINDOW_ROWS // 2 :]) / max(np.median(norms[:FIRST_ROWS]), 1e-300))
        ratio, of_steps = _median_ratios(np.stack(self._means))
        is_new_each_time = STEPS_RATIO[0] <= of_steps <= STEPS_RATIO[1]
        is_sum = (is_new_each_time and grown >= GROWN_FACTOR) or (self._is_ramp() and grown >= RAMP_FACTOR)
        is_sum = (is_sum and _slows_down(norms)) or (self._is_beyond() and grown >= GROWN_FACTOR)
        if ratio <= WALK_LIMIT and is_sum:
            self._open(step, WINDOW_ROWS, grown=grown, ratio=ratio)

    def _open(self, step: int, n_rows: int, *, grown: float, ratio: float | None) -> None:
        self.episodes.append(
            Summed(
                stream=self._stream,
                phase=Phase.GRADIENT,
                first_step=self._first_step,
                last_step=step,
                n_rows=n_rows,
                known_step=step,
                table=self._table,
                grown=grown,
                ratio=ratio,
            )
        )

    def _measure(self, block: Block, row: int) -> float:
        if self._bias < 0:
            return math.nan
        norm, n = block.statistics[row, self._signal, [COLUMN["norm"], COLUMN["n_elements"]]].astype(np.float64)
        largest = norm / block.loss_scale[row] * math.sqrt(n / self._table.shapes[self._bias][0])
        return float(block.statistics[row, self._bias, COLUMN["norm"]]) / largest if largest > 0 else math.nan

    def _is_beyond(self) -> bool:
        """Whether the last bias' gradient was within what one batch can give at first, and is beyond it later."""
        first, later = (np.median(part) for part in (self._beyond[:FIRST_ROWS], self._beyond[WINDOW_ROWS // 2 :]))
        return bool(first < 1 and later >= BEYOND_FACTOR)

    def _is_ramp(self) -> bool:
        """Whether the first norms were once, twice, three times the first one."""
        times = np.array(self._ramp) / max(self._ramp[0], 1e-300)
        line = np.arange(1, len(times) + 1)
        return bool((np.abs(times - line) <= RAMP_SLACK * line).all())


def _find_last_bias(table: TensorTable, signal: int) -> int:
    """The column of the gradient of the last layer's bias, where it is called once in a step; -1 for none."""
    if signal < 0 or any(table.names[column] == f"{table.names[signal]} (2)" for column in table.activation):
        return -1
    own = [p for p in table.kernels.tolist() if table.layers[int(table.gradient[p])] == table.layers[signal]]
    bias = int(table.bias_of[own[0]]) if len(own) == 1 else -1
    return int(table.gradient[bias]) if bias >= 0 else -1


def _slows_down(norms: Float) -> bool:
    """Whether norms grew far more at first than later, as those of a sum do: not by a share of themselves each time.

    They do grow on: the square of a sum's norm is in proportion to the rows, 1.8 times as large in the last quarter as
    in the middle.
    """
    quarter = WINDOW_ROWS // 4
    parts = norms[:FIRST_ROWS], norms[3 * quarter // 2 : 5 * quarter // 2], norms[-quarter:]
    first, middle, last = (max(float(np.median(part)), 1e-300) for part in parts)
    growth = last / middle
    return LATE_GROWTH <= growth * growth <= middle / first  # a power of floats, unlike a product, may not overflow


def _median_ratios(means: Float) -> tuple[float, float]:
    """The medians over tensors of von Neumann's ratio, of the means and of their steps; NaN of too few tensors.

    Args:
        means: ``[n_rows, n_tensors]``; what is not finite throughout, or never changes, is left out.
    """
    means = means[:, np.isfinite(means).all(axis=0)]
    steps = np.diff(means, axis=0)
    moves = (np.var(means, axis=0) > 0) & (np.var(steps, axis=0) > 0)
    if moves.sum() < TENSORS_MIN:
        return float("nan"), float("nan")
    means, steps = means[:, moves], steps[:, moves]
    ratio = np.mean(np.square(steps), axis=0) / np.var(means, axis=0)
    of_steps = np.mean(np.square(np.diff(steps, axis=0)), axis=0) / np.var(steps, axis=0)
    return float(np.median(ratio)), float(np.median(of_steps))
