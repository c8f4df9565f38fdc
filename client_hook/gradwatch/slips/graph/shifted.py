"""A loss that moves targets and scores against one another by one step of time, in the graph. Owns no state.

That makes each step's target the next one's number where the targets are the sequence itself. Where the data were moved
already, it makes it the number after the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import source_of
from gradwatch.walk import GIVEN, passed, reads_variable

__all__ = ["OF_TIME", "ends_of", "find_moved", "find_shifts"]

HANDING: Final = frozenset({"Cast", "Identity"})
SAME: Final = HANDING | {"Reshape"}
"""What stands between a slice and the loss."""
SCORING: Final = SAME | {"ClipByValue", "Log", "Maximum", "Minimum"}
SEQUENCE_RANK: Final = 2
OF_TIME: Final = 0b11
"""The bits of the axes of samples and times."""
Tensor = Any  # tensorflow ships no types


def find_shifts(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """The first such loss; that is no slip, unless the targets are the next numbers as they are given.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.

    Returns:
        Type (``Shift``), name, no layer and source line of the slice of the targets, and ``shifts``: True.
    """
    for op in forward:
        moved = _moved_by(op)
        if moved is not None:
            return [{"type": "Shift", "name": moved.name, "layer": "", "source": source_of(moved), "shifts": True}]
    return []


def find_moved(graphs: Iterable[Any]) -> Tensor | None:
    """The targets ``[n, time]`` as they are given to such a loss in one of these graphs; None without one."""
    ops = itertools.chain.from_iterable(graph.get_operations() for graph in graphs)
    moved = next((one for one in map(_moved_by, ops) if one is not None), None)
    tensor = None if moved is None else moved.inputs[0]
    while tensor is not None and tensor.op.type in HANDING:
        tensor = tensor.op.inputs[0]
    return tensor


def _moved_by(op: Any) -> Any | None:
    """The slice that leaves out the first targets, where the scores are without their last ones."""
    if op.type != "SparseSoftmaxCrossEntropyWithLogits":
        return None
    scores, targets = passed(op.inputs[0], SCORING), passed(op.inputs[1], SAME)
    if scores.type != "StridedSlice" or targets.type != "StridedSlice":
        return None
    given = targets.inputs[0]
    is_given = passed(given, HANDING).type in GIVEN and given.shape.rank == SEQUENCE_RANK
    is_moved = ends_of(targets) == (1, None) and ends_of(scores) == (None, -1)
    return targets if is_given and is_moved and reads_variable(scores.inputs[0], None) else None


def ends_of(slices: Any) -> tuple[int | None, int | None] | None:
    """Where a slice begins and ends in the axis of time, None for an end of that; None where it does more.

    It may be one of the features too.
    """
    begin, end, strides = (tf.get_static_value(one) for one in slices.inputs[1:])
    if any(one is None or len(one) < SEQUENCE_RANK for one in (begin, end, strides)) or (strides != 1).any():
        return None
    is_other = any(slices.get_attr(name) for name in ("new_axis_mask", "ellipsis_mask"))
    if is_other or slices.get_attr("shrink_axis_mask") & OF_TIME or begin[0] or not slices.get_attr("end_mask") & 1:
        return None
    begins, ends = slices.get_attr("begin_mask"), slices.get_attr("end_mask")
    length = slices.inputs[0].shape[1]
    first = None if begins >> 1 & 1 or begin[1] == 0 else int(begin[1])
    last = None if ends >> 1 & 1 else int(end[1]) - (length if length is not None and end[1] > 0 else 0)
    return first, last
