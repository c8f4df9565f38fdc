"""The rule for samples of which the loss takes nothing: it clips what the model gives, and has no slope beyond that.

A cross-entropy of scores has a gradient for every sample: the difference of two numbers that are hardly ever the same
to the last bit. One that takes scores for probabilities clips those below 0. Asked of a last layer without an
activation whose targets are classes: margins, masks and choices of one output leave samples out on purpose.

Where the step itself bounds the loss of each sample from above, those beyond the bound have no gradient either: the
ones that are furthest off, and the loss does not show it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Unheard
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.slip import CAP
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["UnheardRule"]

HEARD_LIMIT: Final = 0.5
"""Elements with a gradient for each sample: below it at least half of the samples have none."""
CAPPED_SHARE: Final = 0.05
"""Elements without a gradient behind a cap, at the least: fewer may be rounding, or strays that it is meant for."""
CLASSES_MIN: Final = 3
"""Of two classes, each sample's gradient may be of one element."""


class UnheardRule:
    """Watches what comes back to the last layer of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        self._stream, self._table = stream, table
        self._cap = next((slip for slip in setup.slips if CAP in slip), None)
        self._output, self._signal = table.linear_output if self._is_of_classes(table) else (-1, -1)
        if self._cap is not None and len(table.activation) and len(table.backprop):
            self._output, self._signal = int(table.activation[-1]), int(table.backprop[-1])
        weights = [*table.entering("sample_weight"), *table.entering("input")]
        self._weights = [column for column in weights if len(table.shapes[column]) == 1]
        self._streaks: Streaks[Unheard] = Streaks(1)
        self.episodes = self._streaks.episodes

    @staticmethod
    def _is_of_classes(table: TensorTable) -> bool:
        """Whether the last layer gives a number for each of several classes, and the targets are classes."""
        if not len(table.activation) or not any("int" in table.dtypes[column] for column in table.entering("target")):
            return False
        shape = table.shapes[int(table.activation[-1])]
        return len(shape) == 2 and shape[1] >= CLASSES_MIN

    def feed(self, block: Block) -> None:
        """Takes rows; one in which the last layer was not looked at changes nothing."""
        if self._signal < 0:
            return
        size, n_zero = block.statistics[:, self._signal, [COLUMN["n_elements"], COLUMN["n_zero"]]].astype(np.float64).T
        low, high = block.statistics[:, self._output, [COLUMN["min"], COLUMN["max"]]].T
        heard = 1 - n_zero / size
        if self._cap is not None:
            is_unheard = heard <= 1 - CAPPED_SHARE
        else:
            heard *= self._table.shapes[self._output][1] / self._find_weighed(block)
            is_unheard = (heard < HEARD_LIMIT) & (low < 0)
        is_seen = np.isfinite(heard) & np.isfinite(low)
        for row in np.flatnonzero(is_seen).tolist():
            is_in = is_unheard[row : row + 1]
            is_sure = self._streaks.add(int(block.steps[row]), is_in=is_in, is_out=~is_in)
            if self._streaks.current is None and not is_in[0]:
                continue
            self._step(int(block.steps[row]), bool(is_sure[0]), float(heard[row]), (float(low[row]), float(high[row])))

    def _find_weighed(self, block: Block) -> npt.NDArray[np.float64]:
        """``[n]`` the share of samples that a weight, or a mask, does not leave out: of the one that leaves most."""
        names = [COLUMN["n_elements"], COLUMN["n_zero"]]
        size, n_zero = block.statistics[:, self._weights][:, :, names].astype(np.float64).transpose(2, 0, 1)
        left = np.where(size > n_zero, 1 - n_zero / size, 1.0)  # not where nothing is known of it, nor where it is all
        return np.asarray(left.min(axis=1, initial=1.0))

    def _step(self, step: int, is_sure: bool, heard: float, output: tuple[float, float]) -> None:
        if not self._streaks.follow(step) and is_sure:
            self._streaks.open(
                Unheard(
                    stream=self._stream,
                    phase=Phase.BACKPROP,
                    first_step=int(self._streaks.first_step[0]),
                    last_step=step,
                    n_rows=int(self._streaks.n_rows[0]),
                    known_step=step,
                    table=self._table,
                    column=self._signal,
                    share=1 - heard,
                    low=output[0],
                    high=output[1],
                    cap=self._cap,
                )
            )
