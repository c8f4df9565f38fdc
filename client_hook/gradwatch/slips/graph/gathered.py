"""Gathers of the wrong places, in the graph: of every sample for every sample, or numbered anew. Owns no state.

`tf.gather(scores, labels, axis=1)` gives ``[n, n]``: each sample's number at the labels of all. What is meant, one
number of each sample, takes ``batch_dims=1``. Compared with one number for each sample the table is no error, for it
broadcasts. And a dropout multiplies what it keeps: of the number of a row it makes that of another. One that is given
the share to keep for the share to drop leaves next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.constants import constant, factor
from gradwatch.origin import layer_of, slip_of, source_of
from gradwatch.walk import PASSING, behind, beyond

__all__ = ["find_dropped", "find_emptying", "find_gathered"]

FOUND_MAX: Final = 4
RATE_MIN: Final = 0.85
"""Dropouts of less are meant."""
TABLES: Final = frozenset({"GatherV2", "ResourceGather"})
NUMBERING: Final = frozenset(
    {*PASSING, "AddV2", "GreaterEqual", "Less", "Mul", "RealDiv", "SelectV2", "Sub"} - {"StridedSlice"}
)
"""What a dropout, and a table that counts from its end too, make of places."""
MEETING: Final = frozenset({"Add", "AddV2", "Maximum", "Minimum", "Mul", "RealDiv", "SquaredDifference", "Sub"})
"""Operations of two tensors, element by element."""
ASKING: Final = frozenset(
    {
        "ArgMax",
        "BatchMatMulV2",
        "Einsum",
        "GatherNd",
        "GatherV2",
        "LogSoftmax",
        "MatMul",
        "MatrixDiagPart",
        "MatrixDiagPartV3",
        "Max",
        "Softmax",
        "SoftmaxCrossEntropyWithLogits",
        "SparseSoftmaxCrossEntropyWithLogits",
        "StridedSlice",
        "TopKV2",
    }
)
"""What compares the numbers of a row with one another, or picks some: all pairs are meant."""


def find_gathered(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Gathers of all pairs that meet a vector which knows nothing of what was gathered by, and are averaged.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``GatherV2``), name, layer and source line of each, the first `FOUND_MAX`.
    """
    found = [slip_of(op, layer_paths) for op in forward if _is_of_all_pairs(op) and not layer_of(op.name, layer_paths)]
    return [one for one in found if one["source"] is not None][:FOUND_MAX]


def find_dropped(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first gather whose places a dropout has scaled.

    Args:
        forward: as for `find_gathered`.
        layer_paths: likewise.

    Returns:
        Type, name, layer and source line of it, and ``drops``: what the places are multiplied by.
    """
    for op in forward:
        if op.type in TABLES:
            ways = list(behind([op.inputs[1].op], through=NUMBERING))
            factors = (factor(one) for one in ways if one.outputs[0].dtype.is_floating)
            scale = next((parts[0] for parts in factors if parts is not None and parts[0] != int(parts[0])), None)
            if scale is not None and any("Random" in one.type for one in ways):
                return [slip_of(op, layer_paths) | {"drops": scale}]
    return []


def find_emptying(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first dropout of the user's own lines that drops nearly all.

    Args:
        forward: as for `find_gathered`.
        layer_paths: likewise.

    Returns:
        Type, name, layer and source line of it, and ``rate``: the share that it drops.
    """
    for op in forward:
        rate = constant(op.inputs[1]) if op.type == "GreaterEqual" else None
        if rate is None or not RATE_MIN <= rate < 1:
            continue
        drawn = behind([op.inputs[0].op], through=NUMBERING)
        source = source_of(op)
        if source is not None and "dropout" in source["code"] and any("Random" in one.type for one in drawn):
            return [slip_of(op, layer_paths) | {"rate": rate}]
    return []


def _is_of_all_pairs(op: Any) -> bool:
    if op.type != "GatherV2" or op.get_attr("batch_dims") != 0:
        return False
    table, places, axis = op.inputs
    if table.shape.rank != 2 or places.shape.rank != 1 or tf.get_static_value(axis) not in (1, -1):
        return False
    if table.shape[0] == 1 or table.shape[0] != places.shape[0] or tf.get_static_value(places) is not None:
        return False
    ahead = beyond(op)
    return not any(one.type in ASKING for one in ahead) and any(_meets_vector(one, op, ahead) for one in ahead)


def _meets_vector(op: Any, gather: Any, ahead: Sequence[Any]) -> bool:
    """Whether an operation puts the table, or what was made of it, together with a vector of another origin."""
    if op.type not in MEETING:
        return False
    made, table = {id(one) for one in (gather, *ahead)}, gather.outputs[0].shape
    for one, vector in (op.inputs, tuple(reversed(op.inputs))):
        if id(one.op) in made and one.shape.rank == 2 and vector.shape.rank == 1 and vector.shape[0] == table[1]:
            return gather.inputs[1].op not in behind([vector.op], through=None) and id(vector.op) not in made
    return False
