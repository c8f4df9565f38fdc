"""Recurrent layers of which only the state after the last step goes on, in the graph. Owns no state.

Where sequences are padded at their end and nothing masks it, that state has read the padding last. Whether they are
padded is seen when the step runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.slips.graph.backwards import is_read_by_loop
from gradwatch.walk import goes_into, users_of

__all__ = ["find_ends"]

PASSING: Final = frozenset({"Cast", "Identity", "Mul", "SelectV2", "Transpose"})
"""What may stand between a sequence of outputs and the one that is taken of it."""


def find_ends(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first loop without a mask whose last output alone is used; none where another reads from the end.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``While``), name, layer and source line (None within a layer of Keras') of it, and ``end_of``: how many
        steps it reads, 0 where that is not known before the step runs.
    """
    if any(op.type == "ReverseV2" and is_read_by_loop(op) for op in forward):
        return []
    ids = {id(op) for op in forward}
    for op in forward:
        if op.type != "While":
            continue
        read = [one.op.inputs[0] for one in op.inputs if one.op.type == "TensorListFromTensor"]
        stacks = [user for one in op.outputs for user in users_of(one, ids) if user.type == "TensorListStack"]
        is_last = all(goes_into(one, ids, {"StridedSlice"}, through=PASSING) for one in stacks)
        if len(read) == 1 and not read[0].dtype.is_bool and stacks and is_last:
            return [slip_of(op, layer_paths) | {"end_of": read[0].shape[0] or 0}]
    return []
