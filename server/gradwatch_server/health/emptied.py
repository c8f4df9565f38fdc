"""The rule for divisors that are mostly 0, of which a division makes 0 in place of a NaN.

`tf.math.divide_no_nan` is right for the mean of nothing. Where most of a batch has a mean of nothing, as of masks that
are empty, most samples are handed on as 0, and no number says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Emptied, Phase
from gradwatch_server.health.operation_table import OPERATION_COLUMN, Operation
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["EmptiedRule"]

SHARE: Final = 0.5
"""Of the divisors."""
DIVISORS_MIN: Final = 8
"""One for each sample of a small batch; a loss is divided by a single one."""


class EmptiedRule:
    """Watches one stream's divisions that give 0 for a divisor of 0, in the model.

    Args:
        stream: the stream's number.
        table: its tensor table.
        operations: its operations.
    """

    def __init__(self, stream: int, table: TensorTable, operations: Sequence[Operation]) -> None:
        self._stream, self._table = stream, table
        own = [one for one in operations if one.type == "DivNoNan" and not one.is_gradient and one.place >= 0]
        self._operations = [one for one in own if one.layer]
        self._streaks: Streaks[Emptied] = Streaks(len(self._operations))
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; those that say nothing of these divisions are passed by."""
        if not self._operations:
            return
        wanted = [OPERATION_COLUMN["n_singular"], OPERATION_COLUMN["n_in"]]
        counts = block.operations[:, [one.place for one in self._operations]][:, :, wanted].astype(np.float64)
        for row in np.flatnonzero(np.isfinite(counts).all(axis=(1, 2))).tolist():
            n_zero, n_divisors = counts[row].T
            is_in = (n_divisors >= DIVISORS_MIN) & (n_zero >= SHARE * n_divisors)
            step = int(block.steps[row])
            is_sure = self._streaks.add(step, is_in=is_in, is_out=~is_in)
            if not self._streaks.follow(step) and is_sure.any():
                place = int(np.argmax(is_sure))
                self._streaks.open(
                    Emptied(
                        stream=self._stream,
                        phase=Phase.ACTIVATION,
                        first_step=int(self._streaks.first_step[place]),
                        last_step=step,
                        n_rows=int(self._streaks.n_rows[place]),
                        known_step=step,
                        table=self._table,
                        operation=self._operations[place],
                        share=float(n_zero[place] / n_divisors[place]),
                    )
                )
