"""The statistics of variables and of how a step changes them, read only where they are due; in a graph.

What is due seldom must cost nothing between: a variable's value that is held across its assignment makes TensorFlow
copy it, and each tensor that enters or leaves a branch is an op or two more that every step passes by. So variables are
read within the branch, and small ones leave it end to end as one. Owns no state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.protocol import STATISTICS
from gradwatch.shared import SharedFunction
from gradwatch.statistic import NOTHING, SMALL_TENSOR_LIMIT, is_under_xla, shared_block

__all__ = ["block_where", "keep_where", "updates_where"]

Tensor = Any  # tensorflow ships no types


def block_where(is_due: Tensor, variables: Sequence[Any]) -> Tensor:
    """The statistics of variables as they are now where they are due, else NaN: float32 ``[n, 11]``."""
    return _or_nothing(_values_block, is_due, [], variables)


def keep_where(is_due: Tensor, variables: Sequence[Any]) -> list[Tensor]:
    """The values of variables as they are now where they are due, for `updates_where`; else next to nothing."""
    if is_under_xla():  # whose branches must be alike, and which reads what it needs when it is needed
        return [variable.read_value() for variable in variables]
    large, small = _sort(variables)
    otherwise = [np.zeros([1] * len(variables[i].shape), variables[i].dtype.as_numpy_dtype) for i in large]
    otherwise += [np.zeros(1, dtype.as_numpy_dtype) for dtype in small]
    return _kept.where(is_due, otherwise, [], variables=variables)


def updates_where(is_due: Tensor, variables: Sequence[Any], kept: Sequence[Tensor]) -> Tensor:
    """The statistics of what was added to variables since `keep_where`, which was due where this is; else NaN."""
    return _or_nothing(_updates_block, is_due, kept, variables)


def _or_nothing(block: SharedFunction, is_due: Tensor, tensors: Sequence[Tensor], variables: Sequence[Any]) -> Tensor:
    nothing = np.tile(NOTHING, (len(variables), 1))
    (found,) = block.where(is_due, [nothing], tensors, len(tensors), is_under_xla(), variables=variables)
    found.set_shape([len(variables), len(STATISTICS)])
    return found


def _block_of_values(values: Sequence[Tensor], _n_kept: int, is_fused: bool) -> Tensor:
    return shared_block(values, _sizes(values), is_fused)


def _keep(values: Sequence[Tensor]) -> list[Tensor]:
    large, small = _sort(values)
    ends = [tf.concat([tf.reshape(values[i], [-1]) for i in places], 0) for places in small.values()]
    return [*(tf.identity(values[i]) for i in large), *ends]


def _block_of_updates(tensors: Sequence[Tensor], n_kept: int, is_fused: bool) -> Tensor:
    kept, values = tensors[:n_kept], tensors[n_kept:]
    before = list(kept) if n_kept == len(values) and is_fused else _unpack(kept, values)
    updates = [value - tf.reshape(old, value.shape) for value, old in zip(values, before, strict=True)]
    return shared_block(updates, _sizes(values), is_fused)


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


def _sizes(tensors: Sequence[Any]) -> tuple[int, ...]:
    return tuple(math.prod(tensor.shape) for tensor in tensors)


_values_block: Final = SharedFunction(_block_of_values)
_kept: Final = SharedFunction(_keep)
_updates_block: Final = SharedFunction(_block_of_updates)
