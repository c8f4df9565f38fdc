"""Messages along the edges of graphs, in the graph of a step. Owns no state.

Several graphs of a batch are laid one behind another, nodes and edges. An edge names its nodes by their places among
all nodes then, not among those of its own graph: what the batch holds tells whether it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.walk import behind

__all__ = ["find_messages"]

COLLECTING: Final = frozenset(
    {
        *("ScatterNd", "TensorScatterAdd", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentSum"),
        *("SegmentMax", "SegmentMean", "SegmentSum"),
    }
)
PASSING: Final = frozenset(
    {"Cast", "ExpandDims", "Identity", "Reshape", "Split", "Squeeze", "StridedSlice", "Transpose", "Unpack"}
)
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


def _given(tensor: Any) -> list[Any]:
    """The tensors of whole numbers that a step was given and that one is a part of."""
    ways = [op for op in behind([tensor.op], through=PASSING) if op.type in GIVEN]
    return [one for op in ways for one in op.outputs if one.dtype.is_integer and one.shape.rank == 2]
