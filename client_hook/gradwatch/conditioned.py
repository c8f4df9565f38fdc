"""Conditions that a generator was given and its judge was not, in the graph. Owns no state.

A generator makes a sample for a label; whether it fits is asked of a discriminator, which gets both. If the label is
another sample's, the generator learns nothing of what it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

from gradwatch.origin import slip_of, source_of
from gradwatch.repeated import is_same
from gradwatch.tap import find_handle
from gradwatch.walk import ADDING, behind, reads_variable, users_of

__all__ = ["find_conditions"]

PASSING: Final = frozenset({"Cast", "Identity", "Reshape"})
Tensor = Any  # tensorflow ships no types


def find_conditions(forward: Sequence[Any], trained: Set[int], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first place where what is trained meets data in a network that is not, and was made with others.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        trained: the handles of the variables that the step trains.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``ConcatV2``), name, layer and the line of the user's that calls for it, and ``conditions``: the shape of
        both.
    """
    ids = {id(op) for op in forward}
    joins = [op for op in forward if op.type == "ConcatV2" and len(op.inputs) == 3]
    for op in joins:
        parts = list(op.inputs[:-1])
        reads = [reads_variable(one, None) for one in parts]
        if sum(reads) != 1 or _is_trained(op, ids, trained):
            continue
        made, given = parts if reads[0] else reversed(parts)
        asked = _asked_of(made, joins)
        kin = [one for one in asked if one.shape == given.shape and one.dtype == given.dtype]
        if len(kin) == 1 and not _is_drawn(kin[0]) and not any(is_same(one, given) for one in asked):
            return [slip_of(op, layer_paths) | {"source": source_of(op), "conditions": given.shape.as_list()[1:]}]
    return []


def _asked_of(made: Tensor, joins: Sequence[Any]) -> list[Tensor]:
    """What a network was given that made a tensor: noise, and what it was to make."""
    own = {id(op) for op in behind([made.op], through=None)}
    firsts = [op for op in joins if id(op) in own and not any(reads_variable(one, None) for one in op.inputs)]
    return list(firsts[0].inputs[:-1]) if len(firsts) == 1 else []


def _is_trained(join: Any, forward: Set[int], trained: Set[int]) -> bool:
    """Whether the kernels that what was joined goes into are trained; also where none is known."""
    pending, users = users_of(join.outputs[0], forward), list[Any]()
    while pending:
        user = pending.pop()
        if user.type in PASSING:
            pending += users_of(user.outputs[0], forward)
        else:
            users.append(user)
    read = [one for user in users for part in user.inputs for one in behind([part.op], through=PASSING)]
    handles = [find_handle(one.inputs[0]) for one in read if one.type == "ReadVariableOp"]
    return not handles or any(handle in trained for handle in handles)


def _is_drawn(tensor: Tensor) -> bool:
    """Whether it is noise itself."""
    return any("Random" in op.type for op in behind([tensor.op], through=PASSING | ADDING | {"Mul"}))
