"""Messages along the edges of graphs, in the graph of a step. Owns no state.

What is gathered at one end of each edge is collected at the other. Collected where it came from, it tells nobody.

Several graphs of a batch are laid one behind another, nodes and edges. An edge names its nodes by their places among
all nodes then, not among those of its own graph: what the batch holds tells whether it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import slip_of
from gradwatch.walk import behind

__all__ = ["find_messages", "find_returned"]

COLLECTING: Final = frozenset(
    {
        *("ScatterNd", "TensorScatterAdd", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentSum"),
        *("SegmentMax", "SegmentMean", "SegmentSum"),
    }
)
PASSING: Final = frozenset(
    {"Cast", "ExpandDims", "Identity", "Reshape", "Split", "Squeeze", "StridedSlice", "Transpose", "Unpack"}
)
SENDING: Final = frozenset(
    {
        *("AddV2", "BiasAdd", "Cast", "ConcatV2", "Elu", "Exp", "ExpandDims", "Identity", "LeakyRelu", "MatMul", "Mul"),
        *("RealDiv", "Relu", "Reshape", "Selu", "Sigmoid", "Squeeze", "Sub", "Tanh"),
    }
)
"""What messages are made by."""
SAME_DEPTH: Final = 6
GIVEN: Final = frozenset({"IteratorGetNext", "Placeholder"})


def find_messages(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first operation that collects for nodes what was gathered from nodes, by places that one tensor names.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Its type, name, layer and source line, and ``edges``: True.
    """
    collecting = [op for op in forward if op.type in COLLECTING]
    if not collecting:
        return []
    gathering = {id(one) for op in forward if op.type == "GatherV2" for one in _given(op.inputs[1])}
    for op in collecting:
        places = op.inputs[0] if op.type == "ScatterNd" else op.inputs[1]
        if any(id(one) in gathering for one in _given(places)):
            return [slip_of(op, layer_paths) | {"edges": True}]
    return []


def find_returned(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first operation that collects messages where they were gathered.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Its type, name, layer and source line, and ``returns``: True.
    """
    for op in forward:
        if op.type in COLLECTING:
            places, data = (op.inputs[0], op.inputs[1]) if op.type == "ScatterNd" else (op.inputs[1], op.inputs[0])
            ways = behind([data.op], through=SENDING)
            taken = [one for one in ways if one.type in ("GatherV2", "ResourceGather")]
            if taken and all(_is_same(one.inputs[1], places) for one in taken):
                return [slip_of(op, layer_paths) | {"returns": True}]
    return []


def _is_same(one: Any, other: Any, depth: int = SAME_DEPTH) -> bool:
    """Whether two tensors are one, or computed anew of the same."""
    if one is other:
        return True
    first, second = one.op, other.op
    if first.type == second.type == "Const":
        return np.array_equal(tf.get_static_value(one), tf.get_static_value(other))
    if first.type != second.type or not first.inputs or len(first.inputs) != len(second.inputs) or not depth:
        return False
    pairs = zip(first.inputs, second.inputs, strict=True)
    return one.value_index == other.value_index and all(_is_same(*pair, depth - 1) for pair in pairs)


def _given(tensor: Any) -> list[Any]:
    """The tensors of whole numbers that a step was given and that one is a part of."""
    ways = [op for op in behind([tensor.op], through=PASSING) if op.type in GIVEN]
    return [one for op in ways for one in op.outputs if one.dtype.is_integer and one.shape.rank == 2]
