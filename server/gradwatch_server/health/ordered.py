"""The rule for labels that come in order: nearly every batch holds one class, and the next batch the same.

A loss that is small by turns says nothing then, and may look as it should. A batch of few classes alone is no order (as
where samples are compared within it), nor are two sides of a game, fed in turn: what counts is that a batch is like the
one before it (von Neumann's ratio of successive differences, 1941: of what is shuffled it is near 1 here, of what is
sorted near 0). Numbers that are no labels may well come in order, as those of a series do.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import (
    Collapsed,
    Flat,
    Ordered,
    Phase,
    Plateau,
    Rate,
    Unrelated,
    Unskilled,
    Vanishing,
)
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.target import KINDS_MIN, SAMPLES_MIN

__all__ = ["COMES_OF_ORDER", "ORDERED_SHARE", "OrderedRule"]

COMES_OF_ORDER: Final = (Collapsed, Flat, Plateau, Rate, Unrelated, Unskilled, Vanishing)
"""What comes of learning one kind after another: outputs that are alike, units that die, a loss that stands, gradients
that fade, and updates that go all one way, and are as large as weights. These have the order among their causes, and
are told in its place."""
ORDERED_SHARE: Final = 0.5
"""Of the labels' variance, what lies between batches at the least: of shuffled ones one part in as many as a batch has
samples. Over 60 healthy trainings it was never a tenth."""
ALIKE_RATIO: Final = 0.3
"""Half the mean square difference of successive batches' means, over the variance of these means, at the most."""
ROWS_MIN: Final = 100
STEPS_MIN: Final = 200
"""Rows, and steps, from which on it is known: a curriculum may begin with one class."""


class OrderedRule:
    """Watches the only integer target of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        targets = [column for column in table.entering("target") if "int" in table.dtypes[column]]
        self._target = targets[0] if len(targets) == 1 else -1
        self._n_rows = 0
        self._first_step = -1
        self._before = np.nan
        self._kinds: set[float] = set()
        self._sums = np.zeros(5)  # of the means, their squares, the variances, the squared differences, the samples
        self.episodes: list[Ordered] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which the target was not looked at say nothing."""
        if self._target < 0:
            return
        names = [COLUMN[name] for name in ("mean", "std", "n_elements")]
        found = block.statistics[:, self._target, names].astype(np.float64)
        for row in np.flatnonzero(np.isfinite(found).all(axis=1) & (found[:, 2] >= SAMPLES_MIN)).tolist():
            mean, spread, n_samples = found[row].tolist()
            step = int(block.steps[row])
            self._first_step = step if self._first_step < 0 else self._first_step
            difference = 0.0 if np.isnan(self._before) else (mean - self._before) ** 2
            self._before = mean
            if len(self._kinds) < KINDS_MIN:
                self._kinds.add(round(mean))
            self._sums += [mean, mean**2, spread**2, difference, n_samples]
            self._n_rows += 1
            self._judge(step)

    def _judge(self, step: int) -> None:
        if self._n_rows < ROWS_MIN or step - self._first_step < STEPS_MIN - 1 or len(self._kinds) < KINDS_MIN:
            return
        total, square, within, difference, n_samples = (self._sums / self._n_rows).tolist()
        between = max(square - total**2, 0.0)
        is_so = between > ORDERED_SHARE * (between + within) and difference / 2 < ALIKE_RATIO * between
        known = self.episodes[-1] if self.episodes else None
        if known is not None:
            known.closed_step = None if is_so else step
            known.last_step, known.n_rows = (step if is_so else known.last_step), self._n_rows
        elif is_so:
            self.episodes.append(
                Ordered(
                    stream=self._stream,
                    phase=Phase.INPUT,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    share=between / (between + within),
                    n_samples=n_samples,
                )
            )
