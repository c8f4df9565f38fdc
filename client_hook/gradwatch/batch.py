"""Measures a batch, in the graph: each feature column's range and non-finite elements, and which rows hold those.

The axis of features is the last one, the axis of rows the first: an image has its channels for columns, a sequence its
features. Owns the layout of these numbers in a ring and their way back; which tensors are measured is `intake`'s.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.protocol import COLUMN_STATISTICS, N_BAD_ROWS
from gradwatch.xla import math_here

__all__ = ["COLUMNS_MAX", "Measured", "count_columns", "measure", "read_measured", "row_width"]

COLUMNS_MAX: Final = 256
"""Feature columns of one tensor at most; of a wider one only the rows are told."""
_SPLIT: Final = 1 << 20  # float32 holds integers up to 2^24 exactly; two of them hold a row's number
Tensor = Any  # tensorflow ships no types


class Measured(NamedTuple):
    """What `read_measured` gives of ``n`` steps.

    Attributes:
        columns: float32 ``[n, n_columns, 3]`` in the order of `protocol.COLUMN_STATISTICS`; ``n_nonfinite`` is NaN
            where the columns were not captured, ``min`` and ``max`` where a column has no finite element.
        bad_rows: int64 ``[n, 8]``, the first rows that hold a non-finite element, ascending; -1 for none.
        n_bad_rows: int64 ``[n]``.
    """

    columns: npt.NDArray[np.float32]
    bad_rows: npt.NDArray[np.int64]
    n_bad_rows: npt.NDArray[np.int64]


def count_columns(tensor: Tensor) -> int:
    """How many feature columns a tensor has: its last axis, one for a vector or a scalar; 0 if unknown or too many."""
    rank = tensor.shape.rank
    if rank is None:
        return 0
    n = 1 if rank < 2 else tensor.shape[-1]
    return n if n is not None and n <= COLUMNS_MAX else 0


def row_width(n_columns: int) -> int:
    """The numbers that `measure` gives."""
    return n_columns * len(COLUMN_STATISTICS) + 2 * (N_BAD_ROWS + 1)


def measure(tensor: Tensor, n_columns: int) -> Tensor:
    """The columns and the bad rows of one batch.

    For column c with the elements x_c and the finite ones F_c: n_nonfinite = |x_c| - |F_c|, min and max over F_c.

    Args:
        tensor: a dense tensor of any floating dtype, ``[n_rows, ..., n_columns]``; of any size, empty too.
        n_columns: what `count_columns` said when the layout was laid down. Where it says something else now (the
            training function was traced again for a batch of another form) the columns are not captured.

    Returns:
        float32 ``[row_width(n_columns)]``. An element beyond float32 is float32's largest number.
    """
    is_bad = ~math_here().is_finite(tensor)
    parts = [tf.reshape(_column_block(tensor, is_bad, n_columns), [-1]), _bad_rows(is_bad)]
    return tf.concat(parts, 0)


def read_measured(rows: npt.NDArray[np.float32], n_columns: int) -> Measured:
    """Takes rows ``[n, row_width(n_columns)]`` of a ring apart."""
    end = n_columns * len(COLUMN_STATISTICS)
    whole = rows[:, end:].astype(np.int64)
    numbers = whole[:, 0::2] * _SPLIT + whole[:, 1::2]
    columns = rows[:, :end].reshape(len(rows), n_columns, len(COLUMN_STATISTICS))
    return Measured(columns, numbers[:, :N_BAD_ROWS], numbers[:, N_BAD_ROWS])


def _column_block(tensor: Tensor, is_bad: Tensor, n_columns: int) -> Tensor:
    if n_columns == 0 or count_columns(tensor) != n_columns:
        return tf.fill([n_columns, len(COLUMN_STATISTICS)], tf.constant(np.nan, tf.float32))
    x, bad = tf.reshape(tensor, [-1, n_columns]), tf.reshape(is_bad, [-1, n_columns])
    n_nonfinite = tf.reduce_sum(tf.cast(bad, tf.int64), axis=0)
    low = tf.reduce_min(tf.where(bad, tf.constant(np.inf, x.dtype), x), axis=0)
    high = tf.reduce_max(tf.where(bad, tf.constant(-np.inf, x.dtype), x), axis=0)
    has_finite = n_nonfinite < tf.shape(x, tf.int64)[0]
    limits = [tf.where(has_finite, _within_float32(value), np.nan) for value in (low, high)]
    return tf.stack([tf.cast(n_nonfinite, tf.float32), *limits], axis=1)


def _within_float32(x: Tensor) -> Tensor:
    limit = tf.float32.max if x.dtype == tf.float64 else x.dtype.max
    return tf.cast(tf.clip_by_value(x, -limit, limit), tf.float32)


def _bad_rows(is_bad: Tensor) -> Tensor:
    """The first bad rows and their number, each as two float32."""
    if is_bad.shape.rank == 0:
        is_bad = is_bad[None]
    others = range(1, is_bad.shape.rank) if is_bad.shape.rank is not None else tf.range(1, tf.rank(is_bad))
    is_bad_row = tf.reduce_any(is_bad, axis=others)
    # The k-th bad row is where the running count first reaches k: `tf.where` has no static shape, as XLA needs.
    count = tf.cumsum(tf.cast(is_bad_row, tf.int32))
    places = tf.searchsorted(count, tf.range(1, N_BAD_ROWS + 1))
    n_bad = tf.cast(tf.reduce_sum(tf.cast(is_bad_row, tf.int64)), tf.int32)
    places = tf.where(tf.range(N_BAD_ROWS) < n_bad, places, -1)
    numbers = tf.concat([places, n_bad[None]], 0)
    return tf.cast(tf.reshape(tf.stack([numbers // _SPLIT, numbers % _SPLIT], axis=1), [-1]), tf.float32)
