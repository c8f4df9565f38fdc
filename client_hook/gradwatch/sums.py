"""Gradients that a script adds up in variables of its own, and whether it ever sets them back.

Owns which variables were assigned to while something is watched. Of the sums only this is known: what a step reads them
from, and that nobody has written another number into them since.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

from gradwatch.origin import GRADIENT_SCOPE
from gradwatch.tap import find_handle

__all__ = ["are_from_tape", "find_sums", "is_cleared", "note_added", "note_assigned"]

Tensor = Any  # tensorflow ships no types

_PASSING: Final = {"Identity", "Cast", "Mul", "RealDiv", "ReadVariableOp", "Reshape"}
"""Operations that a sum passes on its way to the optimizer: it is read, averaged, clipped."""
OPS_MAX: Final = 20
"""On that way."""

SAME: Final = 1e-6
"""By how much of itself a number may differ from a multiple of another, for rounding."""

_assigned: set[int] = set()
"""The handles of variables that were assigned to, or subtracted from, in a function: whenever that is called."""
_assigned_at_once: set[int] = set()
"""Likewise, eagerly."""
_added: dict[int, weakref.ref[Any]] = {}
"""By their handles the variables of floats that were added to, the newest last."""


def find_sums(gradients: Sequence[Any]) -> frozenset[int]:
    """The handles of the variables that gradients are read from; none unless all of them are.

    Args:
        gradients: as an optimizer is given them: None, a tensor, or the variable itself. An eager tensor does not tell
            where it was read: it is known by its numbers, which are those of a variable that was added to, or all of
            them in the same ratio.
    """
    known = [one for one in gradients if one is not None]
    found = _find_by_numbers(known) if _are_eager(known) else [_find_variable(one) for one in known]
    sums = frozenset() if None in found else frozenset(handle for handle in found if handle is not None)
    _assigned_at_once.difference_update(sums)  # what was set to 0 before the first step may never be again
    return sums


def are_from_tape(gradients: Sequence[Any]) -> bool:
    """Whether each gradient, as an optimizer is given it in a graph, is what a tape made of this very step."""
    found = [getattr(one, "values", one) for one in gradients if one is not None]
    return bool(found) and all(tf.is_symbolic_tensor(one) and GRADIENT_SCOPE in one.op.name for one in found)


def is_cleared(sums: frozenset[int]) -> bool:
    """Whether anything was written into one of these variables since they were found, or is by a function."""
    return not (sums.isdisjoint(_assigned) and sums.isdisjoint(_assigned_at_once))


def note_assigned(variable: tf.Variable) -> None:
    """A variable is about to be assigned to, or subtracted from."""
    (_assigned_at_once if tf.executing_eagerly() else _assigned).add(variable.handle._id)


def note_added(variable: tf.Variable) -> None:
    """A variable is about to be added to."""
    if variable.dtype.is_floating:
        _added.pop(variable.handle._id, None)
        _added[variable.handle._id] = weakref.ref(variable)


def _are_eager(gradients: Sequence[Any]) -> bool:
    is_eager = all(isinstance(one, tf.Tensor) and not tf.is_symbolic_tensor(one) for one in gradients)
    return bool(gradients) and is_eager and tf.executing_eagerly()


def _find_by_numbers(gradients: Sequence[Tensor]) -> list[int | None]:
    """For each eager gradient the handle of a variable that holds its numbers in the ratio of all; None for none."""
    added = {handle: one for handle, ref in list(_added.items()) if (one := ref()) is not None}
    for handle in _added.keys() - added.keys():
        del _added[handle]
    ratio = math.nan
    found: list[int | None] = []
    for gradient in gradients:
        same = [(h, one) for h, one in added.items() if one.shape == gradient.shape and one.dtype == gradient.dtype]
        ratios = ((handle, _ratio_of(one, gradient, ratio)) for handle, one in reversed(same))  # the newest first
        match = next(((handle, own) for handle, own in ratios if not math.isnan(own)), None)
        if match is None:
            return [None]
        found.append(match[0])
        ratio = match[1]
    return found


def _ratio_of(variable: Any, gradient: Tensor, ratio: float) -> float:
    """What a gradient's numbers are to be multiplied by to be a variable's; NaN if by nothing, or not by ``ratio``."""
    sums, values = (one.numpy().astype(np.float64).ravel() for one in (variable, gradient))
    place = int(np.argmax(np.abs(sums))) if sums.size else 0
    if not np.isfinite(sums).all() or not np.isfinite(values).all():
        return math.nan
    if not sums.size or not sums[place] or not values[place]:  # of zeros nothing is known
        return math.nan
    with np.errstate(all="ignore"):
        own = float(sums[place] / values[place])
        is_same = np.allclose(own * values, sums, rtol=SAME, atol=SAME * abs(float(sums[place])))
    is_of_all = math.isnan(ratio) or abs(own - ratio) <= 10 * SAME * abs(ratio)
    return own if is_same and is_of_all else math.nan


def _find_variable(gradient: Any) -> int | None:
    """The handle of the variable that a gradient is read from, on a way that keeps its shape."""
    variable = getattr(gradient, "value", None) if hasattr(gradient, "path") else gradient
    if isinstance(variable, BaseResourceVariable):
        return int(variable.handle._id)
    if not tf.is_symbolic_tensor(gradient):
        return None
    tensor: Tensor = gradient
    for _ in range(OPS_MAX):
        if tensor.op.type == "ReadVariableOp":
            return find_handle(tensor.op.inputs[0])
        sources = [one for one in tensor.op.inputs if one.shape == gradient.shape]
        if tensor.op.type not in _PASSING or len(sources) != 1:
            return None
        tensor = sources[0]
    return None
