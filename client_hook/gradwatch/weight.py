"""The statistics of variables and of how a step changes them, read only where they are due; in a graph.

What is due seldom must cost nothing between: a variable's value that is held across its assignment makes TensorFlow
copy it, and each tensor that enters or leaves a branch is an op or two more that every step passes by. So variables are
read within the branch, and small ones leave it end to end as one. XLA's branches cannot give more where something is
due than where not: there the values are written into variables that a caller owns. Owns no state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.ring import create_untraced
from gradwatch.shared import SharedFunction
from gradwatch.statistic import NOTHING, SMALL_TENSOR_LIMIT, shared_block
from gradwatch.xla import cond, is_under_xla

__all__ = ["STORED", "Part", "blocks_where", "create_copies", "keep_nothing", "keep_where", "store_where", "wait_for"]

Tensor = Any  # tensorflow ships no types


class Part(NamedTuple):
    """Some of the variables, and what is wanted of them.

    Attributes:
        first: the place of the first of them.
        n: how many they are.
        kept: what `keep_where` gave before they were changed, for the statistics of the change; empty for those of the
            values themselves.
        first_copy: likewise the place of the first of the copies that `store_where` wrote to.
    """

    first: int
    n: int
    kept: Sequence[Tensor] = ()
    first_copy: int | None = None


def create_copies(variables: Sequence[Any]) -> list[Any]:
    """Variables for the values of others, each on its device; outside of every trace."""

    def create(variable: Any) -> Any:
        with tf.device(variable.device):
            return tf.Variable(tf.zeros(variable.shape, variable.dtype), trainable=False, name="gradwatch_copy")

    return create_untraced(lambda: [create(variable) for variable in variables])  # type: ignore[no-any-return]


STORED: Final = -0.0
"""What `store_where` gives: added to any number it leaves that as it is."""


def store_where(is_due: Tensor, variables: Sequence[Any], copies: Sequence[Any]) -> Tensor:
    """Writes the values of variables as they are now into others where they are due; under XLA.

    Returns:
        `STORED` once they are, for `wait_for`, which is to be called before anything is written to the variables.
    """

    def store() -> Tensor:
        for variable, copy in zip(variables, copies, strict=True):
            copy.assign(variable.read_value())
        return tf.constant(STORED)

    return cond(is_due, store, lambda: tf.constant(STORED))


def wait_for(stored: Tensor, variables: Sequence[Any]) -> None:
    """Lets variables be written to after their values were stored.

    XLA updates a variable in place only if it knows that its old value has been read before, and else copies it in
    every step. So what is written to the variables afterwards is made to need the number that `store_where` gave.
    """
    for variable in variables:
        if not variable.dtype.is_complex:
            variable.assign(variable.read_value() + tf.cast(stored, variable.dtype))


def keep_where(is_due: Tensor, variables: Sequence[Any]) -> list[Tensor]:
    """The values of variables as they are now where they are due, for `blocks_where`; else next to nothing.

    Not under XLA: see `store_where`.
    """
    return _kept.where(is_due, _nothing(variables), [], variables=variables)


def keep_nothing(variables: Sequence[Any]) -> list[Tensor]:
    """What `keep_where` gives where it is not due."""
    return [tf.constant(one) for one in _nothing(variables)]


def blocks_where(is_due: Tensor, variables: Sequence[Any], parts: Sequence[Part], are_wanted: Tensor) -> Tensor:
    """The statistics of variables as they are now, or of what was added to them, where they are due, else NaN.

    Args:
        is_due: a bool scalar, whether anything is.
        variables: all that the parts are of.
        parts: what is to be known of them.
        are_wanted: bool ``[n_parts]``: NaN stands for what is not.

    Returns:
        float32 ``[12 * n]``, the rows of the parts end to end.
    """
    tensors = [are_wanted, *(tensor for part in parts for tensor in part.kept)]
    layout = tuple((part.first, part.n, len(part.kept), part.first_copy) for part in parts)
    nothing = np.tile(NOTHING, sum(part.n for part in parts))
    (found,) = _blocks.where(is_due, [nothing], tensors, layout, is_under_xla(), variables=variables)
    return found


def _nothing(variables: Sequence[Any]) -> list[npt.NDArray[Any]]:
    large, small = _sort(variables)
    otherwise = [np.zeros([1] * len(variables[i].shape), variables[i].dtype.as_numpy_dtype) for i in large]
    return otherwise + [np.zeros(1, dtype.as_numpy_dtype) for dtype in small]


def _blocks_of(tensors: Sequence[Tensor], layout: Sequence[tuple[int, int, int, int | None]], is_fused: bool) -> Tensor:
    given = iter(tensors)
    wanted = tf.unstack(next(given), len(layout))
    kept = [[next(given) for _ in range(n_kept)] for _, _, n_kept, _ in layout]
    values = list(given)
    found = []
    for (first, n, n_kept, first_copy), before in zip(layout, kept, strict=True):
        some = values[first : first + n]
        if n_kept or first_copy is not None:
            old = _unpack(before, some) if first_copy is None else values[first_copy : first_copy + n]
            some = [value - tf.reshape(one, value.shape) for value, one in zip(some, old, strict=True)]
        found.append(some)
    if is_fused:  # to compile them once takes longer than to run them for nothing
        together = [value for some in found for value in some]
        rows = tf.split(shared_block(together, _sizes(together), True), [len(some) for some in found])
        blocks = [tf.where(is_wanted, some, NOTHING) for is_wanted, some in zip(wanted, rows, strict=True)]
    else:
        blocks = [
            shared_block.where(is_wanted, [np.tile(NOTHING, (len(some), 1))], some, _sizes(some), False)[0]
            for is_wanted, some in zip(wanted, found, strict=True)
        ]
    return tf.reshape(tf.concat(blocks, 0), [-1])


def _sizes(values: Sequence[Tensor]) -> tuple[int, ...]:
    return tuple(math.prod(value.shape) for value in values)


def _keep(values: Sequence[Tensor]) -> list[Tensor]:
    large, small = _sort(values)
    ends = [tf.concat([tf.reshape(values[i], [-1]) for i in places], 0) for places in small.values()]
    return [*(tf.identity(values[i]) for i in large), *ends]


def _unpack(kept: Sequence[Tensor], values: Sequence[Tensor]) -> list[Tensor]:
    """What `_keep` was given, tensors like ``values``; those that lay end to end without their shapes."""
    large, small = _sort(values)
    found: dict[int, Tensor] = dict(zip(large, kept, strict=False))
    for places, end_to_end in zip(small.values(), kept[len(large) :], strict=True):
        pieces = tf.split(end_to_end, [values[i].shape.num_elements() for i in places])
        found |= dict(zip(places, pieces, strict=True))
    return [found[i] for i in range(len(values))]


def _sort(tensors: Sequence[Any]) -> tuple[list[int], dict[Any, list[int]]]:
    """The places of large tensors or variables, and those of small ones by type."""
    large: list[int] = []
    small: dict[Any, list[int]] = {}
    for i, tensor in enumerate(tensors):
        is_small = math.prod(tensor.shape) <= SMALL_TENSOR_LIMIT
        (small.setdefault(tensor.dtype, []) if is_small else large).append(i)
    return large, small


_kept: Final = SharedFunction(_keep)
_blocks: Final = SharedFunction(_blocks_of)
