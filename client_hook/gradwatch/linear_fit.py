"""How far a linear fit of the training's own inputs follows their targets: what a model should do better than.

Some samples of each step in which full statistics are taken wait in a ring. From time to time the reader fits a ridge
regression to half of them and sees how far it follows the targets of the other half, in the same measure that is taken
of the model (`correlation.correlate`). What a straight line finds is there to be found: a model that stays behind it is
kept from learning by something else than the data; and where it finds nothing either, inputs and targets may not belong
together. Owns the ring and the samples.
"""

from __future__ import annotations

import math
import threading
import time
import zlib
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.correlation import Pair, count_scores
from gradwatch.followed import may_follow
from gradwatch.ring import Ring

__all__ = ["LinearFit", "correlate_within", "find_unfollowed", "fit_halves"]

ROWS: Final = 32
"""Samples that are taken of a batch, its first ones."""
COLUMNS_MAX: Final = 256
"""Numbers of a sample, of all inputs together: of more, as of an image, evenly spread ones."""
INPUTS_MAX: Final = 4
TARGETS_MAX: Final = 64
"""Numbers that are asked for, or classes: of more a linear fit to some hundred samples says little."""
RING_ROWS: Final = 8
"""What is overwritten before it was read is no loss: others come."""
BATCHES_MIN: Final = 16
"""That are new since the last fit."""
COST_FACTOR: Final = 100.0
"""Times what a fit took must pass until the next one."""
FOUND: Final = 0.5
"""A correlation with a column of targets that is followed."""
LEFT_SHARE: Final = 0.3
"""Of what a linear fit has: a column that is not."""
BATCHES_MAX: Final = 64
"""The newest, which are kept."""
SAMPLES_MIN: Final = 200
"""Samples that differ, of which a fit can be told from chance."""
OF_BATCH_MIN: Final = 6
"""Samples of one batch over which outputs are held to targets: their mean is taken from each."""
BINS: Final = 128
"""Whole numbers, as those of words, are counted too: how often each stands in a sample, those that are far apart
together."""
FARTHEST: Final = 10.0
"""Standard deviations: what lies beyond is brought there."""
_NAN: Final = float("nan")

Float = npt.NDArray[np.float64]
Tensor = Any  # tensorflow ships no types


class _Layout(NamedTuple):
    """What stands where in a row of the ring, for each sample: the columns of each input, the targets, the outputs."""

    widths: tuple[int, ...]
    n_targets: int
    n_classes: int
    """0 where the targets are no labels; outputs of labels are not kept."""

    @property
    def all(self) -> tuple[int, ...]:
        """How many columns each of these has."""
        return (*self.widths, self.n_targets, *([] if self.n_classes else [self.n_targets]))


class LinearFit:
    """The samples of one stream, and what a fit to them finds.

    Attributes:
        unfollowed: of several columns of targets the one, counted from 1, that the newest outputs do not follow while a
            linear fit does, and they do follow others; 0 for none, NaN until that is known.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ring: Ring | None = None
        self._layout: _Layout | None = None
        self._batches: deque[Float] = deque(maxlen=BATCHES_MAX)
        self._n_new = 0
        self._not_before_s = 0.0
        self._found = self.unfollowed = _NAN

    def keep(self, step: Tensor, inputs: Sequence[Tensor], pair: Pair) -> None:
        """Adds some samples to the ring, in the graph: where they are of the form that those of the first trace had.

        Args:
            step: int64 scalar.
            inputs: ``[n, ...]`` each, of any type; those that are no numbers are left out.
            pair: a target ``[n, ...]`` and what is held to it.
        """
        known = [one for one in inputs[:INPUTS_MAX] if _is_of_numbers(one)]
        layout = _lay_out(known, pair)
        with self._lock:
            if layout is None or (self._layout or layout) != layout or not may_follow(pair):
                return
            self._layout, self._ring = layout, self._ring or Ring(ROWS * sum(layout.all), RING_ROWS)
        kept = [*known, pair.target, *([] if layout.n_classes else [pair.output])]
        parts = [_take(one, width) for one, width in zip(kept, layout.all, strict=True)]
        self._ring.write(step, tf.reshape(tf.concat(parts, axis=1), [-1]))

    def read(self) -> float:
        """How far the newest fit follows the targets, -1 to 1; NaN until that is known. In the reader's thread."""
        if self._ring is None or self._layout is None:
            return _NAN
        rows = self._ring.read().values
        self._batches.extend(rows.astype(np.float64).reshape(len(rows), ROWS, sum(self._layout.all)))
        self._n_new += len(rows)
        began_s = time.monotonic()
        if self._n_new >= BATCHES_MIN and began_s >= self._not_before_s:
            self._n_new = 0
            try:
                with np.errstate(all="ignore"):  # a model that broke gives anything
                    self._look(self._layout)
            except (ArithmeticError, ValueError, np.linalg.LinAlgError):
                self._found = self.unfollowed = _NAN  # of numbers that no one foresaw: none are told
            if not math.isnan(self._found):
                self._not_before_s = began_s + COST_FACTOR * (time.monotonic() - began_s)
        return self._found

    def _look(self, layout: _Layout) -> None:
        n_batches, n_inputs, ends = len(self._batches), len(layout.widths), np.cumsum(layout.all)
        samples = np.concatenate(self._batches)
        given, asked = samples[:, : ends[n_inputs - 1]], samples[:, ends[n_inputs - 1] : ends[n_inputs]]
        is_known = np.isfinite(asked).all(axis=1) & np.isfinite(given).any(axis=1)
        parts = np.split(samples[is_known], ends[:-1], axis=1)
        inputs, (targets, *outputs) = parts[:n_inputs], parts[n_inputs:]
        if layout.n_classes:
            targets = np.asarray(targets == np.arange(layout.n_classes), np.float64)
        batches = np.repeat(np.arange(n_batches), ROWS)[is_known]
        fitted = fit_halves(inputs, targets)
        self._found = correlate_within(targets, fitted, batches)
        if outputs and not math.isnan(self._found):
            is_new = batches >= n_batches // 2
            self.unfollowed = find_unfollowed(targets[is_new], outputs[0][is_new], fitted[is_new], batches[is_new])


def fit_halves(inputs: Sequence[Float], targets: Float) -> Float:
    """What ridge regressions to either half of some samples make of the other half.

    The columns are brought to mean 0 and standard deviation 1; of whole numbers it is counted too how often each stands
    in a sample. A sample that comes again is always in the same half.

    Args:
        inputs: ``[n, n_columns]`` each; what is not finite counts as the column's mean.
        targets: ``[n, n_targets]``, finite.

    Returns:
        ``[n, n_targets]``; NaN where there are too few samples.
    """
    known = np.ascontiguousarray(np.concatenate(inputs, axis=1))
    sums = np.array([zlib.crc32(one.tobytes()) for one in known])
    fitted = np.full(targets.shape, np.nan)
    if len(np.unique(sums)) < SAMPLES_MIN:
        return fitted
    columns = _standardise(np.concatenate([part for one in inputs for part in _describe(one)], axis=1))
    is_first = sums % 2 == 0
    for is_other in (is_first, ~is_first):
        fitted[is_other] = _fit(columns[~is_other], targets[~is_other], columns[is_other])
    return fitted


def correlate_within(targets: Float, outputs: Float, batches: npt.NDArray[np.int64]) -> float:
    """Pearson's correlation over the samples of a batch, of all columns together, the mean of the batches.

    Args:
        targets: ``[n, n_targets]``.
        outputs: likewise.
        batches: ``[n]`` the batch that each sample is of, rising.

    Returns:
        NaN where no batch has enough samples, or all of its targets or outputs are alike or not finite.
    """
    return float(_correlations(*(one.sum(axis=1, keepdims=True) for one in _sums(targets, outputs, batches)))[0])


def find_unfollowed(targets: Float, outputs: Float, fitted: Float, batches: npt.NDArray[np.int64]) -> float:
    """The column of targets, counted from 1, that outputs follow least beside a linear fit; 0 for none.

    Args:
        targets: ``[n, n_targets]``.
        outputs: likewise, those of the model.
        fitted: likewise, those of the fit.
        batches: as `correlate_within` takes them.
    """
    of_model, of_fit = (np.nan_to_num(_correlations(*_sums(targets, one, batches))) for one in (outputs, fitted))
    is_left = (of_fit >= FOUND) & (np.abs(of_model) <= LEFT_SHARE * of_fit) & (of_model.max() >= FOUND)
    return float(np.argmax(np.where(is_left, of_fit - of_model, -np.inf)) + 1) if is_left.any() else 0.0


def _sums(targets: Float, outputs: Float, batches: npt.NDArray[np.int64]) -> tuple[Float, Float, Float]:
    """``[n_batches, n_targets]`` each: of the squares of what differs from a batch's mean, and of their products."""
    _, first, sizes = np.unique(batches, return_index=True, return_counts=True)
    if not len(first):
        nothing = np.zeros((0, targets.shape[1]))
        return nothing, nothing, nothing
    means = (np.add.reduceat(one, first) / sizes[:, None] for one in (targets, outputs))
    t, o = (one - np.repeat(mean, sizes, axis=0) for one, mean in zip((targets, outputs), means, strict=True))
    is_of_many = sizes >= OF_BATCH_MIN
    squares, others, products = (np.add.reduceat(one, first)[is_of_many] for one in (t * t, o * o, t * o))
    return squares, others, products


def _correlations(squares: Float, others: Float, products: Float) -> Float:
    """``[n_columns]``, the mean of the batches in which neither is alike or not finite; NaN where there is none."""
    sizes = np.sqrt(squares * others)
    is_known = sizes > 0
    found = np.where(is_known, products, 0.0) / np.where(is_known, sizes, 1.0)
    n = is_known.sum(axis=0)
    return np.asarray(np.where(n > 0, found.sum(axis=0) / np.maximum(n, 1), np.nan))


def _fit(columns: Float, targets: Float, others: Float) -> Float:
    """What a ridge regression makes of others, by whichever of its two forms is the smaller (they are equal).

    The penalty is the number of columns: the best one for columns that have nothing to do with one another and explain
    half of the targets' variance together (Hoerl, Kennard and Baldwin, "Ridge regression: some simulations", 1975).
    """
    mean, n = targets.mean(axis=0), min(columns.shape)
    penalty = columns.shape[1] * np.eye(n)
    if n < len(columns):
        weights = np.linalg.solve(columns.T @ columns + penalty, columns.T @ (targets - mean))
    else:
        weights = columns.T @ np.linalg.solve(columns @ columns.T + penalty, targets - mean)
    return np.asarray(others @ weights + mean)


def _standardise(columns: Float) -> Float:
    is_known = np.isfinite(columns)
    known = np.where(is_known, columns, np.nan)[:, is_known.any(axis=0)]
    mean, spread = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    varies = spread > 1e-9 * (np.abs(mean) + 1e-30)
    scaled = (known[:, varies] - mean[varies]) / spread[varies]
    return np.asarray(np.clip(np.nan_to_num(scaled), -FARTHEST, FARTHEST))


def _describe(values: Float) -> list[Float]:
    """The columns, and of whole numbers how often each stands in a sample; of up to three columns, in each of them."""
    known: Float = values[np.isfinite(values)]
    if not len(known) or known.min() < 0 or known.max() <= 1 or (known != np.round(known)).any():
        return [values]
    numbers = np.where(np.isfinite(values), values, -1).astype(np.int64)
    parts = np.split(numbers, numbers.shape[1], axis=1) if numbers.shape[1] <= 3 else [numbers]
    n_rows = len(values)
    counts = []
    for part in parts:
        row, column = np.nonzero(part >= 0)
        places = row * BINS + part[row, column] % BINS
        counts.append(np.bincount(places, minlength=n_rows * BINS).reshape(n_rows, BINS).astype(np.float64))
    return [values, *counts]


def _lay_out(inputs: Sequence[Tensor], pair: Pair) -> _Layout | None:
    """Where the columns stand; None where a linear fit says nothing of such targets."""
    scores = count_scores(pair.target, pair.output)
    if scores is None or not inputs:
        return None
    n_columns, is_of_labels = scores
    rest = pair.target.shape[1:].num_elements()
    if n_columns > TARGETS_MAX or rest is None or (is_of_labels and rest > 1):
        return None
    if any(_is_alike(one, pair.target) for one in inputs):
        return None
    share = COLUMNS_MAX // len(inputs)
    widths = tuple(_width(one, share) for one in inputs)
    return _Layout(widths, 1 if is_of_labels else n_columns, n_columns if is_of_labels else 0)


def _is_of_numbers(values: Tensor) -> bool:
    is_number = values.dtype.is_floating or values.dtype.is_integer or values.dtype == tf.bool
    return is_number and (values.shape.rank or 0) > 0


def _is_alike(values: Tensor, target: Tensor) -> bool:
    """Whether a target has its input's own form: what is made anew of itself a straight line makes perfectly."""
    is_alike = target.shape.rank == values.shape.rank and target.shape[1:] == values.shape[1:]
    return bool(is_alike and target.shape.rank > 1)


def _width(values: Tensor, share: int) -> int:
    n_columns = values.shape[1:].num_elements()
    if n_columns is None:
        return share
    return math.ceil(n_columns / math.ceil(n_columns / share)) if n_columns else 1


def _take(values: Tensor, width: int) -> Tensor:
    """The first samples, float32 ``[ROWS, width]``, evenly spread columns of each; NaN where there are none."""
    n_columns = values.shape[1:].num_elements()
    stride = 1 if not n_columns else math.ceil(n_columns / width)
    n_all = tf.reduce_prod(tf.shape(values)[1:])
    found = tf.reshape(tf.cast(values[:ROWS], tf.float32), [-1, tf.maximum(n_all, 1)])[:, ::stride][:, :width]
    missing = [(0, n - there) for n, there in zip((ROWS, width), tf.unstack(tf.shape(found)), strict=True)]
    return tf.pad(found, missing, constant_values=_NAN)
