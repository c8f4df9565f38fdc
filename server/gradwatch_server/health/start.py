"""How a run starts: how far its inputs reach, and how the spread of the outputs changes from layer to layer.

Read once, off the first rows that hold it; judges nothing. What goes wrong later is often decided there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.operation_table import EXPONENTIALS, OPERATION_COLUMN, Operation
from gradwatch_server.health.table import TensorTable
from gradwatch_server.health.unit import are_classes, are_marked, are_signs, largest_input, largest_target, widest_input

__all__ = ["SQUARE_MAX", "Beyond", "Mute", "Start", "read_kernels"]

SAME_DISTANCE: Final = 1e-6
"""Mean cosine distance between samples of which rounding makes the most."""
ROUNDING: Final = 3e-7
"""Of what goes in: less than that comes out where numbers cancel to the last digit. A scale of 1e-6 is meant."""
FELT: Final = 0.01
"""The least and, by its inverse, the largest root mean square of a layer that is neither faint nor out of scale."""
SAMPLES_MIN: Final = 4
"""Samples in a batch, to be called all alike."""
SQUARE_MAX: Final = 1.8e19
"""The square of anything beyond is infinite in float32."""
FAR_FACTOR: Final = 300.0
"""Times the largest input, or 1: a state of that size has grown from step to step of the sequence."""
FAR_EXPONENTIAL: Final = 1e9
"""An exponential beyond is no variance, weight or rate of anything that is scaled."""
MUTE_ROWS: Final = 2
"""Rows in which it must be so: what begins at 0 may leave it with the first step."""
STEP_SHARE: Final = 0.01
"""Of a constant, what the first step may have changed already."""
_BOUNDED = frozenset({"softmax", "sigmoid", "hard_sigmoid", "tanh", "hard_tanh", "softsign"})
"""Functions that give their own spread to whatever comes in."""


class Mute(NamedTuple):
    """A layer whose output was the same for every sample: one before the first kernel, or a last state.

    Attributes:
        layer: the layer.
        width: the length of the last axis of its output.
        is_zero: whether that was 0 throughout.
        is_state: whether it is the last state of a recurrent layer.
    """

    layer: str
    width: int
    is_zero: bool
    is_state: bool


class Beyond(NamedTuple):
    """A layer whose output was too large for its square.

    Attributes:
        layer: the layer.
        largest: the largest |value| that it gave.
        is_recurrent: whether it is the last state of a recurrent layer.
        is_own: whether that has a cell of the user's own.
    """

    layer: str
    largest: float
    is_recurrent: bool
    is_own: bool = False


@dataclass
class Start:
    """What the first rows say.

    Attributes:
        largest_input: the largest |value| that entered the model, NaN while not looked at.
        widest_input: the input that holds it, where there are several; "" elsewhere.
        zero_share: of sequences of whole numbers, the share that were 0; NaN while not looked at, or for none.
        largest_target: the largest |value| of the targets that are no classes, NaN while not looked at, or for none.
        are_signs: whether the targets are nothing but -1 and 1.
        are_marked: whether some of them are nothing but -1, 0 and 1, as labels are where -1 stands for none.
        are_classes: whether they may be the numbers of more than two classes.
        ratio: the variance of one layer's output over that of the layer before, where it differs most; NaN while not
            looked at.
        layer: that layer.
        previous: and the one before it.
        n_samples: samples in the first batch, by its first input; 0 while not looked at.
        kernel_norm: the norm of all kernels when they were first read and finite; NaN while they were not.
        shrunk: the least variance of any layer's output over that of the first layer's, or over 1 where that is less:
            what was far out of scale may well shrink; NaN while not looked at.
        grown: the largest variance of any layer's output over that of the first layer's, or over 1 where that is less.
        mute: the layer behind which nothing was left of the sample, in the first rows; None for none.
        levelled: the first layer that gave rounding errors alone, where the one before it did not, and that one; None
            for none.
        beyond: the first layer whose output, of finite numbers, has an infinite square; None for none.
        far: the first recurrent layer whose state grew far beyond all that entered the model; None for none.
        prepared: the last layer before the first kernel, "" for none.
        pooling: the layer that makes one vector of a vector for each place; None for none.
        recurrent: of the kernels that take a recurrent layer's own units the name of the one with the largest numbers,
            and by how much these multiply a state: their root mean square times the root of the units; None for none.
        lifted: how many biases began at one and the same number other than 0, the layer of the first, and the number;
            None for none.
        has_lone_norm: whether a layer normalises by its batch, and got a single number for each of its units.
        steep: the exponential of the forward pass that gave the largest number, where that was astronomical, and that
            number; None for none.
    """

    largest_input: float = float("nan")
    widest_input: str = ""
    zero_share: float = float("nan")
    largest_target: float = float("nan")
    are_signs: bool = False
    are_marked: bool = False
    are_classes: bool = False
    ratio: float = float("nan")
    layer: str = ""
    previous: str = ""
    n_samples: int = 0
    kernel_norm: float = float("nan")
    shrunk: float = float("nan")
    grown: float = float("nan")
    mute: Mute | None = None
    levelled: tuple[str, str] | None = None
    beyond: Beyond | None = None
    far: Beyond | None = None
    prepared: str = ""
    pooling: str | None = None
    recurrent: tuple[str, float] | None = None
    lifted: tuple[int, str, float] | None = None
    has_lone_norm: bool = False
    steep: tuple[Operation, float] | None = None
    _n_looked: int = 0
    _are_known: bool = False

    def feed(self, block: Block, operations: Sequence[Operation]) -> None:
        """Takes rows; the first that hold what is asked for count, and no later ones.

        Args:
            block: the rows.
            operations: the stream's risky ones.
        """
        table = block.table
        if operations and not self._are_known:
            slopes = block.operations[:, :, OPERATION_COLUMN["amplification"]].astype(np.float64)
            for row in np.flatnonzero(~np.isnan(slopes).all(axis=1))[:1].tolist():
                self._are_known, self.steep = True, _find_steep(slopes[row], operations)
        if not self.n_samples and np.isnan(self.largest_input) and len(table.input):
            seen = np.flatnonzero(block.is_captured[:, table.input].any(axis=1))
            if len(seen):
                self.largest_input = largest_input(block, int(seen[0]), table)
                self.widest_input = widest_input(block, int(seen[0]), table)
                self.largest_target = largest_target(block, int(seen[0]), table)
                self.are_signs = are_signs(block, int(seen[0]), table)
                self.are_marked = are_marked(block, int(seen[0]), table)
                self.are_classes = are_classes(block, int(seen[0]), table)
                self.n_samples = _count_samples(block, int(seen[0]), table)
                self.zero_share = _share_zeros(block, int(seen[0]), table)
        if self._n_looked < MUTE_ROWS and len(table.activation) > 1:
            seen = np.flatnonzero(block.is_captured[:, table.activation].all(axis=1))
            for row in seen[: MUTE_ROWS - self._n_looked].tolist():
                self._look(block, row, table)
        if np.isnan(self.kernel_norm):
            self.recurrent = _find_recurrent(block, table)
            self.lifted = _find_lifted(block, table)
            _, norms = read_kernels(block)
            self.kernel_norm = float(next(iter(norms[np.isfinite(norms)]), np.nan))

    def _compare(self, block: Block, row: int, table: TensorTable) -> None:
        columns = [column for column in table.activation if table.functions[column] not in _BOUNDED]
        variance = np.square(block.statistics[row, columns, COLUMN["std"]].astype(np.float64))
        known = (variance[:-1] > 0) & (variance[1:] > 0) & np.isfinite(variance[:-1]) & np.isfinite(variance[1:])
        if not known.any():
            return
        distance = np.where(
            known, np.abs(np.log(np.where(known, variance[1:], 1) / np.where(known, variance[:-1], 1))), 0
        )
        is_seen = (variance > 0) & np.isfinite(variance)
        self.shrunk = float(variance[is_seen].min() / min(variance[is_seen][0], 1.0))
        self.grown = float(variance[is_seen].max() / max(variance[is_seen][0], 1.0))
        place = int(np.argmax(distance))
        self.ratio = float(variance[place + 1] / variance[place])
        self.layer, self.previous = table.names[columns[place + 1]], table.names[columns[place]]

    def _look(self, block: Block, row: int, table: TensorTable) -> None:
        """Takes one of the first rows in which every layer was looked at."""
        if self._n_looked == 0:
            self._compare(block, row, table)
            self.has_lone_norm = _has_lone_norm(block, row, table)
            self.levelled = _find_levelled(block, row, table)
            self.beyond = _find_beyond(block, row, table, SQUARE_MAX)
            self.prepared = table.layer_of(table.prepared[-1]) if table.prepared else ""
            self.pooling = table.find_pooling()
            self.far = _find_far(block, row, table, self.largest_input)
        found = self._find_mute(block, row, table)
        self.mute = found if self._n_looked == 0 or found == self.mute else None
        self._n_looked += 1

    def _find_mute(self, block: Block, row: int, table: TensorTable) -> Mute | None:
        """Finds the first layer that lets nothing of the sample through, where all that come after tell none apart."""
        names = ("norm", "std", "cosine_distance")
        norm, std, distance = (block.statistics[row, table.activation, COLUMN[name]] for name in names)
        is_same = (norm == 0) | (std == 0) | (distance <= SAME_DISTANCE)
        is_apart = ~is_same & np.isfinite(distance)
        places = np.flatnonzero(is_same)
        if not len(places) or is_apart[places[0] :].any() or (self.n_samples and self.n_samples < SAMPLES_MIN):
            return None
        column = int(table.activation[places[0]])
        layer, is_zero = table.layer_of(column), bool(norm[places[0]] == 0)
        is_state = bool(places[0] > 0) and not is_zero and table.is_recurrent(layer)
        # A layer behind a kernel may well be at the mercy of that.
        if not is_state and column not in table.prepared:
            return None
        return Mute(layer, (table.shapes[column] or (0,))[-1], is_zero, is_state)


def _find_steep(slopes: npt.NDArray[np.float64], operations: Sequence[Operation]) -> tuple[Operation, float] | None:
    """The exponential, if any, that gave an astronomical number: its slope is what it gives."""
    forward = [one for one in operations if one.type in EXPONENTIALS and slopes[one.place] > FAR_EXPONENTIAL]
    largest = max(forward, key=lambda one: float(slopes[one.place]), default=None)
    return None if largest is None else (largest, float(slopes[largest.place]))


def _find_recurrent(block: Block, table: TensorTable) -> tuple[str, float] | None:
    columns = [int(column) for column in table.weight_of[table.recurrent] if column >= 0]
    rows = np.flatnonzero(block.is_captured[:, columns].all(axis=1))
    if not columns or not len(rows):
        return None
    norms = block.statistics[rows[0], columns, COLUMN["norm"]].astype(np.float64)
    gains = norms / np.sqrt([table.shapes[column][-1] for column in columns])
    place = int(np.argmax(np.nan_to_num(gains)))
    return table.names[columns[place]], float(gains[place])


def _find_lifted(block: Block, table: TensorTable) -> tuple[int, str, float] | None:
    biases = table.bias_of[table.kernels]
    columns = table.weight_of[biases[biases >= 0]]
    columns = columns[columns >= 0]
    rows = np.flatnonzero(block.is_captured[:, columns].all(axis=1))
    if not len(columns) or not len(rows):
        return None
    low, high = block.statistics[rows[0], columns][:, [COLUMN["min"], COLUMN["max"]]].astype(np.float64).T
    largest = np.maximum(np.abs(low), np.abs(high))
    is_same = (largest > 0) & (high - low <= STEP_SHARE * largest)
    if not is_same.any():
        return None
    alike = is_same & (np.abs(low - low[:, None]) <= STEP_SHARE * largest[:, None])  # a row for each number
    most = int(np.argmax(np.where(is_same, alike.sum(axis=1), 0)))
    return int(alike[most].sum()), table.layer_of(int(columns[alike[most]][0])), float(low[most])


def _share_zeros(block: Block, row: int, table: TensorTable) -> float:
    """Of the inputs of whole numbers, ``[n, length]``, the largest share of zeros."""
    shapes = ((column, table.shapes[column]) for column in table.entering("index"))
    columns = [column for column, shape in shapes if len(shape) == 2 and shape[1] != 1]
    found = block.statistics[row, columns][:, [COLUMN["n_zero"], COLUMN["n_elements"]]].astype(np.float64)
    n_zero, size = found[found[:, 1] > 0].T
    return float((n_zero / size).max(initial=-np.inf)) if len(size) else math.nan


def _find_levelled(block: Block, row: int, table: TensorTable) -> tuple[str, str] | None:
    columns = table.activation
    norm, size = (block.statistics[row, columns, COLUMN[name]].astype(np.float64) for name in ("norm", "n_elements"))
    reach = norm / np.sqrt(np.maximum(size, 1.0))
    is_so = (reach[1:] > 0) & (reach[1:] <= ROUNDING * reach[:-1]) & (reach[:-1] >= FELT) & (reach[:-1] <= 1 / FELT)
    is_so &= size[1:] < size[:-1]  # the mean of several numbers is fewer
    for place in np.flatnonzero(is_so)[:1].tolist():
        return table.layer_of(int(columns[place + 1])), table.layer_of(int(columns[place]))
    return None


def _find_beyond(block: Block, row: int, table: TensorTable, limit: float) -> Beyond | None:
    """The first layer whose output has an element beyond a limit."""
    ends = np.abs(block.statistics[row, table.activation][:, [COLUMN["min"], COLUMN["max"]]].astype(np.float64))
    for place in np.flatnonzero((ends > limit).any(axis=1))[:1].tolist():
        layer = table.layer_of(int(table.activation[place]))
        return Beyond(layer, float(ends[place].max()), table.is_recurrent(layer), is_own=table.has_own_cell(layer))
    return None


def _find_far(block: Block, row: int, table: TensorTable, largest: float) -> Beyond | None:
    if not math.isfinite(largest):
        return None
    found = _find_beyond(block, row, table, FAR_FACTOR * max(largest, 1.0))
    return found if found is not None and found.is_recurrent else None  # of others what they were given may be to blame


def _has_lone_norm(block: Block, row: int, table: TensorTable) -> bool:
    normalised = {table.layers[column] for column in table.states.tolist()}
    columns = [c for c in table.activation.tolist() if table.layers[c] in normalised and table.shapes[c]]
    n_elements = block.statistics[row, columns, COLUMN["n_elements"]].tolist()
    return any(n == table.shapes[c][-1] > 0 for n, c in zip(n_elements, columns, strict=True))


def _count_samples(block: Block, row: int, table: TensorTable) -> int:
    column = int(table.input[0])
    n_elements, shape = float(block.statistics[row, column, COLUMN["n_elements"]]), table.shapes[column]
    a_sample = math.prod(shape[1:])
    return int(n_elements / a_sample) if shape and a_sample and np.isfinite(n_elements) else 0


def read_kernels(block: Block) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The steps at which the kernels were read, and the norm of all, NaN where not all were finite."""
    kernels = block.table.weight_of[block.table.kernels]
    return block.read_norm(kernels[kernels >= 0])
