"""Samples that are tiled where each is to be repeated, in the graph. Owns no state.

Of ``[n, k]`` items a reshape to ``[-1]`` makes one list, sample by sample. What belongs to a sample goes with it where
each is repeated ``k`` times; tiled, the whole list of samples comes ``k`` times, and meets the items of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import layer_of, slip_of, source_of
from gradwatch.walk import beyond, is_given

__all__ = ["find_tiled"]

SAME: Final = frozenset({"Cast", "ExpandDims", "Identity"})
"""What leaves the samples where they are."""


def find_tiled(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first tile of what a step was given, whose result meets a list of ``[n, k]`` such, sample by sample.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Tile``), name, layer and source line of it, and ``tiled``: how many times.
    """
    tiles = [(op, times) for op in forward if op.type == "Tile" and (times := _times(op)) > 1]
    for op, times in tiles:
        lists = [one for one in forward if one.type == "Reshape" and _is_list(one, times)]
        met = {id(one) for one in beyond(op)} if lists else set()
        for one in lists:
            is_joined = any(id(user) in met and len(user.inputs) > 1 for user in beyond(one))
            if is_joined and not layer_of(op.name, layer_paths):
                return [slip_of(op, layer_paths) | {"source": source_of(op), "tiled": times}]
    return []


def _times(op: Any) -> int:
    """How many times the whole batch comes, where that is all that a tile does; 0 for anything else."""
    multiples = tf.get_static_value(op.inputs[1])
    if multiples is None or not is_given(op.inputs[0], SAME) or any(one != 1 for one in multiples[1:]):
        return 0
    return int(multiples[0])


def _is_list(op: Any, times: int) -> bool:
    """Whether a reshape makes one axis of samples and of so many items of each."""
    before, after = op.inputs[0].shape, op.outputs[0].shape
    if before.rank is None or after.rank is None or after.rank != before.rank - 1 or before.rank <= 1:
        return False
    return before[1] == times and before[0] != times and before[2:] == after[1:] and is_given(op.inputs[0], SAME)
