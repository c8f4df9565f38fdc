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
from gradwatch.xla import math_for

__all__ = ["MAX", "MIN", "SUM", "count_broken", "reduce_rows", "stack_columns", "unpack_broken"]

SUM: Final = "sum"
MIN: Final = "min"
MAX: Final = "max"
_ALONE: Final[dict[str, Callable[..., Any]]] = {SUM: tf.reduce_sum, MIN: tf.reduce_min, MAX: tf.reduce_max}
_OF_TWO: Final[dict[str, Callable[..., Any]]] = {SUM: tf.add, MIN: tf.minimum, MAX: tf.maximum}
_OF_NONE: Final = {SUM: 0, MIN: math.inf, MAX: -math.inf}
_INFINITE: Final = 1 << 32
"""What an infinite element counts where a NaN counts 1."""
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


def stack_columns(columns: Sequence[Tensor], *, is_fused: bool) -> Tensor:
    """Vectors ``[n]`` as the columns of a matrix ``[n, n_columns]``.

    By choosing among them at each place, where XLA compiles it: that is one loop with all that the columns are made of,
    and to put them together one loop for each.
    """
    if not is_fused:
        return tf.stack(columns, axis=1)
    places = tf.range(len(columns))[None, :]
    found = tf.tile(columns[-1][:, None], [1, len(columns)])
    for place, column in enumerate(columns[:-1]):
        found = tf.where(places == place, column[:, None], found)
    return found


def count_broken(tensor: Tensor, *, is_fused: bool) -> Tensor:
    """How many elements of a floating tensor are NaN, and how many are infinite, for `unpack_broken`: an int64 scalar.

    Two counts in one number are one plain sum, which XLA compiles in half the time of two.
    """
    functions = math_for(is_fused)
    is_nan, is_inf = functions.is_nan(tensor), functions.is_inf(tensor)
    if is_fused:
        nothing = tf.constant(0, tf.int64)
        return tf.reduce_sum(tf.where(is_nan, nothing + 1, tf.where(is_inf, nothing + _INFINITE, nothing)))
    return tf.math.count_nonzero(is_nan) + _INFINITE * tf.math.count_nonzero(is_inf)


def unpack_broken(counts: Tensor) -> tuple[Tensor, Tensor]:
    """The counts of NaN and of infinite elements, int64, from what `count_broken` gave, or a sum of it; any shape."""
    n_inf = counts // _INFINITE
    return counts - _INFINITE * n_inf, n_inf


@lru_cache(maxsize=64)
def _reducer(kinds: tuple[str, ...], types: tuple[Any, ...]) -> Any:
    """What reduces two of each to one."""

    def reduce_two(*pairs: Tensor) -> list[Tensor]:
        n = len(kinds)
        return [_OF_TWO[kind](*pair) for kind, *pair in zip(kinds, pairs[:n], pairs[n:], strict=True)]

    specs = [tf.TensorSpec([], dtype) for dtype in (*types, *types)]
    return create_untraced(lambda: tf.function(reduce_two, autograph=False).get_concrete_function(*specs))
