"""The rule for a loss whose mask keeps the padding: the gradient comes from what is labelled 0, and from nothing else.

Sequences are padded with 0, their labels too, and a mask is to leave these places out of the loss. How many places of
the output get no gradient, and how many labels are 0, stands in every row. The loss says nothing of it: padding is
learned at once.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Unheard
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable

__all__ = ["InvertedRule"]

SEQUENCE_RANK: Final = 2
"""Axes of labels that have places: of a sequence or an image."""
CLASSES_MIN: Final = 3
PLACES_SLACK: Final = 0.005
"""Of all places: a gradient may happen to be exactly 0 where there is one."""
APART: Final = 0.1
"""Of all places, at the least, by which a mask and its opposite differ."""


class InvertedRule:
    """Watches the only target, of whole numbers, and what comes back to the last layer of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        targets = table.entering("target")
        self._target = targets[0] if len(targets) == 1 and "int" in table.dtypes[targets[0]] else -1
        self._output, self._signal = table.scores
        shape = table.shapes[self._output] if self._output >= 0 else ()
        self._n_units = shape[-1] if len(shape) > SEQUENCE_RANK else 0
        self._is_judged = self._target >= 0 and self._signal >= 0 and self._n_units >= CLASSES_MIN
        self._streaks: Streaks[Unheard] = Streaks(1)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; those in which either was not looked at, or nearly all labels are alike, say nothing."""
        if not self._is_judged:
            return
        names = [COLUMN["n_elements"], COLUMN["n_zero"]]
        size, n_zero = block.statistics[:, self._signal, names].astype(np.float64).T / self._n_units
        n_places, n_padded = block.statistics[:, self._target, names].astype(np.float64).T
        with np.errstate(invalid="ignore", divide="ignore"):
            unheard, padded = n_zero / size, n_padded / n_places
        is_seen = np.isfinite(unheard) & (size == n_places) & (np.abs(1 - 2 * padded) >= APART)
        is_seen &= (padded > 0) & (padded < 1)
        is_inverted = np.abs(unheard - (1 - padded)) <= PLACES_SLACK
        for row in np.flatnonzero(is_seen).tolist():
            step, is_in = int(block.steps[row]), is_inverted[row : row + 1]
            is_sure = self._streaks.add(step, is_in=is_in, is_out=~is_in)
            if not self._streaks.follow(step) and is_sure[0]:
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
                        share=float(unheard[row]),
                        is_inverted=True,
                    )
                )
