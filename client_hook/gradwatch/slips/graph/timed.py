"""Predictions for each time of a sequence that meet the one target of a sample, in the graph. Owns no state.

A recurrent layer that gives all its steps, and a layer of one unit behind it, predict ``[n, time, 1]``. A loss squeezes
that and lets it meet a target ``[n, 1]`` or ``[n]`` in silence: each time is asked for what only the last can know.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.constants import constant
from gradwatch.origin import layer_of, slip_of
from gradwatch.walk import AVERAGING, GIVEN, behind, passed, users_of

__all__ = ["find_timed"]

COMPARING: Final = frozenset({"SquaredDifference", "Sub"})
SAME: Final = frozenset({"Cast", "Identity"})
SEQUENCE_RANK: Final = 3
FUNCTIONS: Final = frozenset({"Abs", "Greater", "LessEqual", "Neg", "Pow", "SelectV2", "Square", "Sub"})
ADDING: Final = frozenset({"AddV2", "Mul"})
DEPTH_MAX: Final = 8
Tensor = Any  # tensorflow ships no types


def find_timed(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first difference of a layer's ``[n, time, 1]`` and a target of one number for each sample.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, the layer that predicts, source line, and ``times``: how many, -1 where they differ from batch to
        batch. None where the target was given an axis, or repeated, or where times or samples are weighed before their
        mean: then it is meant.
    """
    ids = {id(op) for op in forward}
    for op in forward:
        if op.type not in COMPARING:
            continue
        for predicted, asked in (op.inputs, tuple(reversed(op.inputs))):
            made = passed(predicted, SAME | {"Squeeze"})
            layer = layer_of(made.name, layer_paths)
            if layer and _is_one_number(asked) and _is_of_times(made.outputs[0], asked) and _is_averaged(op, ids):
                n_times = made.outputs[0].shape[1]
                return [slip_of(op, layer_paths) | {"layer": layer, "times": -1 if n_times is None else n_times}]
    return []


def _is_one_number(asked: Tensor) -> bool:
    """Whether it is given, one number for each sample, with no axis added but the loss' own."""
    shape, given = asked.shape, passed(asked, SAME)
    if given.type not in GIVEN or not shape.rank:
        return False
    return all(length == 1 for length in shape[1:])


def _is_of_times(predicted: Tensor, asked: Tensor) -> bool:
    """Whether a prediction has an axis of times, that of a sequence which it is made of."""
    shape = predicted.shape
    if shape.rank != SEQUENCE_RANK or shape[2] != 1 or shape[1] == 1 or not predicted.dtype.is_floating:
        return False
    ways = list(behind([predicted.op], through=None))
    given = (one for op in ways for one in (*op.inputs, *op.outputs) if one.op.type in GIVEN and one is not asked)
    sequences = [one for one in given if one.dtype != tf.resource and (one.shape.rank or 0) > 1]
    return any(one.shape[1] == shape[1] for one in sequences)


def _is_averaged(op: Any, forward: Set[int], depth: int = DEPTH_MAX) -> bool:
    """Whether nothing but functions of a difference and numbers stand between it and a mean or sum of all."""
    users = users_of(op.outputs[0], forward)
    return bool(users) and depth > 0 and all(_is_passed(user, op, forward, depth) for user in users)


def _is_passed(user: Any, op: Any, forward: Set[int], depth: int) -> bool:
    if user.type in AVERAGING:
        return True
    is_function = user.type in FUNCTIONS | SAME
    is_scaled = user.type in ADDING and all(one.op is op or constant(one) is not None for one in user.inputs)
    return (is_function or is_scaled) and _is_averaged(user, forward, depth - 1)
