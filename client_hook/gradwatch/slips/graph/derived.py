"""Derivatives of several columns that were added up, in the graph. Owns no state.

A tape's gradient of a tensor is that of its sum. Of ``y [n, k]`` with respect to ``t [n, 1]`` it is one number for each
sample, the sum of the derivatives of all columns, and it broadcasts against the columns that it is compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import GRADIENT_SCOPE, layer_of, source_of
from gradwatch.walk import behind

__all__ = ["find_summed"]

MEETING: Final = frozenset({"AddV2", "SquaredDifference", "Sub"})
SEEDING: Final = frozenset({"Const", "Fill", "OnesLike"})
"""What a gradient begins with: ones, in the shape of what it is taken of."""
Tensor = Any  # tensorflow ships no types


def find_summed(ops: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first operation at which a derivative of several columns, one number for each sample, meets each column.

    Args:
        ops: the operations of a step on the way to its loss, those of gradients within it too, in the order in which
            they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line, and ``columns``: how many.
    """
    for op in ops:
        if op.type not in MEETING or op.name.startswith(GRADIENT_SCOPE):
            continue
        for one, other in (op.inputs, tuple(reversed(op.inputs))):
            n = other.shape[-1] if one.shape.rank == other.shape.rank == 2 else None
            if n is not None and n > 1 == one.shape[-1] and _is_derivative(one.op) and _is_of_columns(one.op, n):
                place = {"layer": layer_of(op.name, layer_paths), "source": source_of(op)}
                return [{"type": op.type, "name": op.name, **place, "columns": int(n)}]
    return []


def _is_derivative(op: Any) -> bool:
    parts = [one.op for one in op.inputs] if op.type == "AddN" else [op]
    return any(part.name.startswith(GRADIENT_SCOPE) for part in parts)


def _is_of_columns(op: Any, n: int) -> bool:
    """Whether a gradient began with ones in so many columns."""
    seeds = (one.outputs[0] for one in behind([op], through=None) if one.type in SEEDING)
    return any(seed.shape.rank == 2 and seed.shape[-1] == n and _is_ones(seed) for seed in seeds)


def _is_ones(seed: Tensor) -> bool:
    if seed.op.type == "OnesLike":
        return True
    value = tf.get_static_value(seed.op.inputs[1] if seed.op.type == "Fill" else seed)
    return value is not None and bool(np.all(value == 1))
