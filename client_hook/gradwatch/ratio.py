"""A policy's ratio that is the wrong way round, in the graph. Owns no state.

What an action is worth is weighed by how much more probable it is than when it was taken: ``exp(new - old)``, held
within bounds. ``exp(old - new)`` makes what was good less probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import slip_of
from gradwatch.walk import reads_variable

__all__ = ["find_inverse"]

SAME: Final = frozenset(
    {"AddV2", "Cast", "ExpandDims", "GatherNd", "GatherV2", "Identity", "Mean", "Mul", "RealDiv", "Reshape", "Squeeze"}
    | {"StridedSlice", "Sum"}
)
POSITIVE: Final = frozenset({"LogSoftmax"})
"""Log-probabilities."""
NEGATIVE: Final = frozenset(
    {"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "Square", "SquaredDifference"}
)
"""What is the smaller, the more probable something is; of a normal distribution the square of the distance."""
BOUNDING: Final = frozenset({"ClipByValue", "Maximum", "Minimum"})
WAY_MAX: Final = 60
Tensor = Any  # tensorflow ships no types


def find_inverse(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Ratios, held within bounds, of what was given to what a network makes of it now.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Exp``), name, layer and source line of the first, and ``inverse``: True. None where it is not known
        which way a probability goes into it.
    """
    for op in forward:
        if op.type == "Exp" and op.inputs[0].op.type == "Sub" and _is_bounded(op):
            ends = [reads_variable(one, None) for one in op.inputs[0].op.inputs]
            if sum(ends) != 1:
                continue
            new = op.inputs[0].op.inputs[ends.index(True)]
            signs = set(_signs(new, 1 if ends[0] else -1))
            if signs == {-1}:
                return [slip_of(op, layer_paths) | {"inverse": True}]
    return []


def _is_bounded(op: Any) -> bool:
    for user in op.outputs[0].consumers():
        values = [tf.get_static_value(one) for one in user.inputs[1:]] if user.type in BOUNDING else []
        if any(value is not None and value.size == 1 for value in values):
            return True
    return False


def _signs(tensor: Tensor, sign: int) -> Iterator[int]:
    """With which sign log-probabilities go into a tensor."""
    pending = [(tensor, sign)]
    for _ in range(WAY_MAX):
        if not pending:
            return
        one, sign = pending.pop()
        op = one.op
        if op.type in POSITIVE | NEGATIVE:
            yield sign if op.type in POSITIVE else -sign
        elif op.type in ("Neg", "Sub"):
            before = (-1,) if op.type == "Neg" else (1, -1)
            pending += [(part, sign * own) for part, own in zip(op.inputs, before, strict=True)]
        elif op.type in SAME:
            values = [tf.get_static_value(part) for part in op.inputs] if op.type in ("Mul", "RealDiv") else []
            is_negative = any(value is not None and value.size == 1 and value < 0 for value in values)
            pending += [(part, -sign if is_negative else sign) for part in op.inputs if part.dtype.is_floating]
