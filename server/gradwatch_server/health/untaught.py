"""The rule for layers that are frozen as they were made: what was learned elsewhere never came into them.

The hook sends biases of frozen layers where all of them hold nothing but 0 and 1. They begin so (an LSTM's with ones,
for its forget gate), and the first step of any training moves them. What is frozen for a while and trained by another
optimizer, or loaded later, moves as well.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Untaught
from gradwatch_server.health.still import CONFIRM_ROWS, CONFIRM_STEPS
from gradwatch_server.health.table import TensorTable

__all__ = ["UntaughtRule"]

ROUNDING: Final = 1e-6
"""Of a sum of squares in float32, as a share of it."""


class UntaughtRule:
    """Watches the biases of one stream's frozen layers until one of them is no longer as it was made.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._is_so = len(table.frozen) > 0
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Untaught] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights were not looked at say nothing."""
        if not self._is_so:
            return
        rows = np.flatnonzero(block.is_captured[:, self._table.frozen].all(axis=1))
        for row in rows.tolist():
            step = int(block.steps[row])
            if not self._is_as_made(block.statistics[row, self._table.frozen]):
                self._is_so = False
                for episode in self.episodes:
                    episode.closed_step = step
                return
            self._step(step)

    @staticmethod
    def _is_as_made(statistics: npt.NDArray[np.float32]) -> bool:
        """Whether all elements are 0 or 1: then the squares add up to as many as are not 0."""
        norm, low, high = (statistics[:, COLUMN[name]].astype(np.float64) for name in ("norm", "min", "max"))
        n_others = statistics[:, COLUMN["n_elements"]].astype(np.float64) - statistics[:, COLUMN["n_zero"]]
        is_within = (low >= 0) & (high <= 1)
        return bool((is_within & (np.abs(norm**2 - n_others) <= ROUNDING * n_others)).all())

    def _step(self, step: int) -> None:
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        for episode in self.episodes:
            episode.last_step, episode.n_rows = step, self._n_rows
        if not self.episodes and self._n_rows >= CONFIRM_ROWS and step - self._first_step >= CONFIRM_STEPS:
            self.episodes.append(
                Untaught(
                    stream=self._stream,
                    phase=Phase.WEIGHT,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    layers=tuple(dict.fromkeys(self._table.layer_of(int(column)) for column in self._table.frozen)),
                )
            )
