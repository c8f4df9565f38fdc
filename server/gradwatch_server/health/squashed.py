"""The rule for functions that give hardly anything but their two ends, sample by sample, from the first step on.

`gradwatch_server.health.unit` knows units that are at one end for a whole batch. These go from end to end with the
samples, so that something is told apart, and hardly any slope is left to learn by. Of layers that end in a tanh the
kernel must be the cause: weights of a standard deviation of 1 into a hundred units, say. What the user's own code takes
a tanh, sigmoid or softmax of within a layer may be multiplied before: by a temperature, or by nothing where the scores
of an attention should be divided by the root of their width. SageMaker Debugger calls a tanh saturated beyond 9.4999,
one number at a time. Codes of +1 and -1 by a sign are meant so, and have no numbers between; inputs that are scaled to
[-1, 1] have no kernel.
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
ELEMENTS_MIN: Final = 32
"""Of what a function within a layer gives: less may be at its ends by chance."""

_ENDED: Final = ("sigmoid", "softmax", "tanh")
Float = npt.NDArray[np.float64]


class SquashedRule:
    """Watches hidden layers of one stream, with kernels of their own, that may end in a tanh; or functions without.

    Args:
        stream: the stream's number.
        table: its tensor table.
        is_within: whether it watches what the user's own code takes functions of within layers, and hidden layers that
            give a function of what other layers made.
    """

    def __init__(self, stream: int, table: TensorTable, *, is_within: bool) -> None:
        self._stream, self._table, self._is_within = stream, table, is_within
        self._n_min = 1 if is_within else LAYERS_MIN
        self._columns, self._weights = self._choose()
        shapes = (table.shapes[int(column)] for column in self._weights)
        self._n_inputs = np.array([math.prod(shape[:-1]) for shape in shapes], np.float64)
        self._functions = np.array([table.functions[c] or "tanh" for c in self._columns], np.str_)
        self._n_units = np.array([max((table.shapes[c] or (1,))[-1], 1) for c in self._columns], np.float64)
        self._gain, self._square = np.full((2, len(self._columns)), np.nan)
        self._n_rows = 0
        self._streaks: Streaks[Squashed] = Streaks(len(self._columns), CONFIRM_STEPS)
        self.episodes = self._streaks.episodes

    def _choose(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The columns of outputs, and of the weights that decide how large they are at first; of functions none."""
        table = self._table
        kernels = {table.layer_of_gradient(position): position for position in table.whole_kernels.tolist()}
        hidden = table.hidden.tolist()
        if self._is_within:
            without = [c for c in hidden if table.layer_of(c) not in kernels]
            found = [c for c in [*table.within.tolist(), *without] if table.functions[c] in _ENDED]
            return np.array(sorted(found), np.int64), np.zeros(0, np.int64)
        columns = [c for c in hidden if table.functions[c] in (None, "tanh") and table.layer_of(c) in kernels]
        positions = [kernels[table.layer_of(column)] for column in columns]
        return np.array(columns, np.int64), table.weight_of[np.array(positions, np.int64)]

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no layer was looked at changes nothing."""
        if len(self._columns) < self._n_min or (self._n_rows > 0 and not self._streaks.is_any):
            return
        low, square = self._measure(block)
        gain = self._measure_gain(block)
        for row in np.flatnonzero(np.isfinite(low).any(axis=1)).tolist():
            self._n_rows += 1
            self._gain = np.where(np.isfinite(gain[row]), gain[row], self._gain)
            is_in = (square[row] >= SQUARE_RANGE[0]) & (square[row] <= SQUARE_RANGE[1])
            is_in &= self._is_within | (self._gain >= GAIN_LIMIT)
            is_in &= (self._streaks.n_rows > 0) | (self._n_rows == 1)  # later it is what training made of it
            self._square = np.where(np.isfinite(square[row]), square[row], self._square)
            self._step(int(block.steps[row]), is_in, np.isfinite(low[row]) & ~is_in)

    def _measure(self, block: Block) -> tuple[Float, Float]:
        """The least element of each output in each row, and how near the output is to its ends alone: 1 for that."""
        names = [COLUMN[name] for name in ("min", "max", "norm", "mean", "n_elements")]
        found = block.statistics[:, self._columns][:, :, names].astype(np.float64)
        low, high, norm, mean, n = found.transpose(2, 0, 1)
        square = norm**2 / np.maximum(n, 1.0)
        of_softmax = (square * self._n_units - 1 / self._n_units) / np.maximum(1 - 1 / self._n_units, 0.1)
        of_sigmoid = 4 * (square - mean) + 1
        is_at_ends = (low <= -END) & (low >= -1.0001) & (high >= END) & (high <= 1.0001)
        of_tanh = np.where(is_at_ends, square, 0.0)
        kinds = [self._functions == "softmax", self._functions == "sigmoid"]
        nearness = np.select([np.broadcast_to(kind, square.shape) for kind in kinds], [of_softmax, of_sigmoid], of_tanh)
        return low, np.where(self._is_within & (n < ELEMENTS_MIN), 0.0, nearness)

    def _measure_gain(self, block: Block) -> Float:
        if self._is_within:
            return np.full((len(block.steps), len(self._columns)), np.nan)
        names = [COLUMN[name] for name in ("norm", "n_elements")]
        weight, size = block.statistics[:, self._weights][:, :, names].astype(np.float64).transpose(2, 0, 1)
        return np.asarray(weight / np.sqrt(np.maximum(size, 1.0)) * np.sqrt(self._n_inputs))

    def _step(self, step: int, is_in: npt.NDArray[np.bool_], is_out: npt.NDArray[np.bool_]) -> None:
        is_sure = self._streaks.add(step, is_in=is_in, is_out=is_out)
        if self._streaks.follow(step) or is_sure.sum() < self._n_min:
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
