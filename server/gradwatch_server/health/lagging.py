"""The rule for running statistics that never arrive: averages over more batches than there were.

In training a batch normalisation divides by the spread of the batch, in evaluation by an average over batches, of
which each batch leaves a known share. After few batches that is what the layer was made with, and what is evaluated is
another network than was trained. What the batches themselves gave is told by how far the average has moved.

Where the batches vary by little, the hundredth part that is left of a variance of 1 may be most of it. Layers after it
may make up for that, or not, and several have it one behind another: it is told where the validation says so too.

Statistics that other batches have gone into before, as those of a pretrained network, are an average of something: of
them nothing is told.

An average that keeps next to nothing of what it was is none: evaluation then uses the last batch, however small. Where
it jumps from look to look, as an average of many batches does not, that is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Lagging, Phase
from gradwatch_server.health.misset import CONFIRM_ROWS
from gradwatch_server.health.table import TensorTable

__all__ = ["MADE_FACTOR", "MADE_SHIFT", "LaggingRule"]

FACTOR: Final = 4.0
"""Between the deviation that evaluation divides by and that of the batches: so much makes another network of it."""
SHIFT: Final = 1.5
"""Deviations of the batches between their mean and the one that evaluation subtracts."""
HALF: Final = 0.5
"""Of the statistics, what the layer was made with at a run's end: from here on these are no average of anything."""
ALIKE: Final = 0.05
"""And then what the whole training and its second half tell of it is the same, to this share."""
MADE_FACTOR: Final = 1.3
MADE_SHIFT: Final = 0.4
"""Then several layers that are off by so much make another network of it."""
MADE_SLACK: Final = 0.25
"""How far a running variance may have been from 1 as the training began, and what the batches tell of it be wrong."""
TOGETHER: Final = 2.0
"""The product of the factors of all layers that are off by a little, where the validation shows it."""
KEPT_MAX: Final = 0.3
"""A momentum up to this leaves most of an average to its last batch."""
JUMP_MIN: Final = 0.01
JUMPS_MIN: Final = 10
"""Between looks: the median change of the running deviation, relative, and how many changes it is of."""
ROWS_MAX: Final = 64
"""Rows that are kept; where there are more, every second one is dropped."""
ROWS_MIN: Final = 3
PAIR: Final = 2
_MEAN, _NORM, _N_ELEMENTS = COLUMN["mean"], COLUMN["norm"], COLUMN["n_elements"]

Float64 = npt.NDArray[np.float64]


class _States(NamedTuple):
    """A layer's running statistics: the columns of mean and variance, and what a batch leaves of them."""

    layer: str
    mean: int
    variance: int
    momentum: float


class _Lag(NamedTuple):
    """How far a layer's statistics are off, as `Lagging` has it."""

    factor: float
    shift: float

    @property
    def times(self) -> float:
        """So many times too large or too small a deviation is."""
        return max(self.factor, 1 / self.factor)

    def is_far(self, left: float) -> bool:
        """Whether it makes another network of what was trained; ``left``: the share of what it was made with."""
        factor, shift = (MADE_FACTOR, MADE_SHIFT) if left >= HALF else (FACTOR, SHIFT)
        return self.times >= factor or self.shift >= shift


class LaggingRule:
    """Watches what the layers of one stream keep beside their weights; says at the end what it found.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._layers = _find_states(table)
        self._columns = [column for states in self._layers for column in (states.mean, states.variance)]
        self._rows: list[tuple[int, Float64]] = []
        self._n_rows = 0
        self._first_step = self._last_step = -1
        self.episodes: list[Lagging] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which weights were not looked at say nothing."""
        if not self._layers or not len(block.steps):
            return
        self._first_step = int(block.steps[0]) if self._n_rows == 0 else self._first_step
        self._n_rows += len(block.steps)
        self._last_step = int(block.steps[-1])
        for row in np.flatnonzero(block.is_captured[:, self._columns].all(axis=1)).tolist():
            self._rows = self._rows[::2] if len(self._rows) >= ROWS_MAX else self._rows
            self._rows.append((int(block.steps[row]), block.statistics[row, self._columns].astype(np.float64)))
        for episode in self.episodes:
            episode.last_step, episode.n_rows = self._last_step, self._n_rows
        if not self.episodes and len(self._rows) > JUMPS_MIN and self._n_rows >= CONFIRM_ROWS:
            found = {states: self._jump(place) for place, states in enumerate(self._layers)}
            jumps = {states: jump for states, jump in found.items() if jump >= JUMP_MIN}
            if jumps:
                worst = max(jumps, key=jumps.__getitem__)
                self._tell(worst, jumps, jump=jumps[worst])

    def _jump(self, place: int) -> float:
        """The median change of a layer's running deviation from look to look, relative; 0 where it keeps enough."""
        if self._layers[place].momentum > KEPT_MAX:
            return 0.0
        variances = np.array([row[1][2 * place + 1][_MEAN] for row in self._rows])
        known = variances[np.isfinite(variances) & (variances > 0)]
        return float(np.median(np.abs(np.diff(np.log(known)))) / 2) if len(known) > JUMPS_MIN else 0.0

    def _tell(self, worst: _States, layers: Iterable[_States], **measured: Any) -> None:
        self.episodes.append(
            Lagging(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=self._first_step,
                last_step=self._last_step,
                n_rows=self._n_rows,
                known_step=self._last_step,
                table=self._table,
                layers=(worst.layer, *(states.layer for states in layers if states is not worst)),
                momentum=worst.momentum,
                **measured,
            )
        )

    def finish(self) -> None:
        """Says that the run has ended."""
        if self.episodes or self._n_rows < CONFIRM_ROWS:
            return
        lags, together = self._lags(is_slight=False), math.nan
        if not lags:
            lags = self._lags(is_slight=True)
            together = math.prod(lag.factor for _, lag in lags)
            if together < TOGETHER:
                return
        worst, lag = max(lags, key=lambda pair: max(pair[1].times, 1 + pair[1].shift))
        self._tell(
            worst,
            [states for states, _ in lags],
            share=self._left(worst.momentum),
            factor=lag.factor,
            shift=lag.shift,
            together=together,
        )

    def _lags(self, *, is_slight: bool) -> list[tuple[_States, _Lag]]:
        found = [(states, self._look(place, is_slight=is_slight)) for place, states in enumerate(self._layers)]
        return [(states, lag) for states, lag in found if lag is not None]

    def _left(self, momentum: float) -> float:
        """The share of statistics that is still what the layer was made with."""
        return float(momentum ** (self._last_step - self._first_step + 1))

    def _look(self, place: int, *, is_slight: bool) -> _Lag | None:
        """How far a layer's statistics are off, by the second half of the training and by all of it; None for not far.

        Steps of several batches, or batches that change, would mislead: then the two do not agree. ``is_slight``: a
        deviation that is too large by a little is far enough.
        """
        rows, momentum = self._rows, self._layers[place].momentum
        if len(rows) < ROWS_MIN:
            return None
        middle = min(rows, key=lambda row: abs(2 * row[0] - rows[0][0] - rows[-1][0]))
        whole, late = (_compare(first, rows[-1], place, momentum) for first in (rows[0], middle))
        if whole is None or late is None or not self._is_as_made(place, whole.factor):
            return None
        if is_slight:
            return late if min(whole.factor, late.factor) >= MADE_FACTOR else None
        left = self._left(momentum)
        is_alike = (whole.factor > 1) == (late.factor > 1)
        is_alike &= left < HALF or abs(np.log(whole.factor / late.factor)) <= ALIKE or whole.times >= FACTOR
        return late if is_alike and whole.is_far(left) and late.is_far(left) else None

    def _is_as_made(self, place: int, factor: float) -> bool:
        """Whether a layer's running variance was 1 before the first batch; ``factor``: as `_compare` has it of all."""
        (step, first), (_, last) = self._rows[0], self._rows[-1]
        variance, left = 2 * place + 1, self._layers[place].momentum ** (step - self._first_step + 1)
        of_batches = (1 - left) * last[variance][_MEAN] / factor**2
        return bool(abs(first[variance][_MEAN] - of_batches - left) <= MADE_SLACK * (left + of_batches))


def _compare(first: tuple[int, Float64], last: tuple[int, Float64], place: int, momentum: float) -> _Lag | None:
    """What evaluation uses at the last row, beside what the batches between the two gave.

    An average v that each batch moves by 1 - m of the way to its own is, n batches later, m^n v + (1 - m^n) b: of two
    rows follows b. None where no variance can have been so.
    """
    left = momentum ** (last[0] - first[0])
    (mean, variance), (mean_then, variance_then) = (row[1][2 * place : 2 * place + 2] for row in (last, first))
    given = (variance[_MEAN] - left * variance_then[_MEAN]) / (1 - left) if left < 1 else np.nan
    if not (given > 0 and variance[_MEAN] > 0):
        return None
    # The norm of a difference is no less than the difference of norms.
    missing = abs(mean[_NORM] - mean_then[_NORM]) / np.sqrt(mean[_N_ELEMENTS]) * left / (1 - left)
    return _Lag(float(np.sqrt(variance[_MEAN] / given)), float(missing / np.sqrt(given)))


def _find_states(table: TensorTable) -> list[_States]:
    """The layers of which it is known what a batch leaves of their running mean and variance."""
    columns: dict[str, list[int]] = {}
    for column in np.flatnonzero(table.momenta > 0).tolist():
        columns.setdefault(table.layers[column], []).append(column)
    pairs = [(layer, own) for layer, own in columns.items() if len(own) == PAIR]
    return [_States(layer, own[0], own[1], float(table.momenta[own[0]])) for layer, own in pairs]
