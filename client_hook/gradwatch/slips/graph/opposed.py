"""Gradients that the user's own code turns round on their way back, in the graph: one network trained as two rivals.

What comes behind such a place learns to tell something, and what comes before it to hide that. Behind it is nothing
wrong if outputs do not follow their targets, and the loss stands where guessing is: that is success. Owns no state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.constants import factor
from gradwatch.origin import gradient_frames, is_users, layer_of, slip_of
from gradwatch.walk import behind, beyond

__all__ = ["find_opposed", "is_opposed"]

SUMMING: Final = frozenset({"AddV2", "Identity", "Mul"})
LAYERS_MAX: Final = 100
Tensor = Any  # tensorflow ships no types


def find_opposed(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Operations that give what they are given, and whose gradient has the other sign.

    Args:
        forward: the operations that the gradients of a step and its loss depend on, without those that TensorFlow
            itself makes for a gradient, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``IdentityN``, of a function with a gradient of the user's own, or ``Sub``, of what is held from twice
        itself), name, layer and source line of each, and ``opposes``: the layers behind it.
    """
    ids = {id(op) for op in forward}
    turns = any(_is_negative(op) and _is_of_own_gradient(op) for op in forward)
    found = [op for op in forward if (turns and _is_mirror(op)) or _is_held(op)]
    opposed = [(op, list(_layers_of(beyond(op), ids, layer_paths))[:LAYERS_MAX]) for op in found]
    return [{**slip_of(op, layer_paths), "opposes": layers} for op, layers in opposed if layers]


def is_opposed(output: Tensor, names: Set[str]) -> bool:
    """Whether an output of a graph is made by way of one of these operations."""
    if not names or not tf.is_symbolic_tensor(output):
        return False
    return any(op.name in names for op in behind([output.op], through=None))


def _layers_of(ops: Sequence[Any], forward: Set[int], layer_paths: Sequence[str]) -> Iterator[str]:
    paths = (layer_of(op.name, layer_paths) for op in ops if id(op) in forward)
    return iter(dict.fromkeys(path for path in paths if path))


def _is_mirror(op: Any) -> bool:
    """Whether it is a function with its own gradient, which gives the first of what it is given as it is."""
    if op.type != "IdentityN" or len(op.inputs) < 2 or not _has_own_gradient(op):
        return False
    given, last = op.inputs[1], op.inputs[0]
    while last is not given and last.op.type == "Identity":
        last = last.op.inputs[0]
    return last is given


def _has_own_gradient(op: Any) -> bool:
    try:
        return bool(op.get_attr("_gradient_op_type"))
    except ValueError:
        return False


def _is_negative(op: Any) -> bool:
    parts = factor(op)
    return bool(op.type == "Neg" if parts is None else parts[0] < 0)


def _is_of_own_gradient(op: Any) -> bool:
    """Whether a function of the user's own made an operation that a tape had asked for a gradient."""
    return any(is_users(frame.filename) for frame in gradient_frames(op))


def _is_held(op: Any) -> bool:
    """Whether it is ``stop_gradient(2 * x) - x``, or ``stop_gradient(x + r * x) - r * x``."""
    if op.type != "Sub" or op.inputs[0].op.type != "StopGradient":
        return False
    held, turned = op.inputs[0].op.inputs[0], op.inputs[1]
    made = {id(one) for part in behind([held.op], through=SUMMING) for one in part.inputs}
    own = turned.op.inputs if turned.op.type == "Mul" else [turned]
    return any(id(one) in made and one.shape.rank for one in (turned, *own))
