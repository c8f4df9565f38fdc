"""The rule for kernels that get next to nothing of the step while the others move: one part of the loss drowns another.

Where one term of a loss is a million times as large as another, a rate or a clip that suits the large one leaves the
small one's layers where they began. Optimizers that divide by the size of the gradient (Adam) do not know this.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Starved
from gradwatch_server.health.still import CONFIRM_ROWS, RATIO_LIMIT
from gradwatch_server.health.table import TensorTable

__all__ = ["StarvedRule"]

STARVED_RATIO: Final = 1e-5
"""Update norm over weight norm: a hundredth of what is usual, in every row from the first on."""
MOVING_RATIO: Final = 1e-4
"""What the kernel in the middle of all moves by meanwhile, in the middle of all rows."""
CONFIRM_STEPS: Final = 200
SPARSE_SHARE: Final = 0.5
"""Zeros in a gradient, from which on it is that of an embedding: few of its rows are in any one batch."""

Float = npt.NDArray[np.float64]


class StarvedRule:
    """Watches how far each kernel of one stream moves in a step.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._kernels = table.whole_kernels
        self._is_starved = np.ones(len(self._kernels), bool)
        self._largest = np.zeros(len(self._kernels))
        self._n_rows = self._n_moving = 0
        self._first_step = -1
        self._current: Starved | None = None
        self.episodes: list[Starved] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which nothing was updated, or not looked at, say nothing."""
        if not len(self._kernels) or not self._is_starved.any():
            return
        table = self._table
        weight, update, gradient = (
            block.statistics[:, columns].astype(np.float64)
            for columns in (
                table.weight_of[self._kernels],
                table.update_of[self._kernels],
                table.gradient[self._kernels],
            )
        )
        norm = weight[:, :, COLUMN["norm"]]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = update[:, :, COLUMN["norm"]] / norm
            zeros = gradient[:, :, COLUMN["n_zero"]] / gradient[:, :, COLUMN["n_elements"]]
        # A kernel that is 0, has no gradient or a sparse one is no case of this.
        is_case = (norm > 0) & (ratio < STARVED_RATIO) & (ratio >= 0) & (gradient[:, :, COLUMN["norm"]] > 0)
        is_case &= ~(zeros > SPARSE_SHARE)
        for row in np.flatnonzero(np.isfinite(ratio).all(axis=1) & block.is_update).tolist():
            self._step(int(block.steps[row]), is_case[row], ratio[row])
            if not self._is_starved.any():
                return

    def _step(self, step: int, is_case: npt.NDArray[np.bool_], ratio: Float) -> None:
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        self._n_moving += bool(np.median(ratio) >= MOVING_RATIO)
        self._is_starved &= is_case
        self._largest = np.maximum(self._largest, ratio)
        if self._current is not None:
            if not self._is_starved.any():
                self._current.closed_step = step
                self._current = None
                return
            self._current.last_step = step
            self._current.n_rows += 1
            return
        is_long = self._n_rows >= CONFIRM_ROWS and step - self._first_step >= CONFIRM_STEPS
        has_moved = (self._largest >= RATIO_LIMIT).any()
        if (
            is_long
            and has_moved
            and self._is_starved.any()
            and 2 * self._n_moving >= self._n_rows
            and not self.episodes
        ):
            places = np.flatnonzero(self._is_starved)
            self._current = Starved(
                stream=self._stream,
                phase=Phase.UPDATE,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                positions=tuple(int(self._kernels[place]) for place in places),
                ratio=float(self._largest[places].max()),
                usual_ratio=float(np.median(self._largest)),
            )
            self.episodes.append(self._current)
