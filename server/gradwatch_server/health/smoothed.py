"""The rule for depth that makes samples alike: layer after layer they lie closer together, until nothing is left.

A layer that averages over neighbours, as a graph convolution does, moves each sample towards the others, and so does,
more slowly, any layer that begins at random (Li et al. 2018, "Deeper Insights into Graph Convolutional Networks";
Schoenholz et al. 2017, "Deep Information Propagation"). One after the other they leave numbers that are the same for
every sample but for a thousandth. Training may tear them apart again later, and has lost its way by then: what counts
is how they were made. A shortcut keeps the samples apart.
"""

from __future__ import annotations

import itertools
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Phase, Smoothed
from gradwatch_server.health.table import TensorTable

__all__ = ["SmoothedRule"]

LAYERS_MIN: Final = 9
"""Layers with an output, at the least; the last one, which only reads what is left, is none of them."""
APART: Final = 0.05
"""The cosine distance between the samples in the first third of the layers, at the least (the median)."""
ALIKE: Final = 2e-3
"""In the last third, at the most. A plain stack of twelve relus leaves ten times as much."""
FALL: Final = 5.0
"""Times as close, from one third to the next."""
SIGMOIDS_SHARE: Final = 0.5
"""Of the functions, at the most, those whose slope is a quarter at best: gradients fade no less than samples do there,
and that is told."""
ROWS_MIN: Final = 20
STEPS_MIN: Final = 300
"""Rows and steps from which on it is told, if little is learned."""


class SmoothedRule:
    """Compares the layers of one stream as they were made.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._columns = table.activation[:-1]
        functions = [table.functions[int(column)] for column in self._columns]
        if functions.count("sigmoid") > SIGMOIDS_SHARE * sum(one not in (None, "linear") for one in functions):
            self._columns = self._columns[:0]
        self._first_step = -1
        self._n_rows = 0
        self._distances: list[float] | None = None
        """Between samples, behind each layer, in the first row that tells; none where that shows nothing."""
        self.episodes: list[Smoothed] = []

    def feed(self, block: Block) -> None:
        """Takes rows; those in which the layers were not looked at say nothing."""
        if len(self._columns) < LAYERS_MIN or self._distances == []:
            return
        found = block.statistics[:, self._columns, COLUMN["cosine_distance"]].astype(np.float64)
        for row in np.flatnonzero(np.isfinite(found).sum(axis=1) >= LAYERS_MIN).tolist():
            step = int(block.steps[row])
            if self._distances is None:
                self._first_step = step
                self._distances = found[row].tolist() if _are_smoothed(found[row]) else []
            if not self._distances:
                return
            self._n_rows += 1
            self._note(step)

    def _note(self, step: int) -> None:
        if self.episodes:
            self.episodes[-1].last_step, self.episodes[-1].n_rows = step, self._n_rows
        elif self._n_rows >= ROWS_MIN and step - self._first_step >= STEPS_MIN - 1 and self._distances:
            known = [(one, place) for place, one in enumerate(self._distances) if np.isfinite(one)]
            (first, at), (last, end) = known[0], min(known)
            self.episodes.append(
                Smoothed(
                    stream=self._stream,
                    phase=Phase.ACTIVATION,
                    first_step=self._first_step,
                    last_step=step,
                    n_rows=self._n_rows,
                    known_step=step,
                    table=self._table,
                    column=int(self._columns[end]),
                    of_first=int(self._columns[at]),
                    distances=(first, last),
                    n_layers=len(known),
                )
            )


def _are_smoothed(distances: npt.NDArray[np.float64]) -> bool:
    """Whether they fall from third to third of the layers, from what is apart to what is alike."""
    thirds = [float(np.median(part)) for part in np.array_split(distances[np.isfinite(distances)], 3)]
    falls = all(one >= FALL * next_one for one, next_one in itertools.pairwise(thirds))
    return falls and thirds[0] >= APART and thirds[2] <= ALIKE
