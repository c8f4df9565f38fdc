"""Gradients that a script adds up in variables of its own, and whether it ever sets them back.

Owns which variables were assigned to while something is watched. Of the sums only this is known: what a step reads them
from, and that nobody has written another number into them since.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable

from gradwatch.patch import MethodPatch
from gradwatch.tap import find_handle

__all__ = ["find_sums", "install", "is_cleared", "restore"]

Tensor = Any  # tensorflow ships no types

_PASSING: Final = {"Identity", "Cast", "Mul", "RealDiv", "ReadVariableOp", "Reshape"}
"""Operations that a sum passes on its way to the optimizer: it is read, averaged, clipped."""
OPS_MAX: Final = 20
"""On that way."""

_assigned: set[int] = set()
"""The handles of variables that were assigned to, or subtracted from, in a function or at once."""


def find_sums(gradients: Sequence[Any]) -> frozenset[int]:
    """The handles of the variables that gradients are read from; none unless all of them are.

    Args:
        gradients: as an optimizer is given them: None, a tensor, or the variable itself.
    """
    found = [_find_variable(one) for one in gradients if one is not None]
    return frozenset() if None in found else frozenset(handle for handle in found if handle is not None)


def is_cleared(sums: frozenset[int]) -> bool:
    """Whether anything was written into one of these variables since they were first watched."""
    return not sums.isdisjoint(_assigned)


def install() -> None:
    """Takes note of what is assigned from now on; a second watch changes nothing."""
    for patch in _patches:
        patch.install({BaseResourceVariable, ResourceVariable})  # a library may have given the latter its own


def restore() -> None:
    """Undoes `install`. What was seen is kept, for rows that are still to be read."""
    for patch in _patches:
        patch.restore()


def _around_assign(original: Any, variable: Any, *args: Any, **kwargs: Any) -> Any:
    with contextlib.suppress(Exception):  # the boundary: the hook must not harm training
        _assigned.add(variable.handle._id)
    return original(variable, *args, **kwargs)


_patches: Final = [MethodPatch(name, _around_assign) for name in ("assign", "assign_sub")]


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
