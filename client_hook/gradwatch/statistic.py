"""Statistics of tensors, in the graph: pure functions, tensors -> numbers. Owns no state.

A *row block* is float32 ``[n_tensors, 10]`` in the order of `gradwatch.protocol.STATISTICS`. NaN in a block
means "not captured, or undefined", never "the tensor held a NaN": that is what ``n_nan`` says.

On a CPU the cost of a statistic is memory passes over large tensors and op launches over small ones. So small
tensors of like size are laid side by side in one padded matrix and reduced along its rows; large ones are
reduced alone, by reductions that read them once. Everything first assumes that all elements are finite and
well scaled; one sum of squares tells whether that holds, and only where it does not the masked, rescaled
reductions run (`tf.cond`: in a healthy step they cost nothing).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.protocol import STATISTICS

__all__ = ["dense_values", "full_block", "global_norm", "light_block", "missing_block"]

SMALL_TENSOR_LIMIT: Final = 16_384
"""Elements up to which launching ops costs more than reading memory, so that tensors are reduced together."""

SQUARE_SUM_MIN: Final = 1e-30
"""Below this, squares of float32 (smallest normal number 1.2e-38) may have underflowed."""

ILL_CONDITIONED_VARIANCE: Final = 1e-2
"""If variance / mean square is smaller, E[x^2] - E[x]^2 loses two digits or more in float32."""

_NAN: Final = float("nan")
Tensor = Any  # tensorflow ships no types


@dataclass(frozen=True)
class _Group:
    """Tensors reduced together: rows of one matrix, each row padded to the same length."""

    indices: tuple[int, ...]
    sizes: tuple[int, ...]
    width: int


def full_block(tensors: Sequence[Tensor], n_elements: Sequence[int]) -> Tensor:
    """All ten statistics of some tensors.

    With F the finite elements of x: norm = sqrt(sum_F x^2), mean = sum_F x / |F|, std = sqrt(sum_F (x - mean)^2 / |F|)
    (population), min and max over F.

    Args:
        tensors: dense tensors of any floating dtype and static shape; see `dense_values` for sparse ones.
        n_elements: the size of the tensor that each stands for. Where it is larger than the given tensor's own (a
        sparse
            gradient's rows), the rest counts as exact zeros.

    Returns:
        float32 ``[n, 10]``. Sums are accumulated in float32 (float64 for float64 tensors). A tensor without finite
        elements has norm 0 and NaN for min, max, mean, std; an empty one too. A norm beyond float32 is float32's
        largest number. Subnormal elements count as zero where TensorFlow's kernels flush them.
    """
    return _block(tensors, n_elements, _fast_full, _exact_full)


def light_block(tensors: Sequence[Tensor], n_elements: Sequence[int]) -> Tensor:
    """Norm and non-finite counts only: one read of each tensor. Arguments and result as `full_block`; NaN elsewhere."""
    return _block(tensors, n_elements, _fast_light, _exact_light)


def missing_block(n: int) -> Tensor:
    """The block of ``n`` tensors that do not exist (gradients that are None): all NaN, ``n_elements`` 0."""
    row = np.full((n, len(STATISTICS)), np.nan, np.float32)
    row[:, -1] = 0
    return tf.constant(row)


def global_norm(norms: Tensor) -> Tensor:
    """sqrt(sum_i n_i^2) over the finite parts' norms ``[n]``, rescaled so that squares neither overflow nor underflow.

    NaN entries (missing tensors) count as 0. Returns a float32 scalar, 0 for none.
    """
    norms = tf.where(tf.math.is_finite(norms), norms, tf.zeros_like(norms))
    largest = tf.reduce_max(tf.concat([norms, tf.zeros([1], norms.dtype)], 0))
    scale = tf.where(largest > 0, largest, tf.ones_like(largest))
    return _clamp(scale * tf.sqrt(tf.reduce_sum(tf.square(norms / scale))))


def dense_values(gradient: Tensor) -> Tensor:
    """The values of a gradient, with the rows of an `tf.IndexedSlices` that share an index summed.

    The result of a sparse gradient has as many rows as the slices had (summed ones first, zeros after), never those of
    the variable: an embedding is not made dense. Works under XLA, where `tf.unique` does not.
    """
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    order = tf.argsort(gradient.indices)
    indices = tf.gather(gradient.indices, order)
    values = tf.gather(gradient.values, order)
    is_new = tf.cast(indices[1:] != indices[:-1], tf.int32)
    segments = tf.concat([tf.zeros_like(indices[:1], tf.int32), tf.cumsum(is_new)], 0)
    return tf.math.unsorted_segment_sum(values, segments, tf.shape(values)[0])


def _block(tensors: Sequence[Tensor], n_elements: Sequence[int], fast: Any, exact: Any) -> Tensor:
    if not tensors:
        return tf.zeros([0, len(STATISTICS)], tf.float32)
    parts: list[Tensor] = []
    indices: list[int] = []
    for dynamic in (False, True):
        chosen = [i for i, t in enumerate(tensors) if (t.shape.num_elements() is None) == dynamic]
        groups = [_Group((i,), (-1,), -1) for i in chosen] if dynamic else _groups(tensors, chosen)
        for group in groups:
            indices.extend(group.indices)
        parts.extend(_group_blocks(groups, tensors, n_elements, fast, exact))
    block = tf.concat(parts, 0)
    inverse = np.argsort(np.asarray(indices))
    return block if (inverse == np.arange(len(inverse))).all() else tf.gather(block, inverse)


def _groups(tensors: Sequence[Tensor], chosen: Sequence[int]) -> list[_Group]:
    """Sorts tensors of static shape into groups of like size and dtype; a large or empty one stands alone."""
    classes: dict[tuple[Any, int], list[int]] = {}
    for i in chosen:
        size = tensors[i].shape.num_elements()
        shared = 0 < size <= SMALL_TENSOR_LIMIT
        # Powers of four: at most four times the memory of tensors that are small anyway, and few groups.
        key = math.ceil(math.log(size, 4)) if shared else -1 - i
        classes.setdefault((_compute_dtype(tensors[i]), key), []).append(i)
    groups = []
    for members in classes.values():
        sizes = tuple(tensors[i].shape.num_elements() for i in members)
        groups.append(_Group(tuple(members), sizes, max(sizes)))
    return groups


def _group_blocks(
    groups: Sequence[_Group], tensors: Sequence[Tensor], n_elements: Sequence[int], fast: Any, exact: Any
) -> list[Tensor]:
    if not groups:
        return []
    prepared = [_Matrix(group, tensors, n_elements) for group in groups if group.width != 0]
    empty = [tf.constant(_empty_rows(group, n_elements)) for group in groups if group.width == 0]
    fast_blocks, usable = [], []
    for matrix in prepared:
        block, is_usable = fast(matrix)
        fast_blocks.append(block)
        usable.append(tf.reduce_all(is_usable))
    if prepared:
        # One branch for all: a cond costs more to launch than a small group's reductions.
        fast_blocks = list(
            tf.cond(
                tf.reduce_all(tf.stack(usable)),
                lambda: tuple(tf.identity(block) for block in fast_blocks),
                lambda: tuple(exact(matrix) for matrix in prepared),
            )
        )
    filled, empties = iter(fast_blocks), iter(empty)
    return [next(empties) if group.width == 0 else next(filled) for group in groups]


def _empty_rows(group: _Group, n_elements: Sequence[int]) -> Any:
    rows = np.full((len(group.indices), len(STATISTICS)), np.nan, np.float32)
    for row, i in zip(rows, group.indices, strict=True):
        rest = n_elements[i]
        row[[0, 5, 6, 7]] = 0
        row[8] = row[9] = rest
        if rest:
            row[1:5] = 0
    return rows


class _Matrix:
    """One group's elements as a matrix ``[k, width]``, padded with zeros, with what is known of it statically."""

    def __init__(self, group: _Group, tensors: Sequence[Tensor], n_elements: Sequence[int]) -> None:
        dtype = _compute_dtype(tensors[group.indices[0]])
        flat = [tf.reshape(_cast(tensors[i], dtype), [-1]) for i in group.indices]
        self.is_single = len(flat) == 1
        if self.is_single:
            self.x = flat[0]
            self.is_padded = False
        else:
            self.is_padded = any(size != group.width for size in group.sizes)
            self.x = tf.reshape(tf.concat(self._padded(flat, group, dtype), 0), [len(flat), group.width])
        self.dtype = dtype
        self.mask = None
        if self.is_padded:
            self.mask = tf.constant(np.arange(group.width)[None, :] < np.asarray(group.sizes)[:, None])
        if group.width < 0:  # a dynamic number of rows: its size is only known at run time
            self.sizes = tf.cast(tf.reshape(tf.size(flat[0]), [1]), tf.float32)
        else:
            self.sizes = tf.constant(group.sizes, tf.float32)
        self.totals = tf.constant([n_elements[i] for i in group.indices], tf.float32)
        self.rest = self.totals - self.sizes

    @staticmethod
    def _padded(flat: Sequence[Tensor], group: _Group, dtype: Any) -> list[Tensor]:
        pieces = []
        for vector, size in zip(flat, group.sizes, strict=True):
            pieces.append(vector)
            if size < group.width:
                pieces.append(tf.zeros([group.width - size], dtype))
        return pieces

    def reduce(self, function: Any, x: Tensor) -> Tensor:
        """``function`` along each tensor's elements: ``[k]``."""
        return tf.reshape(function(x), [1]) if self.is_single else function(x, axis=1)

    def square_sum(self) -> Tensor:
        """Sum of x^2 of each tensor, ``[k]``; the padding adds nothing."""
        if self.is_single:
            return tf.reshape(2 * tf.nn.l2_loss(self.x), [1])
        return tf.reduce_sum(tf.square(self.x), axis=1)

    def fill(self, x: Tensor, value: float) -> Tensor:
        """``x`` with the padding replaced by ``value``."""
        return x if self.mask is None else tf.where(self.mask, x, tf.constant(value, x.dtype))

    def valid(self, condition: Tensor) -> Tensor:
        """A condition that is false in the padding."""
        return condition if self.mask is None else condition & self.mask

    def count(self, condition: Tensor) -> Tensor:
        """How many elements of each tensor fulfil a condition, float32 ``[k]``."""
        if self.is_single:
            return tf.reshape(_count_single(condition), [1])
        return tf.reduce_sum(tf.cast(condition, tf.float32), axis=1)

    def column(self, x: Tensor) -> Tensor:
        """A value of each tensor, shaped to be combined with its elements."""
        return x[0] if self.is_single else x[:, None]


def _count_single(condition: Tensor) -> Tensor:
    """Counts true elements of a vector. Bytes are summed in short rows first, an eighth of `count_nonzero`'s time."""
    n = condition.shape.num_elements()
    if n is None or n % 128:
        return tf.cast(tf.reduce_sum(tf.cast(condition, tf.int32)), tf.float32)
    rows = tf.reduce_sum(tf.reshape(tf.cast(condition, tf.uint8), [-1, 128]), axis=1)
    return tf.cast(tf.reduce_sum(tf.cast(rows, tf.int32)), tf.float32)


def _fast_light(matrix: _Matrix) -> tuple[Tensor, Tensor]:
    square_sum = matrix.square_sum()
    usable = tf.math.is_finite(square_sum) & (square_sum > SQUARE_SUM_MIN)
    nan, zero = tf.fill(tf.shape(square_sum), _NAN), tf.zeros_like(matrix.totals)
    norm = tf.sqrt(square_sum)
    return _stack(matrix, norm, nan, nan, nan, nan, zero, zero, zero, nan), usable


def _exact_light(matrix: _Matrix) -> Tensor:
    _, clean = _finite_part(matrix)
    norm, _ = _scaled_norm(matrix, clean)
    nan = tf.fill(tf.shape(matrix.totals), _NAN)
    return _stack(matrix, norm, nan, nan, nan, nan, *_non_finite_counts(matrix), nan)


def _fast_full(matrix: _Matrix) -> tuple[Tensor, Tensor]:
    square_sum = matrix.square_sum()
    low = matrix.reduce(tf.reduce_min, matrix.fill(matrix.x, math.inf))
    high = matrix.reduce(tf.reduce_max, matrix.fill(matrix.x, -math.inf))
    usable = tf.math.is_finite(square_sum) & ((square_sum > SQUARE_SUM_MIN) | ((low == 0) & (high == 0)))
    totals = tf.cast(matrix.totals, matrix.dtype)
    mean = matrix.reduce(tf.reduce_sum, matrix.x) / totals
    if matrix.is_single:
        mean_square = square_sum / totals
        variance = mean_square - tf.square(mean)
        is_constant = (low == high) & (matrix.rest == 0)
        usable &= (variance > ILL_CONDITIONED_VARIANCE * mean_square) | is_constant
        variance = tf.where(is_constant, tf.zeros_like(variance), variance)
    else:
        deviation = matrix.fill(matrix.x - matrix.column(mean), 0.0)
        rest = tf.cast(matrix.rest, matrix.dtype)
        variance = (matrix.reduce(tf.reduce_sum, tf.square(deviation)) + rest * tf.square(mean)) / totals
    n_zero = matrix.count(matrix.valid(matrix.x == 0)) + matrix.rest
    zero = tf.zeros_like(matrix.totals)
    low, high = _with_rest(matrix, low, high)
    std = tf.sqrt(tf.maximum(variance, 0))
    return _stack(matrix, tf.sqrt(square_sum), low, high, mean, std, zero, zero, zero, n_zero), usable


def _exact_full(matrix: _Matrix) -> Tensor:
    finite, clean = _finite_part(matrix)
    norm, scale = _scaled_norm(matrix, clean)
    n_finite = tf.cast(matrix.count(finite) + matrix.rest, matrix.dtype)
    has_finite = n_finite > 0
    divisor = tf.maximum(n_finite, 1)
    scaled = clean / matrix.column(scale)
    mean = matrix.reduce(tf.reduce_sum, scaled) / divisor
    deviation = tf.where(finite, scaled - matrix.column(mean), tf.zeros_like(scaled))
    rest = tf.cast(matrix.rest, matrix.dtype)
    variance = (matrix.reduce(tf.reduce_sum, tf.square(deviation)) + rest * tf.square(mean)) / divisor
    low = matrix.reduce(tf.reduce_min, tf.where(finite, matrix.x, tf.constant(math.inf, matrix.dtype)))
    high = matrix.reduce(tf.reduce_max, tf.where(finite, matrix.x, tf.constant(-math.inf, matrix.dtype)))
    low, high = _with_rest(matrix, low, high)
    n_zero = matrix.count(matrix.valid(matrix.x == 0)) + matrix.rest
    nan = tf.fill(tf.shape(mean), tf.constant(_NAN, matrix.dtype))

    def defined(value: Tensor) -> Tensor:
        return tf.where(has_finite, value, nan)

    std = tf.sqrt(variance) * scale
    counts = _non_finite_counts(matrix)
    return _stack(matrix, norm, defined(low), defined(high), defined(mean * scale), defined(std), *counts, n_zero)


def _finite_part(matrix: _Matrix) -> tuple[Tensor, Tensor]:
    finite = matrix.valid(tf.math.is_finite(matrix.x))
    return finite, tf.where(finite, matrix.x, tf.zeros_like(matrix.x))


def _scaled_norm(matrix: _Matrix, clean: Tensor) -> tuple[Tensor, Tensor]:
    """The norm by way of x / max|x|, whose squares neither overflow nor underflow, and that scale."""
    largest = matrix.reduce(tf.reduce_max, tf.abs(clean))
    scale = tf.where(largest > 0, largest, tf.ones_like(largest))
    square_sum = matrix.reduce(tf.reduce_sum, tf.square(clean / matrix.column(scale)))
    return scale * tf.sqrt(square_sum), scale


def _non_finite_counts(matrix: _Matrix) -> tuple[Tensor, Tensor, Tensor]:
    return (
        matrix.count(matrix.valid(tf.math.is_nan(matrix.x))),
        matrix.count(matrix.valid(matrix.x == math.inf)),
        matrix.count(matrix.valid(matrix.x == -math.inf)),
    )


def _with_rest(matrix: _Matrix, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
    """Minimum and maximum, where the elements that a sparse gradient leaves out are exact zeros."""
    has_rest = matrix.rest > 0
    zero = tf.zeros_like(low)
    return tf.where(has_rest, tf.minimum(low, zero), low), tf.where(has_rest, tf.maximum(high, zero), high)


def _stack(matrix: _Matrix, *values: Tensor) -> Tensor:
    return tf.stack([_clamp(value) for value in values] + [matrix.totals], axis=1)


def _clamp(value: Tensor) -> Tensor:
    """To float32; a finite statistic beyond it becomes float32's largest number (NaN stays)."""
    limit = tf.constant(tf.float32.max, value.dtype)
    return tf.cast(tf.where(tf.abs(value) > limit, tf.sign(value) * limit, value), tf.float32)


def _compute_dtype(tensor: Tensor) -> Any:
    return tf.float64 if tensor.dtype in (tf.float64, tf.complex128) else tf.float32


def _cast(tensor: Tensor, dtype: Any) -> Tensor:
    if tensor.dtype.is_complex:
        tensor = tf.abs(tensor)
    return tensor if tensor.dtype == dtype else tf.cast(tensor, dtype)
