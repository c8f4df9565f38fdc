"""The statistics of variables and of how a step changes them, read only where they are due; in a graph.

What is due seldom must cost nothing between: a variable's value that is held across its assignment makes TensorFlow
copy it, and each tensor that enters or leaves a branch is an op or two more that every step passes by. So variables are
read within the branch, and small ones leave it end to end as one. Owns no state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from gradwatch.shared import SharedFunction
from gradwatch.statistic import NOTHING, SMALL_TENSOR_LIMIT, is_under_xla, shared_block

__all__ = ["Part", "blocks_where", "keep_nothing", "keep_where"]

Tensor = Any  # tensorflow ships no types


class Part(NamedTuple):
    """Some of the variables, and what is wanted of them.

    Attributes:
        first: the place of the first of them.
        n: how many they are.
        is_wanted: a bool scalar: NaN stands for what is not.
        kept: what `keep_where` gave before they were changed, for the statistics of the change; empty for those of the
            values themselves.
    """

    first: int
    n: int
    is_wanted: Tensor
    kept: Sequence[Tensor] = ()


def keep_where(is_due: Tensor, variables: Sequence[Any]) -> list[Tensor]:
    """The values of variables as they are now where they are due, for `blocks_where`; else next to nothing."""
    if is_under_xla():  # whose branches must be alike, and which reads what it needs when it is needed
        return [variable.read_value() for variable in variables]
    return _kept.where(is_due, _nothing(variables), [], variables=variables)


def keep_nothing(variables: Sequence[Any]) -> list[Tensor]:
    """What `keep_where` gives where it is not due."""
    return [tf.constant(one) for one in _nothing(variables)]


def blocks_where(is_due: Tensor, variables: Sequence[Any], parts: Sequence[Part]) -> Tensor:
    """The statistics of variables as they are now, or of what was added to them, where they are due, else NaN.

    Returns:
        float32 ``[n, 12]``, the parts one below another.
    """
    tensors = [part.is_wanted for part in parts] + [tensor for part in parts for tensor in part.kept]
    layout = tuple((part.first, part.n, len(part.kept)) for part in parts)
    nothing = np.tile(NOTHING, (sum(part.n for part in parts), 1))
    (found,) = _blocks.where(is_due, [nothing], tensors, layout, is_under_xla(), variables=variables)
    return found


def _nothing(variables: Sequence[Any]) -> list[npt.NDArray[Any]]:
    large, small = _sort(variables)
    otherwise = [np.zeros([1] * len(variables[i].shape), variables[i].dtype.as_numpy_dtype) for i in large]
    return otherwise + [np.zeros(1, dtype.as_numpy_dtype) for dtype in small]


def _blocks_of(tensors: Sequence[Tensor], layout: Sequence[tuple[int, int, int]], is_fused: bool) -> Tensor:
    given = iter(tensors)
    wanted = [next(given) for _ in layout]
    kept = [[next(given) for _ in range(n_kept)] for _, _, n_kept in layout]
    values = list(given)
    blocks = []
    for (first, n, n_kept), is_wanted, before in zip(layout, wanted, kept, strict=True):
        some = values[first : first + n]
        if n_kept:
            old = before if is_fused else _unpack(before, some)
            some = [value - tf.reshape(one, value.shape) for value, one in zip(some, old, strict=True)]
        sizes = tuple(math.prod(value.shape) for value in some)
        blocks += shared_block.where(is_wanted, [np.tile(NOTHING, (n, 1))], some, sizes, is_fused)
    return tf.concat(blocks, 0)


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
