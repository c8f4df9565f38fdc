"""Softmaxes along another axis than that of the classes, in the graph. Owns no state.

A cross-entropy of each time or pixel takes the last axis for the classes. Where the softmax before it was taken along
another one, the probabilities of a class add up to 1 over the times: none can be likely at all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.smart_cond import smart_constant_value

from gradwatch.constants import parted
from gradwatch.origin import slip_of, source_of
from gradwatch.walk import ENTROPIES, reads_variable

__all__ = ["find_crosswise"]

SOFTMAXES: Final = frozenset({"LogSoftmax", "Softmax"})
PASSING: Final = frozenset({"Cast", "Identity", "Log"})
BOUNDING: Final = frozenset({"Add", "AddV2", "Maximum", "Minimum"})
RANK_MIN: Final = 3
"""Axes of what has classes at several places of a sample."""
DEPTH_MAX: Final = 16
Tensor = Any  # tensorflow ships no types


class _Normalised(NamedTuple):
    """What gives probabilities, along which axis they add up to 1, and the form they have where a loss takes them."""

    op: Any
    axis: int
    shape: list[int | None]


def find_crosswise(
    forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """The first softmax of a cross-entropy over the last axis that was taken along another.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with a target each, as far as they are known. Keras takes a loss of the scores
            before their softmax, if it knows them.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Axis``), name, layer and source line of the softmax, ``crosswise``: the shape of the probabilities, the
        batch's axis -1, ``axis``: the one that they add up to 1 along, and ``bypassed``: whether the loss is one of the
        scores before.
    """
    taken = [(scores, False) for scores in map(_scores_of, forward) if scores is not None]
    bypassed = {id(_before_reshaped(op.inputs[0])) for op in forward if op.type in ENTROPIES}
    for scores, is_output in [*taken, *((output, True) for output in outputs if tf.is_symbolic_tensor(output))]:
        found = _find_normalised(scores)
        if found is None or found.axis == len(found.shape) - 1:
            continue
        if is_output and id(_before_turned(found.op.inputs[0])) not in bypassed:
            continue
        shape = [-1, *(-1 if length is None else length for length in found.shape[1:])]
        own = slip_of(found.op, layer_paths)
        place = {"type": "Axis", "source": own["source"] or source_of(found.op)}
        return [own | place | {"crosswise": shape, "axis": found.axis, "bypassed": is_output}]
    return []


def _before_reshaped(tensor: Tensor) -> Tensor:
    while tensor.op.type in ("Cast", "Identity", "Reshape"):
        tensor = tensor.op.inputs[0]
    return tensor


def _before_turned(tensor: Tensor) -> Tensor:
    return _before_reshaped(tensor.op.inputs[0] if tensor.op.type == "Transpose" else tensor)


def _scores_of(op: Any) -> Tensor | None:
    """What a cross-entropy takes for the scores of classes along the last axis; None for anything else."""
    if op.type in ENTROPIES:
        return op.inputs[0]
    for label, other in (op.inputs, tuple(reversed(op.inputs))) if op.type == "Mul" else ():
        one_hot = label.op.inputs[0].op if label.op.type == "Cast" else label.op
        is_of_last = one_hot.type == "OneHot" and one_hot.get_attr("axis") in (-1, (label.shape.rank or 0) - 1)
        if other.op.type in ("Log", "LogSoftmax", "Transpose") and (is_of_last or _is_renormalised(other, label)):
            return other
    return None


def _is_renormalised(logarithm: Tensor, label: Tensor) -> bool:
    """Whether probabilities are divided by their sum over the last axis before, as Keras does, for labels."""
    op = logarithm.op.inputs[0].op
    while op.type in ("Maximum", "Minimum"):
        op = op.inputs[0].op
    last = (logarithm.shape.rank or 0) - 1
    return not reads_variable(label, None) and _sum_axis(op) == last and op.inputs[0].op.type != "Exp"


def _sum_axis(op: Any) -> int | None:
    """Along which one axis an operation divides numbers by their sum; None for anything else."""
    total = op.inputs[1].op if op.type == "RealDiv" else None
    if total is None or total.type != "Sum" or total.inputs[0] is not op.inputs[0] or not total.get_attr("keep_dims"):
        return None
    axes, rank = smart_constant_value(total.inputs[1]), op.inputs[0].shape.rank
    return None if axes is None or np.size(axes) != 1 or not rank else int(np.ravel(axes)[0]) % rank


def _find_normalised(scores: Tensor) -> _Normalised | None:
    """The softmax that made the numbers of a cross-entropy, whose last axis is that of the classes."""
    tensor, places, shape = scores, list[int](), list[int | None]()
    for _ in range(DEPTH_MAX):
        op = tensor.op
        if not places and (tensor.shape.rank or 0) >= RANK_MIN and tensor.shape[-1] is not None:
            places, shape = list(range(tensor.shape.rank)), tensor.shape.as_list()
        along = _sum_axis(op)
        if places and (op.type in SOFTMAXES or (along is not None and op.inputs[0].op.type == "Exp")):
            return _Normalised(op, places[-1 if along is None else along], shape)
        if op.type == "Reshape" and (places or not _keeps_last(op)):
            return None
        if op.type == "Transpose":
            order = smart_constant_value(op.inputs[1])
            if order is None or not places:
                return None
            places = [places[list(order).index(axis)] for axis in range(len(places))]
        parts = parted(op) if op.type in BOUNDING else None
        if parts is None and op.type not in PASSING | {"Reshape", "Transpose"} and along is None:
            return None
        tensor = op.inputs[0] if parts is None else parts[1]
    return None


def _keeps_last(reshape: Any) -> bool:
    """Whether places are laid beside samples, and the classes stay the last axis."""
    before, after = reshape.inputs[0].shape, reshape.outputs[0].shape
    return bool(before.rank and after.rank) and after[-1] in (None, before[-1])
