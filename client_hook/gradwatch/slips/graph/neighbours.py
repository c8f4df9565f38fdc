"""Messages along the edges of graphs, in the graph of a step. Owns no state.

What is gathered at one end of each edge is collected at the other. Collected where it came from, it tells nobody.

Several graphs of a batch are laid one behind another, nodes and edges. An edge names its nodes by their places among
all nodes then, not among those of its own graph: what the batch holds tells whether it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.slips.graph.repeated import is_same
from gradwatch.walk import GIVEN, behind, passed

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


def find_messages(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first operation that collects for nodes what was gathered from nodes, by places that the step was given.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Its type, name, layer and source line, and ``edges``: True.
    """
    collecting = [op for op in forward if op.type in COLLECTING]
    if not collecting:
        return []
    gathering = {id(one) for op in forward if op.type == "GatherV2" for one in _given(op.inputs[1], rank=2)}
    for op in collecting:
        data, places = _collected(op)
        is_of_pairs = any(id(one) in gathering for one in _given(places, rank=2))
        if is_of_pairs or (_given(places, rank=1) and _is_sent(data)):
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
            data, places = _collected(op)
            # A sum or the largest of each node's own goes back to its edges where shares of these are made.
            taken = [one for one in _gathered(data) if passed(one.inputs[0]).type not in COLLECTING]
            if taken and all(is_same(one.inputs[1], places) for one in taken):
                return [slip_of(op, layer_paths) | {"returns": True}]
    return []


def _collected(op: Any) -> tuple[Any, Any]:
    """What an operation collects, and the places that it is collected for."""
    if op.type == "ScatterNd":
        return op.inputs[1], op.inputs[0]
    if op.type == "TensorScatterAdd":
        return op.inputs[2], op.inputs[1]
    return op.inputs[0], op.inputs[1]


def _gathered(data: Any) -> list[Any]:
    """The operations that gathered what messages are made of."""
    return [op for op in behind([data.op], through=SENDING) if op.type in ("GatherV2", "ResourceGather")]


def _is_sent(data: Any) -> bool:
    """Whether messages are made of what was gathered by a list of places that the step was given."""
    return any(op.type == "GatherV2" and _given(op.inputs[1], rank=1) for op in _gathered(data))


def _given(tensor: Any, *, rank: int) -> list[Any]:
    """The tensors of whole numbers, with so many axes, that a step was given and that one is a part of."""
    ways = [op for op in behind([tensor.op], through=PASSING) if op.type in GIVEN]
    return [one for op in ways for one in op.outputs if one.dtype.is_integer and one.shape.rank == rank]
