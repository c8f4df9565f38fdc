"""The rule for missing gradients: variables that the loss does not reach."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Missing, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["CONFIRM_ROWS", "LEFT_OUT_ROWS", "MissingRule"]

CONFIRM_ROWS: Final = 5
"""Rows from the first on in which a gradient must be None. Losses that take turns leave some variables out for a row
or two; a disconnected variable is out in all."""
LEFT_OUT_ROWS: Final = 100
"""The same for a variable whose None the training leaves out: it expects some, and tasks may take turns for long."""

_MOVING: Final = [COLUMN[name] for name in ("norm", "min", "max", "mean")]

Bool = npt.NDArray[np.bool_]


class MissingRule:
    """Watches which gradients of one stream were None in all of its first rows.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._is_missing = np.ones(len(table.gradient), bool)
        self._first_weights = np.full((len(table.gradient), len(_MOVING)), np.nan)
        self._is_moving = np.zeros(len(table.gradient), bool)
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Missing] = []

    def reached(self) -> set[str]:
        """The variables that have had a gradient."""
        return {self._table.name_gradient(p) for p in np.flatnonzero(~self._is_missing).tolist()}

    def feed(self, block: Block) -> None:
        """Takes rows."""
        self._look_for_moving(block)
        if not self._is_missing.any():
            return
        for row, step in enumerate(block.steps.tolist()):
            self._step(step, block.is_missing[row])
            if not self._is_missing.any():
                return

    def _step(self, step: int, missing: Bool) -> None:
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        self._is_missing &= missing
        for episode in self.episodes:
            if episode.is_open:
                if not self._is_missing[list(episode.positions)].any():
                    episode.closed_step = step
                else:
                    episode.last_step, episode.n_rows = step, self._n_rows
        left_out = self._table.is_left_out
        if self._n_rows == CONFIRM_ROWS:
            self._begin(step, self._is_missing & ~left_out)
        if self._n_rows == LEFT_OUT_ROWS:
            self._begin(step, self._is_missing & left_out)

    def _look_for_moving(self, block: Block) -> None:
        """Marks what is left out and moves all the same: a mean of other weights, a statistic."""
        weight_of = self._table.weight_of
        places = np.flatnonzero(self._table.is_left_out & (weight_of >= 0) & ~self._is_moving)
        if not len(places):
            return
        found = block.statistics[:, weight_of[places]][:, :, _MOVING].astype(np.float64)
        for row in np.flatnonzero(np.isfinite(found).all(axis=(1, 2))).tolist():
            first = self._first_weights[places]
            self._first_weights[places] = np.where(np.isnan(first), found[row], first)
            self._is_moving[places] |= (self._first_weights[places] != found[row]).any(axis=1)
        for episode in self.episodes:
            episode.positions = tuple(p for p in episode.positions if not self._is_moving[p])

    def _begin(self, step: int, missing: Bool) -> None:
        missing = missing & ~self._is_moving
        if missing.any():
            positions = tuple(np.flatnonzero(missing).tolist())
            self.episodes.append(
                Missing(
                    stream=self._stream,
                    phase=Phase.GRADIENT,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    positions=positions,
                    is_left_out=bool(self._table.is_left_out[positions[0]]),
                )
            )
