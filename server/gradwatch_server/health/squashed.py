"""The rule for layers that start so large that a tanh gives hardly anything but its two ends, sample by sample.

`gradwatch_server.health.unit` knows units that are at one end for a whole batch. These go from end to end with the
samples, so that something is told apart, and hardly any slope is left to learn by: with weights of a standard deviation
of 1 into a hundred units, say. SageMaker Debugger calls a tanh saturated beyond 9.4999, one number at a time. Codes of
+1 and -1 by a sign are meant so, and have no numbers between; inputs that are scaled to [-1, 1] have no kernel.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Squashed
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["SquashedRule"]

END: Final = 0.999
"""What a tanh gives beyond 3.8: there its slope is below 0.002."""
SQUARE_RANGE: Final = (0.88, 0.9999)
"""The mean square of an output, of which 1 is that of a sign. Of a tanh of normal numbers it is 0.88 where their
standard deviation is 10, and 0.39 where it is 1."""
GAIN_LIMIT: Final = 3.0
"""The root of the inputs' number times the kernel's standard deviation: 1 with Glorot, 1.4 with He. At three times that
numbers of about 1 become numbers of about 3."""
LAYERS_MIN: Final = 2
CONFIRM_STEPS: Final = 100

Float = npt.NDArray[np.float64]


class SquashedRule:
    """Watches the hidden layers of one stream that have a kernel of their own and may end in a tanh.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        kernels = {table.layer_of_gradient(position): position for position in table.whole_kernels.tolist()}
        hidden = [c for c in table.activation[:-1].tolist() if table.functions[c] in (None, "tanh")]
        self._columns = np.array([c for c in hidden if table.layer_of(c) in kernels], np.int64)
        positions = [kernels[table.layer_of(column)] for column in self._columns.tolist()]
        self._weights = table.weight_of[np.array(positions, np.int64)] if positions else np.zeros(0, np.int64)
        shapes = (table.shapes[int(column)] for column in self._weights)
        self._n_inputs = np.array([math.prod(shape[:-1]) for shape in shapes], np.float64)
        self._gain, self._square = np.full((2, len(self._columns)), np.nan)
        self._n_rows = 0
        self._streaks: Streaks[Squashed] = Streaks(len(self._columns), CONFIRM_STEPS)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no layer was looked at changes nothing."""
        if len(self._columns) < LAYERS_MIN or (self._n_rows > 0 and not self._streaks.is_any):
            return
        names = [COLUMN[name] for name in ("min", "max", "norm", "n_elements")]
        low, high, norm, n = block.statistics[:, self._columns][:, :, names].astype(np.float64).transpose(2, 0, 1)
        weight, size = block.statistics[:, self._weights][:, :, names[2:]].astype(np.float64).transpose(2, 0, 1)
        gain = weight / np.sqrt(np.maximum(size, 1.0)) * np.sqrt(self._n_inputs)
        square = norm**2 / np.maximum(n, 1.0)
        is_at_ends = (low <= -END) & (low >= -1.0001) & (high >= END) & (high <= 1.0001)
        is_at_ends &= (square >= SQUARE_RANGE[0]) & (square <= SQUARE_RANGE[1])
        for row in np.flatnonzero(np.isfinite(low).any(axis=1)).tolist():
            self._n_rows += 1
            self._gain = np.where(np.isfinite(gain[row]), gain[row], self._gain)
            is_in = is_at_ends[row] & (self._gain >= GAIN_LIMIT)
            is_in &= (self._streaks.n_rows > 0) | (self._n_rows == 1)  # later it is what training made of it
            self._square = np.where(np.isfinite(square[row]), square[row], self._square)
            self._step(int(block.steps[row]), is_in, np.isfinite(low[row]) & ~is_in)

    def _step(self, step: int, is_in: npt.NDArray[np.bool_], is_out: npt.NDArray[np.bool_]) -> None:
        is_sure = self._streaks.add(step, is_in=is_in, is_out=is_out)
        if self._streaks.follow(step) or is_sure.sum() < LAYERS_MIN:
            return
        places = np.flatnonzero(is_sure)
        first = int(places[0])
        self._streaks.open(
            Squashed(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=int(self._streaks.first_step[first]),
                last_step=step,
                n_rows=int(self._streaks.n_rows[first]),
                known_step=step,
                table=self._table,
                columns=self._streaks.find_starts(self._columns, places),
                column=int(self._columns[first]),
                square=float(self._square[first]),
                gain=float(self._gain[first]),
            )
        )
