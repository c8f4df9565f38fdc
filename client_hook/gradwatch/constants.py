"""Numbers that are known while a step is traced. Owns no state."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.walk import ADDING, passed

__all__ = ["constant", "factor", "parted", "scaled"]

NUMBERS: Final = "fiub"
Tensor = Any  # tensorflow ships no types


def constant(tensor: Tensor) -> float | None:
    """The number that a tensor is throughout, known while the step is traced; None if it is none."""
    op = passed(tensor)
    if op.type == "Fill":
        op = passed(op.inputs[1])
    if op.type in ("OnesLike", "ZerosLike"):
        return float(op.type == "OnesLike")
    if op.type == "Mul":
        one = constant(op.inputs[0])
        other = None if one is None else constant(op.inputs[1])
        return None if one is None or other is None else one * other
    if op.type != "Const":
        return None
    values = np.asarray(tf.get_static_value(op.outputs[0]))
    is_one = values.size > 0 and values.dtype.kind in NUMBERS and (values == values.flat[0]).all()
    return float(values.flat[0]) if is_one else None


def parted(op: Any) -> tuple[float, Tensor] | None:
    """The constant number and the other input of an operation that has one of each; None for anything else."""
    if len(op.inputs) != 2:
        return None
    one, other = (constant(part) for part in op.inputs)
    if one is None:
        return None if other is None else (other, op.inputs[0])
    return (one, op.inputs[1]) if other is None else None


def factor(op: Any) -> tuple[float, Tensor] | None:
    """What an operation multiplies by, where that is a constant number, and what; None where it does something else."""
    parts = parted(op) if op.type in ("Mul", "RealDiv") else None
    if parts is None or op.type == "Mul":
        return parts
    number, other = parts
    return (1.0 / number, other) if number and other is op.inputs[0] else None


def scaled(op: Any) -> tuple[float, Tensor] | None:
    """As `factor`, also of an operation that adds 0, which multiplies by 1."""
    parts = parted(op) if op.type in ADDING else None
    return (1.0, parts[1]) if parts is not None and parts[0] == 0 else factor(op)
