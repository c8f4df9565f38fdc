"""Single numbers that are normalised by themselves, in the graph. Owns no state.

A vector of one number that is brought to length 1 is that number's sign; one number less its own mean is 0, and all
that a layer which normalises it gives is that layer's bias.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorflow.python.framework.smart_cond import smart_constant_value

from gradwatch.origin import slip_of, source_of
from gradwatch.slips.graph.weighed import is_weight
from gradwatch.walk import is_square, passed, reads_variable, users_of

__all__ = ["find_lone"]

DIVIDING: Final = frozenset({"DivNoNan", "Mul", "RealDiv"})
ROOTING: Final = frozenset(
    {"AddV2", "ExpandDims", "Identity", "Maximum", "Minimum", "Reshape", "Rsqrt", "Sqrt", "Squeeze"}
)
"""What stands between a sum of squares and what a vector is divided by, a root among them."""
SAME: Final = frozenset({"Cast", "Identity", "StopGradient"})
DEPTH_MAX: Final = 6
FOUND_MAX: Final = 4
Tensor = Any  # tensorflow ships no types


def find_lone(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Vectors of one number that are brought to length 1, and single numbers that lose their mean.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of each, and ``lone``: ``length`` or ``mean``. The first `FOUND_MAX`, none of
        a layer twice.
    """
    ids = {id(op) for op in forward}
    found: dict[str, dict[str, Any]] = {}
    for op in forward:
        of = _of_one(op) if op.type in ("Mean", "Sum") else None
        if of is None:
            continue
        if op.type == "Mean":
            users = (one for output in op.outputs for one in _users(output, ids))
            is_lone = any(one.type == "SquaredDifference" and _is_among(of, one) for one in users)
        else:
            of = _square_of(op)
            is_lone = of is not None and reads_variable(of, None) and _is_divided(op.outputs[0], of, ids)
        if is_lone:
            lone = "mean" if op.type == "Mean" else "length"
            one = slip_of(op, layer_paths) | {"source": source_of(op), "lone": lone}
            found.setdefault(one["layer"] or repr(one["source"]), one)
    return list(found.values())[:FOUND_MAX]


def _of_one(op: Any) -> Tensor | None:
    """What is reduced along axes of one element each, other than the first, which are no weights; else None."""
    given = op.inputs[0]
    rank, axes = given.shape.rank or 0, smart_constant_value(op.inputs[1])
    if rank < 2 or axes is None or is_weight(given):
        return None
    taken = {int(axis) % rank for axis in axes.ravel()}
    return given if taken and 0 not in taken and all(given.shape[axis] == 1 for axis in taken) else None


def _square_of(total: Any) -> Tensor | None:
    made = total.inputs[0].op
    return made.inputs[0] if is_square(made) else None


def _users(tensor: Tensor, ids: set[int]) -> list[Any]:
    """The operations that take a tensor's numbers, behind what leaves them as they are."""
    found = []
    for user in users_of(tensor, ids):
        found += _users(user.outputs[0], ids) if user.type in SAME else [user]
    return found


def _is_among(tensor: Tensor, op: Any) -> bool:
    return any(passed(one, SAME) is passed(tensor, SAME) for one in op.inputs)


def _is_divided(length: Tensor, vector: Tensor, ids: set[int], depth: int = DEPTH_MAX) -> bool:
    """Whether a vector is divided by what is made of the sum of its squares."""
    for user in users_of(length, ids) if depth else ():
        if user.type in DIVIDING and _is_among(vector, user):
            return True
        if user.type in ROOTING and _is_divided(user.outputs[0], vector, ids, depth - 1):
            return True
    return False
