"""What a model is to give: its targets, beside the last layer's output, and from batch to batch. Judges nothing."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from gradwatch_server.health.block import COLUMN, Block
from gradwatch_server.health.table import TensorTable

__all__ = ["TWO_VALUES", "TargetOrder", "TargetSpread", "are_labels", "find_heads", "find_target"]

ROWS_MIN: Final = 8
"""Captured rows from which on the variance over all of them is known."""
GIVEN_SHARE: Final = 0.1
"""Of the variance of the input that a model is to give back: one that has learned anything gives more."""
NEAR_SHARE: Final = 0.04
"""Of the targets' mean square, that of outputs that are still near 0: a fifth of them in size."""
TWO_VALUES: Final = 1e-3
"""Labels of 0 and 1 have a variance of p (1 - p), to this share: what is learned of them is no mean."""

KINDS_MIN: Final = 3
"""Labels that fill whole batches, from which on they are classes in order: real and false ones are two."""
ORDER_ROWS_MIN: Final = 20
"""Captured rows from which on the share that lies between batches is known."""
SAMPLES_MIN: Final = 4
"""Samples in a batch below which it says nothing of the order: one is always like itself."""


Float64 = npt.NDArray[np.float64]


def are_labels(low: Float64, high: Float64, mean: Float64, std: Float64) -> npt.NDArray[np.bool_]:
    """``[n]`` whether batches with these statistics hold nothing but 0 and 1, whose variance is p (1 - p)."""
    return np.asarray((low >= 0) & (high <= 1) & (np.abs(np.square(std) - mean * (1 - mean)) <= TWO_VALUES))


def find_target(table: TensorTable) -> tuple[int, int]:
    """The columns of the only target (that is floating, if any is) and of the last layer's output; -1 for none."""
    every = table.entering("target")
    targets = [column for column in every if "int" not in table.dtypes[column]] or every
    output = int(table.activation[-1]) if len(table.activation) else -1
    return (targets[0] if len(targets) == 1 else -1), output


def find_heads(table: TensorTable) -> list[tuple[int, int]]:
    """The columns of a target and of the output that is to meet it: of several where it is known which that is.

    A target that stands under a key is met by the layer of that name.
    """
    targets = table.entering("target")
    if len(targets) < 2:
        return [find_target(table)]
    found = ((target, table.held_to(table.names[target], table.activation)) for target in targets)
    return [(target, outputs[-1]) for target, outputs in found if outputs] or [find_target(table)]


class TargetSpread:
    """The variance of one stream's targets, over all rows in which there are as many of them as outputs.

    A model that has no targets, and gives as many numbers as enter it, is to give its input back. That is known of it
    only while what it gives hardly varies: a loss that by chance is as large as the variance then says nothing else.

    Args:
        table: the stream's tensor table.

    Attributes:
        is_other_rank: whether targets and outputs have another number of dimensions: ``[n]`` and ``[n, 1]``.
        is_of_input: whether it is the variance of the input that is to be given back.
        is_constant: whether all targets so far were one number: no labels, but what a player wants to hear.
    """

    def __init__(self, table: TensorTable) -> None:
        self._target, self._output = find_target(table)
        inputs = table.entering("input")
        self.is_of_input = not table.entering("target") and len(inputs) == 1
        if self.is_of_input:
            self._target = inputs[0]
        self._given = self._given_square = math.nan
        """The variance and the mean square of the outputs in the last row that tells them."""
        self._low, self._high = math.inf, -math.inf
        shapes = [table.shapes[column] for column in (self._target, self._output) if column >= 0]
        self.is_other_rank = len(shapes) == 2 and len(shapes[0]) != len(shapes[1])
        self._n_rows = 0
        self._mean = self._square = 0.0
        self._is_label = True
        self.is_constant = False
        self._constant = math.nan

    def feed(self, block: Block) -> None:
        """Takes rows; those in which target and output were not both looked at say nothing."""
        if self._target < 0 or self._output < 0:
            return
        names = [COLUMN[name] for name in ("min", "max", "mean", "std", "n_elements")]
        found = block.statistics[:, self._target, names].astype(np.float64)
        if not self.is_of_input:
            self._look_for_constant(found[np.isfinite(found).all(axis=1)])
        n_given = block.statistics[:, self._output, COLUMN["n_elements"]]
        found = found[np.isfinite(found).all(axis=1) & (found[:, 4] == n_given)]
        if not len(found):
            return
        low, high, mean, std, _ = found.T
        given = block.statistics[:, self._output, [COLUMN["std"], COLUMN["mean"]]].astype(np.float64)
        for spread, middle in given[np.isfinite(given).all(axis=1)][-1:].tolist():
            self._given, self._given_square = spread**2, spread**2 + middle**2
        self._low, self._high = min(self._low, float(low.min())), max(self._high, float(high.max()))
        self._n_rows += len(found)
        self._mean += float(mean.sum())
        self._square += float((np.square(std) + np.square(mean)).sum())
        self._is_label &= bool(are_labels(low, high, mean, std).all())

    def _look_for_constant(self, found: npt.NDArray[np.float64]) -> None:
        if not len(found):
            return
        if math.isnan(self._constant):
            self._constant, self.is_constant = float(found[0, 0]), True
        self.is_constant &= bool((found[:, :2] == self._constant).all())

    @property
    def mean_square(self) -> float:
        """The mean square of all targets together; NaN where it is not known."""
        return self._square / self._n_rows if self._n_rows >= ROWS_MIN else math.nan

    @property
    def mean_size(self) -> float:
        """The mean |value| of all targets, where they lie to one side of 0 and the outputs near it; NaN elsewhere."""
        is_near = self._given_square <= NEAR_SHARE * self.mean_square
        is_aside = self._low > 0 or self._high < 0
        return abs(self._mean / self._n_rows) if is_near and is_aside and not self.is_of_input else math.nan

    @property
    def variance(self) -> float:
        """The variance of all targets together; NaN where it is not known, and of labels of 0 and 1."""
        if self._n_rows < ROWS_MIN or self._is_label:
            return math.nan
        variance = self.mean_square - (self._mean / self._n_rows) ** 2
        return variance if not self.is_of_input or self._given < GIVEN_SHARE * variance else math.nan


class TargetOrder:
    """How much of what tells one stream's targets apart lies between batches, and not within them.

    Of shuffled data that is at most one part in as many as a batch has samples, of data sorted by class nearly all.
    Targets of which a batch has many columns (one of them 1) do not tell, for their mean is the same in every batch;
    nor do those of which every batch has a single value: real ones and false ones in turn, as in a game of two.

    Args:
        table: the stream's tensor table.
    """

    def __init__(self, table: TensorTable) -> None:
        targets = table.entering("target")
        self._columns = np.array(targets, np.int64)
        self._dtypes = [table.dtypes[column] for column in targets]
        self._sizes = np.array([math.prod(table.shapes[column][1:]) for column in targets])  # of a sample, 0: unknown
        self._n_rows = np.zeros(len(targets), np.int64)
        self._sums = np.zeros((len(targets), 4))  # of the means, their squares, the variances, the samples
        self._alone: list[set[float]] = [set() for _ in targets]  # labels that filled a batch

    def feed(self, block: Block) -> None:
        """Takes rows; those in which the targets were not looked at say nothing."""
        if not len(self._columns):
            return
        names = [COLUMN[name] for name in ("mean", "std", "n_elements")]
        found = block.statistics[:, self._columns][:, :, names].astype(np.float64)
        found[:, :, 2] /= np.where(self._sizes > 0, self._sizes, np.inf)
        is_known = np.isfinite(found).all(axis=2) & (found[:, :, 2] >= SAMPLES_MIN)
        mean, std, n_samples = np.moveaxis(np.where(is_known[:, :, None], found, 0), 2, 0)
        self._sums += np.stack([mean, np.square(mean), np.square(std), n_samples], axis=2).sum(axis=0)
        self._n_rows += is_known.sum(axis=0)
        for place, labels in enumerate(self._alone):
            if "int" in self._dtypes[place] and len(labels) < KINDS_MIN:
                labels.update(mean[is_known[:, place] & (std[:, place] == 0), place].tolist())

    @property
    def is_of_labels(self) -> bool:
        """Whether the targets that come in order most are integers; False while nothing is known."""
        return self.read()[2]

    def read(self) -> tuple[float, float, bool]:
        """The largest share of any targets, the samples in a batch of them, and whether they are integers.

        NaN, 0 and False while nothing is known.
        """
        is_varied = (self._sums[:, 2] > 0) | np.array([len(labels) >= KINDS_MIN for labels in self._alone], bool)
        known = np.flatnonzero((self._n_rows >= ORDER_ROWS_MIN) & is_varied)
        if not len(known):
            return math.nan, 0.0, False
        total, square, within, n_samples = (self._sums[known] / self._n_rows[known, None]).T
        between = np.maximum(square - np.square(total), 0)
        share = np.divide(between, between + within, out=np.zeros(len(known)), where=between + within > 0)
        place = int(np.argmax(share))
        return float(share[place]), float(n_samples[place]), "int" in self._dtypes[int(known[place])]
