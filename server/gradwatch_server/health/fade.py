"""The rule for gradients that fade in time: a stream's whole gradient falls to next to nothing of its start.

A gradient that becomes small is what training is for. So this is judged only where it cannot be success: where the loss
has not fallen, or where several models play against each other and one is left with nothing to learn from.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import Block
from gradwatch_server.health.episode import Fade, Phase
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.tally import Tally

__all__ = ["FadeRule"]

EARLY_ROWS: Final = 5
"""Rows whose median is the start: a game may be lost within ten steps."""
FADE_FACTOR: Final = 1e-4
"""Of the start. Discriminators that win leave the generator 1e-5 and less (Arjovsky and Bottou 2017, figure 2); noise
of batches stays within 1e-2."""
CONFIRM_ROWS: Final = 50
"""Rows, less two for each row that is not as small."""


class FadeRule:
    """Watches the global gradient norm of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._early: list[float] = []
        self._start = 0.0
        self._tally: Tally[Fade] = Tally(CONFIRM_ROWS)
        self._norms: list[float] = []
        self.episodes = self._tally.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one whose gradient is not finite, or exactly zero, is passed over."""
        norm = block.global_norm
        known = np.isfinite(norm) & (norm > 0)
        if (
            len(self._early) == EARLY_ROWS
            and not self._tally.count
            and not (norm[known] < FADE_FACTOR * self._start).any()
        ):
            return
        for row in np.flatnonzero(known):
            self._step(int(block.steps[row]), float(norm[row]))

    def _step(self, step: int, norm: float) -> None:
        if len(self._early) < EARLY_ROWS:
            self._early.append(norm)
            self._start = float(np.median(self._early))
            return
        is_low = norm < FADE_FACTOR * self._start
        if is_low and self._tally.count == 0:
            self._norms = []
        may_open = self._tally.take(step, is_seen=is_low)
        if is_low and len(self._norms) < CONFIRM_ROWS:
            self._norms.append(norm)
        if may_open:
            self._tally.open(
                Fade(
                    stream=self._stream,
                    phase=Phase.GRADIENT,
                    first_step=self._tally.first_step,
                    last_step=step,
                    n_rows=self._tally.count,
                    known_step=step,
                    table=self._table,
                    start=self._start,
                    norm=float(np.median(self._norms)),
                )
            )
