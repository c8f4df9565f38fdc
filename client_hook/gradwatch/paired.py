"""Steps that are given two of a kind which are to differ, in the graph. Owns no state.

A state and the one that follows it; two views of each sample. Whether the two hold the same numbers is seen when the
step runs: here is only told that they must not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from gradwatch.bootstrap import find_returns
from gradwatch.origin import slip_of
from gradwatch.walk import GIVEN, PRODUCTS, behind

__all__ = ["find_pairs"]

Tensor = Any  # tensorflow ships no types


def find_pairs(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Returns that are counted on with a network, and products of what one network makes of two arguments.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (of the sum or the product), name, layer and source line of the first, and ``pairs``: ``returns`` or
        ``views``.
    """
    counted = find_returns(forward)
    if counted is not None:
        return [slip_of(counted, layer_paths) | {"pairs": "returns"}]
    for op in forward:
        if op.type in PRODUCTS and len(op.inputs) == 2:
            (one, of_one), (other, of_other) = (_made_of(tensor) for tensor in op.inputs)
            if one and one == other and of_one and of_other and of_one.isdisjoint(of_other):
                return [slip_of(op, layer_paths) | {"pairs": "views"}]
    return []


def _made_of(tensor: Tensor) -> tuple[set[int], set[str]]:
    """The variables that a tensor is made of, and what else the step was given."""
    ways = list(behind([tensor.op], through=None))
    variables = {id(op.inputs[0]) for op in ways if op.type == "ReadVariableOp"}
    given = {one.name for op in ways if op.type in GIVEN for one in op.outputs if one.dtype != tf.resource}
    read = {one.name for op in ways for one in op.inputs}
    return variables, {name for name in given if name in read}
