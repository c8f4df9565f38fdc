"""The rule for a loss whose mask keeps the padding: the gradient comes from what is labelled 0, and from nothing else.

Sequences are padded with 0, their labels too, and a mask is to leave these places out of the loss. How many places of
the output get no gradient, and how many labels are 0, stands in every row; where labels are not known, the words of the
input that are 0 stand for them. The loss says nothing of it: padding is learned at once, and has no gradient any more
soon after.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Unheard
from gradwatch_server.health.table import TensorTable

__all__ = ["InvertedRule"]

CONFIRM_ROWS: Final = 10
"""Rows in which it is so, and none between them in which it is the other way round."""
SEQUENCE_RANK: Final = 2
"""Axes of labels that have places: of a sequence or an image."""
CLASSES_MIN: Final = 3
PLACES_SLACK: Final = 0.005
"""Of all places: a gradient may happen to be exactly 0 where there is one."""
APART: Final = 0.1
"""Of all places, at the least, by which a mask and its opposite differ."""


class InvertedRule:
    """Watches the only target, or input, of whole numbers, and what comes back to the last layer of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        labels = [column for column in table.entering("target") if "int" in table.dtypes[column]]
        found = labels or table.entering("index")
        self._labels = found[0] if len(found) == 1 else -1
        output, self._signal = table.scores
        shape = table.shapes[output] if output >= 0 else ()
        self._n_units = shape[-1] if len(shape) > SEQUENCE_RANK else 0
        self._is_judged = self._labels >= 0 and self._signal >= 0 and self._n_units >= CLASSES_MIN
        self._first_step, self._n_rows = -1, 0
        self.episodes: list[Unheard] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which either was not looked at, or a mask and its opposite look alike, say nothing."""
        if not self._is_judged:
            return
        names = [COLUMN["n_elements"], COLUMN["n_zero"]]
        size, n_zero = block.statistics[:, self._signal, names].astype(np.float64).T / self._n_units
        n_places, n_padded = block.statistics[:, self._labels, names].astype(np.float64).T
        with np.errstate(invalid="ignore", divide="ignore"):
            unheard, padded = n_zero / size, n_padded / n_places
        is_seen = np.isfinite(unheard) & (size == n_places) & (np.abs(1 - 2 * padded) >= APART)
        is_seen &= (padded > 0) & (padded < 1)
        is_inverted = np.abs(unheard - (1 - padded)) <= PLACES_SLACK
        is_right = np.abs(unheard - padded) <= PLACES_SLACK
        for row in np.flatnonzero(is_seen & (is_inverted | is_right)).tolist():
            self._step(int(block.steps[row]), float(unheard[row]), is_inverted=bool(is_inverted[row]))

    def _step(self, step: int, unheard: float, *, is_inverted: bool) -> None:
        known = self.episodes[-1] if self.episodes and self.episodes[-1].is_open else None
        if not is_inverted:
            self._n_rows = 0
            if known is not None:
                known.closed_step = step
            return
        self._first_step = step if self._n_rows == 0 else self._first_step
        self._n_rows += 1
        if known is not None:
            known.last_step, known.n_rows = step, self._n_rows
        elif not self.episodes and self._n_rows >= CONFIRM_ROWS:
            self.episodes.append(
                Unheard(
                    stream=self._stream,
                    phase=Phase.BACKPROP,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    column=self._signal,
                    share=unheard,
                    is_inverted=True,
                    is_of_words=not self._table.entering("target"),
                )
            )
