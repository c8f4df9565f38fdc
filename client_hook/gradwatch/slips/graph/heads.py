"""Attention whose heads are split, or put together, by a reshape alone, in the graph. Owns no state.

A reshape that makes ``[n, n_heads, n_steps, depth]`` of ``[n, n_steps, n_heads * depth]`` reads the numbers row by row:
a head's steps are then parts of the same few steps. The axis of heads has to be made behind that of steps, and moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.walk import PRODUCTS, goes_into, passed

__all__ = ["find_heads"]

PASSING: Final = frozenset({"Cast", "Identity", "Mul", "RealDiv", "Transpose"})
"""What may stand between the reshape and an attention's product."""
HEADS_RANK: Final = 4


def find_heads(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first reshape that puts an axis of heads before that of steps, or takes one from there, without a transpose.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Reshape``), name, layer and source line of it; ``heads``: how many; ``splits``: whether it makes them.
    """
    ids = {id(op) for op in forward}
    for op in forward:
        if op.type != "Reshape":
            continue
        before, after = op.inputs[0].shape, op.outputs[0].shape
        if _are_parts(after, before) and goes_into(op, ids, PRODUCTS, through=PASSING):
            return [slip_of(op, layer_paths) | {"heads": after[1], "splits": True}]
        if _are_parts(before, after) and passed(op.inputs[0], PASSING - {"Transpose"}).type in PRODUCTS:
            return [slip_of(op, layer_paths) | {"heads": before[1], "splits": False}]
    return []


def _are_parts(parts: Any, whole: Any) -> bool:
    """Whether one shape is ``[n, n_heads, n_steps, depth]``, and the other ``[n, n_steps, n_heads * depth]``."""
    if parts.rank != HEADS_RANK or whole.rank != HEADS_RANK - 1 or None in (*parts[1:], *whole[1:]):
        return False
    _, n_heads, n_steps, depth = parts
    return min(n_heads, n_steps) > 1 and n_heads != n_steps and tuple(whole[1:]) == (n_steps, n_heads * depth)
