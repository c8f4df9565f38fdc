"""The rule for a squared error that gives all samples of a batch one target: a broadcast of ``[n]`` against ``[n, 1]``.

The gradient of a squared error with respect to an output is a multiple of output minus target. Where that target is
the same for all samples of a batch, the gradient is a straight line over the outputs, and its standard deviation is the
same multiple of theirs in every batch, to the last digits. With targets of their own it never is. That target is read
off the line: it differs from batch to batch, or the targets are one number, as those of real and false ones are. A
batch that is known to hold one target for all, nothing but real ones or nothing but false ones, says nothing.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, SharedTarget
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import find_target

__all__ = ["SharedTargetRule"]

ROUNDING: Final = 1e-4
"""Of the multiple: by how much float32 may change it from batch to batch; measured are some millionths."""
SPREAD_MIN: Final = 1e-3
"""Of the outputs' size: less than this apart, they are too much alike for the multiple to be known so well."""
OWN_ROWS_MIN: Final = 10
"""Rows off the line from which on each sample is known to have a target of its own."""
TARGET_RANGE: Final = 1e-3
"""Of the outputs' and targets' size: batches whose target differs by more are of more than one."""

Float64 = npt.NDArray[np.float64]


class SharedTargetRule:
    """Watches the last layer of one stream, where it has a single output without an activation.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._output, self._signal = table.linear_output if self._is_single(table) else (-1, -1)
        self._target, _ = find_target(table)
        self._streaks: Streaks[SharedTarget] = Streaks(1)
        self._sizes: dict[int, float] = {}
        """The multiple for each batch size, times its samples: the last batch of an epoch may be smaller."""
        self._low, self._high, self._scale = math.inf, -math.inf, 0.0
        self._n_off_line = 0
        self.episodes = self._streaks.episodes

    @property
    def has_own_targets(self) -> bool:
        """Whether the gradient has shown often enough that samples of a batch have targets of their own."""
        return self._n_off_line >= OWN_ROWS_MIN

    @staticmethod
    def _is_single(table: TensorTable) -> bool:
        """Whether the last layer gives one number for each sample, in a type that holds the multiple well enough."""
        if not len(table.activation):
            return False
        output = int(table.activation[-1])
        return len(table.shapes[output]) == 2 and table.shapes[output][1] == 1 and table.dtypes[output] != "float16"

    def feed(self, block: Block) -> None:
        """Takes rows; one whose outputs were not looked at, hardly differ or have one target all changes nothing."""
        if self._output < 0:
            return
        names = [COLUMN[name] for name in ("n_elements", "mean", "std", "min", "max")]
        size, mean, std, low, high = block.statistics[:, self._output, names].astype(np.float64).T
        _, slope_mean, slope_std, _, _ = block.statistics[:, self._signal, names].astype(np.float64).T
        scale = np.maximum(np.abs(low), np.abs(high))
        is_seen = (std > SPREAD_MIN * scale) & np.isfinite(slope_std) & (slope_std > 0) & np.isfinite(scale)
        if self._target >= 0:
            lowest, highest = block.statistics[:, self._target, [COLUMN["min"], COLUMN["max"]]].T
            is_seen &= lowest != highest
        with np.errstate(divide="ignore", invalid="ignore"):
            multiple = slope_std / std
            target = mean - slope_mean / multiple
        for row in np.flatnonzero(is_seen).tolist():
            self._step(int(block.steps[row]), size[row], multiple[row] * size[row], target[row], scale[row])

    def _step(self, step: int, size: float, multiple: float, target: float, scale: float) -> None:
        known = self._sizes.setdefault(int(size), multiple)
        is_line = abs(multiple - known) <= ROUNDING * known
        if not is_line:
            self._n_off_line += 1
            self._sizes = {int(size): multiple}
            self._low, self._high, self._scale = math.inf, -math.inf, 0.0
        self._low, self._high = min(self._low, target), max(self._high, target)
        self._scale = max(self._scale, scale, abs(target))
        is_in = np.array([is_line])
        is_sure = bool(self._streaks.add(step, is_in=is_in, is_out=~is_in)[0])
        if self._streaks.follow(step):
            if self._streaks.current is not None:
                self._streaks.current.low, self._streaks.current.high = self._low, self._high
        elif is_sure and self._high - self._low > TARGET_RANGE * self._scale:
            self._streaks.open(
                SharedTarget(
                    stream=self._stream,
                    phase=Phase.LOSS,
                    first_step=int(self._streaks.first_step[0]),
                    last_step=step,
                    n_rows=int(self._streaks.n_rows[0]),
                    known_step=step,
                    table=self._table,
                    column=self._output,
                    low=self._low,
                    high=self._high,
                )
            )
