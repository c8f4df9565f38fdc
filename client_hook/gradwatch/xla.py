"""What XLA is asked, and what it must be told. Owns no state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import control_flow_util

try:
    from tensorflow.compiler.tf2xla.python.xla import optimization_barrier
except ImportError:  # no public API: without it some branches run that are not due
    optimization_barrier = None

__all__ = ["cond", "held_back", "is_under_xla", "math_for", "math_here", "once"]

Tensor = Any  # tensorflow ships no types


def is_under_xla() -> bool:
    """Whether what is traced now will be compiled by XLA (``jit_compile=True`` around it)."""
    # There is no public way to ask; without an answer the slower form is right as well.
    return bool(control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()))


class PlainMath:
    """Functions of `tf.math`, from operations that TensorFlow hands to XLA as they are.

    Its own of these names are first run through another compiler, one by one, and each takes longer than all that
    surrounds it: 6 to 9 ms, where a comparison takes 0.2.
    """

    @staticmethod
    def is_nan(x: Tensor) -> Tensor:
        """Whether an element is NaN."""
        return x != x  # noqa: PLR0124 what NaN alone is not

    @staticmethod
    def is_inf(x: Tensor) -> Tensor:
        """Whether an element is infinite."""
        return (x == math.inf) | (x == -math.inf)

    @staticmethod
    def is_finite(x: Tensor) -> Tensor:
        """Whether an element is finite."""
        return (x < math.inf) & (x > -math.inf)

    @staticmethod
    def sqrt(x: Tensor) -> Tensor:
        """The square root of what is not negative."""
        return tf.pow(x, tf.constant(0.5, x.dtype))


def math_for(is_fused: bool) -> Any:
    """`PlainMath` for what XLA compiles, else `tf.math`, where one operation is less to run than three."""
    return PlainMath if is_fused else tf.math


def math_here() -> Any:
    """`math_for` what is traced now."""
    return math_for(is_under_xla())


def cond(is_due: Tensor, dear: Callable[[], Any], cheap: Callable[[], Any]) -> Any:
    """`tf.cond` that runs ``dear`` only where it is due, under XLA too, when both give tensors of the same types."""
    if not is_under_xla():
        return tf.cond(is_due, dear, cheap)
    return tf.cond(is_due, lambda: held_back(dear()), cheap)


def once(is_due: Tensor, dear: Callable[[], Any], cheap: Callable[[], Any]) -> Any:
    """`cond` for a branch that writes to variables, under XLA: lists of tensors of the same types.

    What one branch of a condition writes the other copies, on a GPU by a launch for each variable in every step. A loop
    that is not entered copies nothing.
    """
    n = tf.cast(is_due, tf.int32)

    def body(i: Tensor, *_: Tensor) -> list[Tensor]:  # not known to be the same at each turn: that would be taken out
        return [i + 1, *cond(i < n, dear, cheap)]

    found: list[Tensor] = tf.while_loop(lambda i, *_: i < n, body, [tf.constant(0), *cheap()])
    return found[1:]


def held_back(values: Any) -> Any:
    """Tensors (in any structure) of a branch, unchanged; under XLA only.

    XLA takes a condition apart whose branches hold nothing but elementwise operations and reductions, however many and
    of whatever size: both are run, and what was due is chosen (its pass *simplify-conditional*). Not so beside a
    barrier.
    """
    if optimization_barrier is None:
        return values
    flat = tf.nest.flatten(values)
    found = optimization_barrier(*flat)
    for one, other in zip(found, flat, strict=True):
        one.set_shape(other.shape)
    return tf.nest.pack_sequence_as(values, found)
