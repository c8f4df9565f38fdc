"""The rule for layers whose output shrinks to next to nothing of what it was: what stands behind is told nothing.

A penalty that outweighs the data does that, on the output itself (a posterior that collapses) or on the weights. A
layer that fades on purpose is rare, and the last one may well come to rest near 0: it is not judged.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import Faint, Phase
from gradwatch_server.health.streak import Streaks
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.unit import is_dying

__all__ = ["FaintRule"]

EARLY_ROWS: Final = 5
"""Captured rows of which the largest is a layer's own past."""
FAINT_FACTOR: Final = 0.03
"""Of its past. Weight decay and learning change a layer's output by a few times, not thirtyfold."""
SHRUNK_FACTOR: Final = 1e-2
"""Of the kernels' norm in the first row."""

Float = npt.NDArray[np.float64]


class FaintRule:
    """Watches the standard deviation of all outputs but the last of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._columns = table.activation[:-1]
        n = len(self._columns)
        self._early: list[list[float]] = [[] for _ in range(n)]
        self._before = np.full(n, np.nan)
        self._streaks: Streaks[Faint] = Streaks(n)
        layers = [table.layer_of_gradient(position) for position in range(len(table.gradient))]
        self._may_die = np.array([is_dying(table.functions[column]) for column in self._columns], bool)
        kernels = [
            [
                int(table.weight_of[p])
                for p in table.kernels
                if table.weight_of[p] >= 0 and layers[p] == table.layers[column]
            ]
            for column in self._columns
        ]
        self._has_kernel = np.array([bool(own) for own in kernels], bool)
        self._kernels = np.array([column for own in kernels for column in own], np.int64)
        self._starts = np.cumsum(np.array([0, *(len(own) for own in kernels if own)], np.int64))[:-1]
        self._first_weight = np.full(n, np.nan)
        self._weight = np.full(n, np.nan)
        self.episodes = self._streaks.episodes

    def feed(self, block: Block) -> None:
        """Takes rows; one in which no layer was looked at changes nothing."""
        if not len(self._columns):
            return
        spread = block.statistics[:, self._columns, COLUMN["std"]].astype(np.float64)
        rows = np.flatnonzero(np.isfinite(spread).any(axis=1))
        if not len(rows):
            return
        weights = self._read_weights(block, rows)
        is_settled = not np.isnan(self._before).any()
        is_low = np.asarray(self._is_low(spread[rows], weights).any(axis=1), bool)
        for row, weight, is_any in zip(rows.tolist(), weights, is_low.tolist(), strict=True):
            if is_any or not is_settled or self._streaks.current is not None or self._streaks.is_any:
                self._weight = weight
                self._step(block, row, spread[row])
        self._weight = weights[-1]

    def _is_low(self, spread: Float, weight: Float) -> npt.NDArray[np.bool_]:
        is_faint = (spread > 0) & (spread < FAINT_FACTOR * self._before)
        return np.asarray(is_faint | (np.isfinite(spread) & (weight < SHRUNK_FACTOR * self._first_weight)))

    def _step(self, block: Block, row: int, spread: Float) -> None:
        step = int(block.steps[row])
        for place in np.flatnonzero(np.isnan(self._before) & (spread > 0)).tolist():
            early = self._early[place]
            early.append(float(spread[place]))
            if len(early) == EARLY_ROWS:
                self._before[place] = max(early)
        is_low, is_seen = self._is_low(spread, self._weight), np.isfinite(spread)
        # What went on to be exactly 0 did not come back; a sigmoid may just be at its end.
        is_back = is_seen & ~is_low & ((spread > 0) | ~self._may_die)
        is_sure = self._streaks.add(step, is_in=is_seen & (is_low | (self._streaks.n_rows > 0)), is_out=is_back)
        if self._streaks.follow(step):
            if (current := self._streaks.current) is not None:
                current.columns = self._streaks.find_starts(self._columns, np.flatnonzero(is_sure)) | current.columns
        elif is_sure.any():
            self._open(step, np.flatnonzero(is_sure), spread)

    def _read_weights(self, block: Block, rows: npt.NDArray[np.int64]) -> Float:
        """The norm of each layer's kernels in some rows, the last that is known where a row does not tell."""
        found = np.full((len(rows), len(self._columns)), np.nan)
        if len(self._kernels):
            norm = block.statistics[rows][:, self._kernels, COLUMN["norm"]].astype(np.float64)
            # The norm is that of the finite elements: of a kernel that is all NaN it is 0.
            norm[~np.isfinite(norm) | block.is_nonfinite[rows][:, self._kernels]] = np.nan
            found[:, self._has_kernel] = np.sqrt(np.add.reduceat(norm**2, self._starts, axis=1))
        found = np.concatenate([self._weight[None], found])
        is_known = ~np.isnan(found)
        latest = np.maximum.accumulate(np.where(is_known, np.arange(len(found))[:, None], 0), axis=0)
        first = np.take_along_axis(found, is_known.argmax(axis=0)[None], axis=0)[0]
        self._first_weight = np.where(np.isnan(self._first_weight), first, self._first_weight)
        return np.asarray(np.take_along_axis(found, latest, axis=0)[1:])

    def _open(self, step: int, places: npt.NDArray[np.int64], spread: Float) -> None:
        first_step = self._streaks.first_step
        first = int(places[np.argmin(first_step[places])])
        known = self._first_weight[first]
        self._streaks.open(
            Faint(
                stream=self._stream,
                phase=Phase.ACTIVATION,
                first_step=int(first_step[first]),
                last_step=step,
                n_rows=int(self._streaks.n_rows[first]),
                known_step=step,
                table=self._table,
                columns=self._streaks.find_starts(self._columns, places),
                column=int(self._columns[first]),
                before=float(self._before[first]),
                after=float(spread[first]),
                weight_factor=float(self._weight[first] / known) if known > 0 else float("nan"),
                is_of_weights=bool(known > 0 and self._weight[first] < SHRUNK_FACTOR * known),
            )
        )
