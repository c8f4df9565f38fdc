"""The rule for vanishing gradients: norms that fade from output to input. Asks nothing about the loss."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Phase, Vanishing
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.tally import Tally

__all__ = ["KERNELS_MIN", "VanishingRule"]

KERNELS_MIN: Final = 3
"""Fading needs depth: below three kernels a ratio says nothing."""
RATIO_LIMIT: Final = 1e-3
"""First against last layers; AutoTrainer (Zhang et al., ICSE 2021), beta_1."""
FIRST_LIMIT: Final = 1e-4
"""And this small in itself; AutoTrainer. SageMaker Debugger takes a mean |g| of 1e-7, which deep sigmoid networks
pass only after ten layers."""
END_SHARE: Final = 4
"""The first and the last quarter of the kernels are the two ends: one odd layer is not an end."""
TINY: Final = math.log(1e-15)
"""A gradient whose norm was below this may be one whose squares underflow to 0 in float32, where it is 0 later."""
LEAST: Final = math.log(1e-19)
"""Squares of float32 below this are 0."""
CONFIRM_ROWS: Final = 50
"""Rows, less two for each row that does not look like it, before it is a finding."""
MILD_RATIO_LIMIT: Final = 1e-2
MILD_FIRST_LIMIT: Final = 1e-3
MILD_CONFIRM_ROWS: Final = 150
"""Where it is less, it is told only if it goes on for longer, and the loss has not come down at all by then."""


class VanishingRule:
    """Watches the kernels' gradients of one stream.

    At each row both the norms and the norms per element are compared, and every kernel at the input's end must fade
    against every one at the output's. A kernel's norm is taken together with its bias': where the signal fades forward
    as well as backward, as with a small start, kernels' gradients are all alike (fading input times fading signal), and
    only the output's bias shows how large the signal was.

    Args:
        stream: the stream's number.
        table: its tensor table.
        is_mild: whether it tells less already, to be believed only of a loss that has not come down.
    """

    def __init__(self, stream: int, table: TensorTable, *, is_mild: bool = False) -> None:
        self._stream, self._table, self._is_mild = stream, table, is_mild
        self._ratio_limit = math.log(MILD_RATIO_LIMIT if is_mild else RATIO_LIMIT)
        self._first_limit = math.log(MILD_FIRST_LIMIT if is_mild else FIRST_LIMIT)
        kernels = table.kernels
        n = max(1, len(kernels) // END_SHARE)
        self._kernels, self._biases = kernels, table.bias_of[kernels]
        self._first, self._last = slice(0, n), slice(len(kernels) - n, len(kernels))
        self._is_watched = len(kernels) >= KERNELS_MIN
        self._was_tiny = np.zeros((1, len(kernels)), bool)
        sizes = np.maximum(table.n_elements[table.gradient[kernels]], 1)
        self._log_size = 0.5 * np.log(sizes)
        self._tally: Tally[Vanishing] = Tally(MILD_CONFIRM_ROWS if is_mild else CONFIRM_ROWS)
        self._n_rows = 0
        self.episodes = self._tally.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one with a missing, zero or non-finite gradient at an end is passed over."""
        if not self._is_watched:
            return
        log_norm = self._join(block)
        low = self._find_low(log_norm)
        known = np.isfinite(log_norm[:, self._first]).all(axis=1) & np.isfinite(log_norm[:, self._last]).all(axis=1)
        if self._tally.count == 0 and not low.any():
            return
        for row in np.flatnonzero(known):
            self._step(int(block.steps[row]), bool(low[row]), log_norm[row])

    def _join(self, block: Block) -> npt.NDArray[np.float64]:
        """``[n, n_kernels]`` log of the norm of kernel and bias together."""
        log_norm = block.log_norm[:, 1:]
        bias = np.where(self._biases >= 0, log_norm[:, self._biases], np.nan)
        bias[np.isnan(bias)] = -np.inf
        kernel = log_norm[:, self._kernels]
        kernel[self._find_underflowed(kernel, block.gradient_norm[:, self._kernels] == 0)] = LEAST
        return np.asarray(0.5 * np.logaddexp(2 * kernel, 2 * bias))

    def _find_underflowed(
        self, log_norm: npt.NDArray[np.float64], is_zero: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """Norms that are 0 and were as good as 0 before: their squares have underflowed."""
        is_tiny = log_norm < TINY  # where it is known
        was_tiny = np.logical_or.accumulate(np.concatenate([self._was_tiny, is_tiny]), axis=0)
        self._was_tiny = was_tiny[-1:]
        return np.asarray(is_zero & was_tiny[1:])

    def _find_low(self, log_norm: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        per_element = log_norm - self._log_size
        low = log_norm[:, self._first].max(axis=1) < self._first_limit
        for values in (log_norm, per_element):
            low &= values[:, self._first].max(axis=1) - values[:, self._last].min(axis=1) < self._ratio_limit
        return np.asarray(low)

    def _step(self, step: int, low: bool, log_norm: npt.NDArray[np.float64]) -> None:
        if low and self._tally.count == 0:
            self._n_rows = 0
        self._n_rows += low
        if self._tally.take(step, is_seen=low):
            self._open(step, log_norm)

    def _open(self, step: int, log_norm: npt.NDArray[np.float64]) -> None:
        self._tally.open(
            Vanishing(
                stream=self._stream,
                phase=Phase.GRADIENT,
                first_step=self._tally.first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                position=int(self._kernels[0]),
                last_position=int(self._kernels[-1]),
                first=math.exp(float(np.median(log_norm[self._first]))),
                last=math.exp(float(np.median(log_norm[self._last]))),
                is_mild=self._is_mild,
            )
        )
