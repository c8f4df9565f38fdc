"""The rule for gradients that are exactly zero, row after row: units that died, or a path that is cut.

Where what should come back cancels out, as behind a softmax over an axis of length one, rounding is left of it: in
float32 a tenth of a millionth of the rest. That is nothing either, if what stands before it gets a gradient by another
way; a signal that fades from layer to layer leaves nothing for those before. Or if it is all that a layer of scores
gets, one for each item, while the layers after it have a usual gradient: no single layer fades that far.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.episode import EPISODES_LIMIT, Phase, Zero
from gradwatch_server.health.setup import Setup
from gradwatch_server.health.slip import is_single
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.unit import RECTIFYING

__all__ = ["CONFIRM_ROWS", "ZeroRule"]

PLAIN: Final = (None, "linear")
"""Functions of a layer that give 0 for 0 alone, as far as it is known."""
CONFIRM_ROWS: Final = 100
"""Consecutive rows. An embedding of a rare feature is idle for some batches, hardly for a hundred; the finding is a
warning. Of rows in which no kernel at all has a gradient, each other row takes one back."""

OUTWEIGHED: Final = 1e-4
"""The norm of a gradient from which on it is that of another term of the loss, and the whole is large beside it."""
ROUNDING_SHARE: Final = 1.2e-7
"""Of the whole gradient: the distance between float32's 1 and the next number."""
LIVE_SHARE: Final = 1e-3
"""Of the whole gradient: a kernel with more is reached."""


def _is_bias(position: int, table: TensorTable) -> bool:
    """Whether a variable has a number for each unit of a kernel of its layer: of an attention's, for each head's."""
    column = int(table.gradient[position])
    shape, layer = table.shapes[column], table.layers[column]
    others = (int(other) for other in table.gradient.tolist() if other != column and table.layers[int(other)] == layer)
    kernels = [table.shapes[other] for other in others if len(table.shapes[other]) >= max(len(shape), 2)]
    if len(shape) == 2 and shape[0] == 2 and len(kernels) > 1:  # a GRU has two, side by side
        return any(kernel[-1] == shape[-1] for kernel in kernels)
    return any(kernel[-len(shape) :] == shape for kernel in kernels if len(kernel) > len(shape) > 0)


class ZeroRule:
    """Watches the kernels' gradients of one stream (a bias may be zero by symmetry).

    Args:
        stream: the stream's number.
        table: its tensor table.
        setup: how the training is set up.
    """

    def __init__(self, stream: int, table: TensorTable, setup: Setup) -> None:
        n = len(table.kernels)
        self._is_of_single = any(map(is_single, setup.slips))
        self._is_of_several = len(table.entering("target")) > 1
        self._stream, self._table = stream, table
        self._run = np.zeros(n, np.int64)
        self._run_step = np.full(n, -1, np.int64)
        self._live_step = np.full(n, -1, np.int64)
        # Rows in which every kernel's gradient is zero, less the others, since that began; and how many of each.
        self._idle = self._n_idle = self._n_since = 0
        self._idle_step = -1
        self._first_step: int | None = None
        """That of the first update: before it weights may be 0 by design, and nothing passes them."""
        self._current: Zero | None = None
        self._layers = [table.layers[column] for column in table.gradient[table.kernels]]
        names, self._layer_of = np.unique(self._layers, return_inverse=True)
        self._is_in_layer = self._layer_of[:, None] == np.arange(len(names))
        shapes = [table.shapes[column] for column in table.gradient[table.kernels]]
        self._gives_scores = np.array([len(shape) > 1 and shape[-1] == 1 for shape in shapes], bool)
        self._is_unread = np.zeros(n, bool)
        """Whether the kernel's layer gave something, of which the loss took nothing, when that was last looked at."""
        self._output: tuple[float, float] | None = None
        self._closed = ""
        """The last layer, where its own relu gave nothing but 0 when last looked at, and no other layer did."""
        self._blank = ""
        """The first layer whose whole output was 0 and that has no function which kills units, when last looked at."""
        self._trained = np.array(
            [p for p in np.flatnonzero(table.weight_of >= 0).tolist() if not _is_bias(p, table)], int
        )
        self._zero_weights: tuple[int, ...] = ()
        """Variables that are no biases, hold nothing but zeros and get no gradient, when that was last looked at."""
        self.episodes: list[Zero] = []

    def reached(self) -> dict[str, int]:
        """The kernels that have had a gradient, and the first step in which they had."""
        places = np.flatnonzero(self._live_step >= 0).tolist()
        return {self._table.name_gradient(int(self._table.kernels[p])): int(self._live_step[p]) for p in places}

    def feed(self, block: Block) -> None:
        """Takes rows; a missing or non-finite gradient is not a zero one."""
        if not len(self._table.kernels):
            return
        if self._first_step is None and block.is_update.any():
            self._first_step = int(block.steps[block.is_update.argmax()])
        columns = self._table.gradient[self._table.kernels]
        norm = block.statistics[:, columns, COLUMN["norm"]]
        is_zero = (norm == 0) | self._find_rounding(norm, block.global_norm[:, None])
        is_zero &= ~block.is_nonfinite[:, columns] & ~block.is_missing[:, self._table.kernels]
        if (self._live_step < 0).any():
            live = norm > 0
            is_first = (self._live_step < 0) & live.any(axis=0)
            self._live_step[is_first] = block.steps[live.argmax(axis=0)[is_first]]
        if self._current is None and not is_zero.any():
            self._run[:] = 0
            self._idle = max(self._idle - len(is_zero), 0)
            self._n_since += len(is_zero)
            return
        for row, step in enumerate(block.steps.tolist()):
            if self._first_step is None or step < self._first_step:
                continue
            self._look_behind(block, row)
            self._look_for_zeros(block, row)
            whole, is_scaled = float(block.global_norm[row]), bool(block.is_scaled[row])
            self._step(step, is_zero[row], block.gradient_norm[row], whole, is_scaled=is_scaled)

    def _find_rounding(self, norm: npt.NDArray[np.float32], whole: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """``[n, n_kernels]`` whether rounding alone is left of all of a layer's kernels, and one before it is reached.

        Where another kernel of the layer has a gradient, the layer is read: attention does not see what is added to
        all its keys alike, so that their bias, which has two axes, never has a gradient.
        """
        is_left: npt.NDArray[np.bool_] = norm < ROUNDING_SHARE * whole
        if not is_left.any():
            return is_left
        is_live = norm > LIVE_SHARE * whole
        is_reached = np.maximum.accumulate(is_live, axis=1)
        is_read = ~is_left @ self._is_in_layer
        is_left &= ~is_read[:, self._layer_of]
        return np.asarray(is_left & (is_reached | self._is_before_scores(is_left, is_live)))

    def _is_before_scores(
        self, is_left: npt.NDArray[np.bool_], is_live: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.bool_]:
        """``[n, n_kernels]`` whether a kernel is that of a layer of scores, or before one, and the next one is live."""
        is_followed = np.concatenate([is_live[:, 1:], np.zeros((len(is_live), 1), bool)], axis=1)
        of_scores = is_left & self._gives_scores & is_followed
        return np.asarray(np.maximum.accumulate(of_scores[:, ::-1], axis=1)[:, ::-1])

    def _look_behind(self, block: Block, row: int) -> None:
        """Notes of which layers' outputs nothing is read. A layer that gives only zeros died, and cuts others off."""
        table = self._table
        output = block.statistics[row, table.activation, COLUMN["norm"]]
        signal = block.statistics[row, table.backprop, COLUMN["norm"]]
        if np.isnan(output).all():
            return
        first = next(iter(table.activation[output == 0].tolist()), None)
        self._blank = table.layer_of(first) if first is not None and table.functions[first] in PLAIN else ""
        is_last = first is not None and first == table.activation[-1] and table.functions[first] in RECTIFYING
        self._closed = table.layer_of(first) if first is not None and is_last else ""
        if not len(signal) or np.isnan(signal).all():
            return
        read = {table.layers[column] for column in table.backprop[signal != 0]}
        silent = {table.layers[column] for column in table.backprop[signal == 0]} - read
        is_any_dead = bool((output == 0).any())
        self._is_unread = np.array([not is_any_dead and layer in silent for layer in self._layers])
        self._output = None
        if len(output) and output[-1] > 0 and signal[-1] == 0:
            low, high = block.statistics[row, table.activation[-1], [COLUMN["min"], COLUMN["max"]]].tolist()
            self._output = low, high

    def _look_for_zeros(self, block: Block, row: int) -> None:
        weight = block.statistics[row, self._table.weight_of[self._trained], COLUMN["norm"]]
        if not np.isnan(weight).all():
            gradient = block.statistics[row, self._table.gradient[self._trained], COLUMN["norm"]]
            self._zero_weights = tuple(self._trained[(weight == 0) & (gradient == 0)].tolist())

    def _step(
        self, step: int, is_zero: npt.NDArray[np.bool_], norm: npt.NDArray[np.float64], whole: float, *, is_scaled: bool
    ) -> None:
        self._run_step[is_zero & (self._run == 0)] = step
        self._run = np.where(is_zero, self._run + 1, 0)
        is_dead = self._run >= CONFIRM_ROWS
        self._count_idle(step, is_idle=bool(is_zero.all()))
        # What was zero in every row ends with the first that has a gradient.
        is_held = self._current is not None and self._current.share < 1 and self._idle > 0
        is_idle = is_held or (self._current is None and self._idle >= CONFIRM_ROWS)
        if not (is_dead.any() or is_idle):
            if self._current is not None:
                self._current.closed_step = step
                self._current = None
                self._idle = 0
            return
        if self._current is None:
            if len(self.episodes) >= EPISODES_LIMIT:
                return
            self._open(step, is_dead, norm, whole, is_scaled=is_scaled)
        if self._current is not None:
            self._current.last_step = step
            self._current.n_rows += 1
            for place in np.flatnonzero(self._run == CONFIRM_ROWS):
                position = int(self._table.kernels[place])
                self._current.positions.setdefault(position, int(self._run_step[place]))

    def _count_idle(self, step: int, *, is_idle: bool) -> None:
        if is_idle and self._idle == 0:
            self._idle_step, self._n_idle, self._n_since = step, 0, 0
        self._idle = min(self._idle + 1, 2 * CONFIRM_ROWS) if is_idle else max(self._idle - 1, 0)
        self._n_idle += is_idle
        self._n_since += 1

    def _open(
        self, step: int, is_dead: npt.NDArray[np.bool_], norm: npt.NDArray[np.float64], whole: float, *, is_scaled: bool
    ) -> None:
        dead = self._table.kernels[is_dead]
        bias = self._table.bias_of[dead]
        fed_zeros = dead[(norm[dead] == 0) & (bias >= 0) & (norm[bias] > 0)]
        share = 1.0 if len(dead) else self._n_idle / self._n_since
        positions = {} if len(dead) else dict.fromkeys(self._table.kernels.tolist(), self._idle_step)
        first_step = int(self._run_step[is_dead].min()) if len(dead) else self._idle_step
        left = float(norm[dead].max(initial=0.0))
        self._current = Zero(
            stream=self._stream,
            phase=Phase.GRADIENT,
            first_step=first_step,
            last_step=step,
            n_rows=CONFIRM_ROWS - 1,
            known_step=step,
            table=self._table,
            positions=positions,
            is_first_row=first_step == self._first_step,
            fed_zeros=int(fed_zeros[-1]) if len(fed_zeros) else -1,
            live_size=self._find_live_size(norm, is_dead),
            unread=tuple(self._table.kernels[is_dead & self._is_unread].tolist()),
            share=share,
            rounding=left / whole if whole > 0 else 0.0,
            is_outweighed=self._is_of_several and left > OUTWEIGHED,
            output=self._output,
            zero_weights=self._zero_weights,
            blank=self._blank,
            closed=self._closed,
            is_of_single=self._is_of_single,
            is_unscaled=self._table.is_half and not is_scaled and bool((norm[self._table.kernels] > 0).any()),
        )
        self.episodes.append(self._current)

    def _find_live_size(self, norm: npt.NDArray[np.float64], is_dead: npt.NDArray[np.bool_]) -> float:
        kernels = self._table.kernels[~is_dead & (norm[self._table.kernels] > 0)]
        sizes = norm[kernels] / np.sqrt(self._table.n_elements[self._table.gradient[kernels]])
        return float(sizes.max()) if len(sizes) else float("nan")
