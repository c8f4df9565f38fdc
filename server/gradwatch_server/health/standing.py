"""The rule for normalisation that no batch goes into: running means of 0 and variances of 1, as they were made.

In training a batch normalisation divides by the spread of the batch and keeps an average of it. Called as in evaluation
it divides by that average, which nothing has ever gone into: it normalises nothing. Keras takes a call within a custom
loop for evaluation unless it is told otherwise. A layer whose own scale and offset are not trained, or that brings
averages with it, is another thing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Standing
from gradwatch_server.health.still import CONFIRM_ROWS, CONFIRM_STEPS
from gradwatch_server.health.table import TensorTable

__all__ = ["StandingRule"]

_COLUMNS: Final = [COLUMN[name] for name in ("min", "max")]


class StandingRule:
    """Watches what the layers of one stream keep beside their weights.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        trained = {table.layers[column] for column in table.gradient.tolist()}
        states: dict[str, list[int]] = {}
        for column in table.states.tolist():
            states.setdefault(table.layers[column], []).append(column)
        self._states = {layer: own for layer, own in states.items() if layer in trained and len(own) > 1}
        """Layers that stand as they were made so far, and the columns of their states."""
        self._n_rows = 0
        self._first_step = -1
        self._current: Standing | None = None
        self.episodes: list[Standing] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights were not looked at, or without an update, say nothing."""
        if not self._states:
            return
        columns = [column for own in self._states.values() for column in own]
        rows = np.flatnonzero(block.is_captured[:, columns].all(axis=1) & block.is_update)
        for row in rows.tolist():
            stand = {layer: own for layer, own in self._states.items() if self._is_as_made(block, row, own)}
            if self._n_rows == 0:
                self._first_step = int(block.steps[row])
            self._step(int(block.steps[row]), stand)
            self._states = stand
            if not stand:
                return

    @staticmethod
    def _is_as_made(block: Block, row: int, columns: list[int]) -> bool:
        """Whether all of a layer's states are 0 or 1 throughout, and some of either."""
        ends = block.statistics[row, columns][:, _COLUMNS]
        is_level = (ends[:, 0] == ends[:, 1]) & ~block.is_nonfinite[row, columns]
        return bool(is_level.all() and {0.0, 1.0} == set(ends[:, 0].tolist()))

    def _step(self, step: int, stand: dict[str, list[int]]) -> None:
        self._n_rows += 1
        if self._current is not None:
            if len(stand) < len(self._current.layers):
                self._current.closed_step = step
                self._current = None
                return
            self._current.last_step = step
            self._current.n_rows += 1
        elif stand and not self.episodes and self._n_rows >= CONFIRM_ROWS and step - self._first_step >= CONFIRM_STEPS:
            self._current = Standing(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                layers=tuple(stand),
            )
            self.episodes.append(self._current)
