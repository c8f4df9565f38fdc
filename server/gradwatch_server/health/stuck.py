"""The rule for recurrent cells whose gates are stuck: most of the slopes of their biases are exactly 0, row after row.

A gate is a sigmoid of a sum, and what a cell takes in a tanh. Far from 0 both have a slope of 0 to the last digit, for
every sample and at every step of the sequence: the bias of such a unit, which adds to the sum by itself, has a gradient
of exactly 0. Inputs in their own units (pressures of a thousand) do that, and weights that start or became far too
large. The rest of the cell learns on, so that the loss comes down some of the way.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Stuck
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["StuckRule"]

STUCK_SHARE: Final = 0.5
"""Of a cell's biases, those with a gradient of exactly 0; where gates are at work there is none."""
CONFIRM_STEPS: Final = 100


class StuckRule:
    """Watches the biases of one stream's recurrent cells that have gates.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._positions = _find_biases(table)
        self._columns = table.gradient[self._positions]
        # In float16 a gradient is 0 where it is merely small.
        self._is_judged = len(self._positions) > 0 and not table.is_half
        self._share = np.full(len(self._positions), math.nan)
        self._streaks: Streaks[Stuck] = Streaks(len(self._positions), CONFIRM_STEPS)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no bias was looked at, or with no gradient at all, changes nothing."""
        if not self._is_judged:
            return
        names = [COLUMN[name] for name in ("n_zero", "n_elements", "norm")]
        n_zero, size, norm = np.moveaxis(block.statistics[:, self._columns][:, :, names].astype(np.float64), 2, 0)
        is_seen = np.isfinite(n_zero) & (norm > 0)
        share = n_zero / np.maximum(size, 1.0)
        for row in np.flatnonzero(is_seen.any(axis=1)).tolist():
            step, is_in = int(block.steps[row]), is_seen[row] & (share[row] >= STUCK_SHARE)
            self._share = np.where(is_in, share[row], self._share)
            is_sure = self._streaks.add(step, is_in=is_in, is_out=is_seen[row] & ~is_in)
            self._step(step, is_sure)

    def _step(self, step: int, is_sure: npt.NDArray[np.bool_]) -> None:
        if self._streaks.follow(step) or not is_sure.any():
            return
        place = int(np.flatnonzero(is_sure)[0])
        self._streaks.open(
            Stuck(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=int(self._streaks.first_step[place]),
                last_step=step,
                n_rows=int(self._streaks.n_rows[place]),
                known_step=step,
                table=self._table,
                positions=tuple(self._positions[is_sure].tolist()),
                share=float(self._share[place]),
            )
        )


def _find_biases(table: TensorTable) -> npt.NDArray[np.int64]:
    """The gradient positions of the biases of recurrent cells with gates: of a GRU two side by side, ``[2, 3 n]``."""
    layers: dict[str, list[int]] = {}
    for position in range(len(table.gradient)):
        layers.setdefault(table.layer_of_gradient(position), []).append(position)
    found: list[int] = []
    for own in layers.values():
        kernels = np.intersect1d(own, table.kernels)
        if table.count_gates(kernels) > 1:
            shapes = [(position, table.shapes[int(table.gradient[position])]) for position in own]
            is_pair = len(kernels) > 2
            found += [p for p, shape in shapes if len(shape) == 1 or (is_pair and shape[0] == 2)]
    return np.array(found, np.int64)
