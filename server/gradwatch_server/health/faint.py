"""The rule for layers whose output shrinks to next to nothing of what it was: what stands behind is told nothing.

A penalty that outweighs the data does that, on the output itself (a posterior that collapses) or on the weights. A
layer that fades on purpose is rare, and the last one may well come to rest near 0, be it in one of its calls alone (at
the edge of an equation's domain): it is not judged. Where a penalty on the squares of weights is all that their
gradient knows, it is a multiple of the weights themselves: least, largest and mean are the same multiple as the spread,
and in the next row too.
"""

from __future__ import annotations

from collections.abc import Sequence
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
TWIN_FACTOR: Final = 0.25
TWIN_SPREAD: Final = 0.1
"""Of two layers side by side that shrink together, as the mean and the log of the variance of a posterior do where it
collapses onto its prior: how far, and to what spread of both."""
SHRUNK_FACTOR: Final = 1e-2
"""Of the kernels' norm in the first row."""
PENALISED_FACTOR: Final = 0.1
"""The same where the gradient is a multiple of the weights: data that are learned from hold against a penalty."""
MULTIPLE_SLACK: Final = 0.05
"""By how much of the largest weight a multiple of the weights may differ from the gradient, on the average."""
CUT_FACTOR: Final = 0.5
CUT_SHARE: Final = 0.8
"""A norm that falls so far from one step to the next, to weights of which the root mean square is so near to the
largest: they were cut to a bound by hand, as a critic's are."""
MEMORY_ROWS: Final = 10.0
"""Of that average."""
KERNEL_MIN: Final = 32
"""Elements of a kernel whose least, largest, mean and spread are not alike by chance."""

Float = npt.NDArray[np.float64]


class FaintRule:
    """Watches the standard deviation of all outputs but the last layer's of one stream.

    Args:
        stream: the stream's number.
        table: its tensor table.
    """

    def __init__(self, stream: int, table: TensorTable) -> None:
        self._stream, self._table = stream, table
        self._columns = table.hidden
        n = len(self._columns)
        self._early: list[list[float]] = [[] for _ in range(n)]
        self._before = np.full(n, np.nan)
        self._streaks: Streaks[Faint] = Streaks(n)
        self._may_die = np.array([is_dying(table.functions[column]) for column in self._columns], bool)
        kernels = [_find_kernels(table, int(column)) for column in self._columns]
        self._twins = _find_twins(table, self._columns, kernels)
        self._has_kernel = np.array([bool(own) for own in kernels], bool)
        self._kernels = np.array([column for own in kernels for column in own], np.int64)
        self._starts = np.cumsum(np.array([0, *(len(own) for own in kernels if own)], np.int64))[:-1]
        gradients = {int(table.weight_of[p]): int(table.gradient[p]) for p in table.kernels.tolist()}
        pairs = [max(own, key=lambda column: table.n_elements[column], default=-1) for own in kernels]
        self._largest = np.array(pairs, np.int64)
        """Of each layer the largest kernel, and its gradient; -1 for none that is large enough."""
        self._largest[[c < 0 or table.n_elements[c] < KERNEL_MIN for c in pairs]] = -1
        self._gradients = np.array([gradients.get(column, -1) for column in self._largest.tolist()], np.int64)
        self._multiple = np.full(n, np.nan)
        self._slack = np.full(n, np.inf)  # until it is known
        self._first_weight = np.full(n, np.nan)
        self._weight, self._last_step = np.full(n, np.nan), -1
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
        is_low = np.asarray(self._is_low(spread[rows], weights, PENALISED_FACTOR).any(axis=1), bool)
        cuts = self._find_cuts(block, rows, weights)
        for row, weight, is_any in zip(rows.tolist(), weights, is_low.tolist(), strict=True):
            if int(block.steps[row]) in cuts:
                self._begin_anew(weight)
                is_settled = False
            if is_any or not is_settled or self._streaks.current is not None or self._streaks.is_any:
                self._weight = weight
                self._compare(block, row)
                self._step(block, row, spread[row])
        self._weight = weights[-1]

    def _find_cuts(self, block: Block, rows: npt.NDArray[np.int64], weights: Float) -> set[int]:
        """Steps before which kernels were cut by hand."""
        steps, before = block.steps[rows], np.concatenate([self._weight[None], weights[:-1]])
        is_next = np.diff(steps, prepend=self._last_step) == 1
        self._last_step = int(steps[-1])
        fallen = np.flatnonzero(is_next & (weights < CUT_FACTOR * before).any(axis=1))
        if not len(fallen):
            return set()
        names = [COLUMN[name] for name in ("norm", "min", "max")]
        norm, *ends = np.moveaxis(block.statistics[rows[fallen]][:, self._kernels][:, :, names], 2, 0)
        size = np.sqrt(np.array([self._table.n_elements[column] for column in self._kernels], np.float64))
        is_cut = norm >= CUT_SHARE * size * np.abs(ends).max(axis=0)
        return set(steps[fallen[is_cut.any(axis=1)]].tolist())

    def _begin_anew(self, weight: Float) -> None:
        """Forgets what all layers gave before their weights, or those of layers before them, were cut by hand."""
        self._early = [[] for _ in self._early]
        self._before[:] = np.nan
        self._first_weight = weight.copy()

    def _is_low(self, spread: Float, weight: Float, factor: Float | float) -> npt.NDArray[np.bool_]:
        is_faint = (spread > 0) & (spread < FAINT_FACTOR * self._before)
        is_small = (spread > 0) & (spread < TWIN_SPREAD) & (spread < TWIN_FACTOR * self._before)
        is_faint |= (self._twins >= 0) & is_small & is_small[..., self._twins]
        return np.asarray(is_faint | (np.isfinite(spread) & (weight < factor * self._first_weight)))

    def _compare(self, block: Block, row: int) -> None:
        """Takes note of what multiple of a layer's largest kernel its gradient is, and by how much it is not.

        Only of kernels that have shrunk that far.
        """
        places = np.flatnonzero((self._largest >= 0) & (self._weight < PENALISED_FACTOR * self._first_weight))
        if not len(places):
            return
        names = [COLUMN[name] for name in ("std", "mean", "min", "max")]
        gradient = block.statistics[row, self._gradients[places]][:, names].astype(np.float64)
        weight = block.statistics[row, self._largest[places]][:, names].astype(np.float64)
        is_seen = np.isfinite(gradient).all(axis=1) & np.isfinite(weight).all(axis=1)
        is_seen &= (gradient[:, 0] > 0) & (weight[:, 0] > 0)
        places, gradient, weight = places[is_seen], gradient[is_seen], weight[is_seen]
        multiple = gradient[:, 0] / weight[:, 0]
        apart = np.abs(gradient - multiple[:, None] * weight).max(axis=1)
        scale = multiple * np.abs(weight).max(axis=1)
        # What is drawn alike has ends alike; but it is not the same multiple from row to row.
        change = np.abs(multiple / self._multiple[places] - 1)
        slack, known = np.minimum(np.fmax(apart / scale, change), 1.0), self._slack[places]
        self._slack[places] = np.where(np.isinf(known), slack, known + (slack - known) / MEMORY_ROWS)
        self._multiple[places] = multiple

    def _step(self, block: Block, row: int, spread: Float) -> None:
        step = int(block.steps[row])
        for place in np.flatnonzero(np.isnan(self._before) & (spread > 0)).tolist():
            early = self._early[place]
            early.append(float(spread[place]))
            if len(early) == EARLY_ROWS:
                self._before[place] = max(early)
        factor = np.where(self._slack <= MULTIPLE_SLACK, PENALISED_FACTOR, SHRUNK_FACTOR)
        is_low, is_seen = self._is_low(spread, self._weight, factor), np.isfinite(spread)
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
                is_of_weights=bool(known > 0 and self._weight[first] < PENALISED_FACTOR * known),
                multiple=float(self._multiple[first]) if self._slack[first] <= MULTIPLE_SLACK else float("nan"),
            )
        )


def _find_twins(
    table: TensorTable, columns: npt.NDArray[np.int64], kernels: Sequence[Sequence[int]]
) -> npt.NDArray[np.int64]:
    """For each output the place of the one beside it that is a head of the same layer as it is, as alike; -1 for none.

    Two heads have kernels of one shape that are not square: a second layer behind the first would read what that gives.
    """
    twins = np.full(len(columns), -1, np.int64)
    for first in range(len(columns) - 1):
        one, other = (int(column) for column in columns[first : first + 2])
        shapes = {table.shapes[column] for own in kernels[first : first + 2] for column in own}
        is_linear = {table.functions[one], table.functions[other]} <= {None, "linear"}
        is_alike = len(table.shapes[one]) == 2 and table.shapes[one] == table.shapes[other]
        if is_linear and is_alike and len(shapes) == 1 and len(set(next(iter(shapes)))) == 2:
            twins[[first, first + 1]] = first + 1, first
    return twins


def _find_kernels(table: TensorTable, column: int) -> list[int]:
    """The columns of the kernels of an output's layer, or of the cell that the layer repeats."""
    layer = table.layers[column]
    others = {table.layers[other] for other in table.activation} - {layer}
    has_layers = any(other.startswith(f"{layer}/") for other in others)
    found = [
        int(table.weight_of[position])
        for position in table.kernels
        if table.weight_of[position] >= 0
        and (own := table.layer_of_gradient(position)).startswith(layer)
        and (own == layer or (own.startswith(f"{layer}/") and not has_layers))
    ]
    # A GRU has two biases, side by side.
    return [one for one in found if len(found) != 3 or table.shapes[one][0] != 2]
