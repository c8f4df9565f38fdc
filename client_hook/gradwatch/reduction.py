"""Several reductions of the same elements, in the graph. Owns the traces of what reduces them.

Compiled by XLA they are one pass: one loop on a CPU, one kernel on a GPU. Left to themselves, XLA for CPUs writes what
each of them reduces to memory first (eight float64 for each element of a gradient), and makes a chain of kernels of
each; that takes ten times as long to run, and five times as long to compile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import tensorflow as tf

try:
    from tensorflow.compiler.tf2xla.python.xla import variadic_reduce
except ImportError:  # no public API: without it the reductions stay apart
    variadic_reduce = None

from gradwatch.ring import create_untraced

__all__ = ["MAX", "MIN", "SUM", "count_broken", "reduce_rows"]

SUM: Final = "sum"
MIN: Final = "min"
MAX: Final = "max"
_ALONE: Final[dict[str, Callable[..., Any]]] = {SUM: tf.reduce_sum, MIN: tf.reduce_min, MAX: tf.reduce_max}
_OF_TWO: Final[dict[str, Callable[..., Any]]] = {SUM: tf.add, MIN: tf.minimum, MAX: tf.maximum}
_OF_NONE: Final = {SUM: 0, MIN: math.inf, MAX: -math.inf}
Tensor = Any  # tensorflow ships no types


def reduce_rows(reductions: Sequence[tuple[str, Tensor]], *, is_fused: bool) -> list[Tensor]:
    """The rows of some matrices, each reduced.

    Args:
        reductions: what of each, and a matrix ``[n_rows, n]`` without NaN; all of one shape, and of one precision where
            they are floating.
        is_fused: whether XLA compiles what is traced now; nothing else knows the operation that is then used.

    Returns:
        For each its ``[n_rows]``, of its type. Of rows without elements 0, inf and -inf.
    """
    kinds = tuple(kind for kind, _ in reductions)
    values = [value for _, value in reductions]
    if not is_fused or variadic_reduce is None:
        return [_ALONE[kind](value, axis=1) for kind, value in reductions]
    types = tuple(value.dtype for value in values)
    starts = [tf.constant(_OF_NONE[kind], dtype) for kind, dtype in zip(kinds, types, strict=True)]
    found: list[Tensor] = variadic_reduce(values, starts, reducer=_reducer(kinds, types), dimensions_to_reduce=[1])
    return found


def count_broken(tensor: Tensor, *, is_fused: bool) -> tuple[Tensor, Tensor]:
    """How many elements of a floating tensor are NaN, and how many are infinite: each a float32 scalar."""
    marks = tf.math.is_nan(tensor), tf.math.is_inf(tensor)
    if is_fused:
        rows = [(SUM, tf.cast(tf.reshape(mark, [1, -1]), tf.int64)) for mark in marks]
        n_nan, n_inf = (found[0] for found in reduce_rows(rows, is_fused=True))
    else:
        n_nan, n_inf = (tf.math.count_nonzero(mark) for mark in marks)
    return tf.cast(n_nan, tf.float32), tf.cast(n_inf, tf.float32)


@lru_cache(maxsize=64)
def _reducer(kinds: tuple[str, ...], types: tuple[Any, ...]) -> Any:
    """What reduces two of each to one."""

    def reduce_two(*pairs: Tensor) -> list[Tensor]:
        n = len(kinds)
        return [_OF_TWO[kind](*pair) for kind, *pair in zip(kinds, pairs[:n], pairs[n:], strict=True)]

    specs = [tf.TensorSpec([], dtype) for dtype in (*types, *types)]
    return create_untraced(lambda: tf.function(reduce_two, autograph=False).get_concrete_function(*specs))
