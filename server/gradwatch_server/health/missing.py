"""The rule for missing gradients: variables that the loss does not reach."""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Missing, Phase
from gradwatch_server.health.table import TensorTable

__all__ = ["CONFIRM_ROWS", "MissingRule"]

CONFIRM_ROWS: Final = 5
"""Rows from the first on in which a gradient must be None. Losses that take turns leave some variables out for a row
or two; a disconnected variable is out in all."""


class MissingRule:
    """Watches which gradients of one stream were None in all of its first rows.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._is_missing = np.ones(len(table.gradient), bool)
        self._n_rows = 0
        self._first_step = -1
        self.episodes: list[Missing] = []

    def feed(self, block: Block) -> None:
        """Takes rows."""
        if not self._is_missing.any():
            return
        for row, step in enumerate(block.steps.tolist()):
            self._step(step, block.is_missing[row])
            if not self._is_missing.any():
                return

    def _step(self, step: int, missing: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> None:
        if self._n_rows == 0:
            self._first_step = step
        self._n_rows += 1
        self._is_missing &= missing
        if not self._is_missing.any():
            for episode in self.episodes:
                episode.closed_step = step
        elif self._n_rows == CONFIRM_ROWS:
            episode = Missing(
                stream=self._stream,
                phase=Phase.GRADIENT,
                first_step=self._first_step,
                last_step=step,
                n_rows=self._n_rows,
                known_step=step,
                table=self._table,
                positions=tuple(np.flatnonzero(self._is_missing).tolist()),
            )
            self.episodes.append(episode)
        for episode in self.episodes:
            if episode.is_open:
                episode.last_step, episode.n_rows = step, self._n_rows
