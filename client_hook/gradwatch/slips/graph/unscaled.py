"""Layers that are given a step's input as it is, in the graph. Owns no state.

No slip by itself: where one column of the input is far wider than another, the other is lost in such a layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.walk import is_given, reads_variable

__all__ = ["find_unscaled"]

MULTIPLYING: Final = frozenset({"Conv2D", "Einsum", "MatMul"})
"""Operations that take a kernel for their second input."""
RECURRING: Final = "TensorListFromTensor"
"""What a recurrent layer reads its input from, step by step."""
PASSING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Transpose"})
READING: Final = frozenset({"Cast", "ExpandDims", "Identity", "ReadVariableOp", "Reshape"})
FOUND_MAX: Final = 4


def find_unscaled(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Layers whose kernel, or whose recurrence, is given an input of several columns as the step was given it.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of each, and ``entering``: how many columns its input has. The first
        `FOUND_MAX`.
    """
    found = []
    for op in forward:
        if op.type == RECURRING or (op.type in MULTIPLYING and _is_weighed(op)):
            given = op.inputs[0]
            n_columns = given.shape[-1] if given.shape.rank else None
            if n_columns is not None and n_columns > 1 and given.dtype.is_floating and is_given(given, PASSING):
                found.append(slip_of(op, layer_paths) | {"entering": n_columns})
    return [slip for slip in found if slip["layer"]][:FOUND_MAX]


def _is_weighed(op: Any) -> bool:
    return reads_variable(op.inputs[1], READING)
