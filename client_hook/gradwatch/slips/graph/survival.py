"""Risk sets of a partial likelihood that hold those who had left before, in the graph. Owns no state.

Cox's partial likelihood compares each sample whose event is seen with those that are still there at its time. With the
samples in the order of their times, these are itself and all after it; the sum over them is cumulative from the end,
or from the start where the latest comes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import slip_of
from gradwatch.walk import behind, reads_variable

__all__ = ["find_left"]

SAME: Final = frozenset({"Cast", "Identity", "Reshape", "Squeeze"})
LOGGING: Final = SAME | {"AddV2", "Maximum", "CumulativeLogsumexp", "Cumsum", "Log"}
"""What stands between the sum and the difference from the scores."""
STEPS_MAX: Final = 48
"""Operations that are looked at behind the sum."""
Tensor = Any  # tensorflow ships no types


def find_left(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Sums of what a network gives over the samples of a batch up to each one's time, in place of those from it on.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``CumulativeLogsumexp``, ``Cumsum``), name, layer and source line of the first, and ``left``: True. Only
        where the difference between score and sum is then weighed, sample by sample, by data that are sorted too: an
        event that is seen or not. Lists that are ranked are summed likewise, from the best on.
    """
    for op in forward:
        if op.type not in ("CumulativeLogsumexp", "Cumsum") or op.inputs[0].shape.rank != 1:
            continue
        if not reads_variable(op.inputs[0], None):
            continue
        sort = _sort_of(op.inputs[0])
        if sort is None:
            continue
        is_ascending = _is_ascending(*sort)
        is_from_end = bool(op.get_attr("reverse"))
        if is_ascending is not None and is_ascending != is_from_end and _is_of_events(op):
            return [slip_of(op, layer_paths) | {"left": True}]
    return []


def _sort_of(scores: Tensor) -> tuple[Any, Tensor] | None:
    """The one sort that gives scores, or what they are made of, their order, and the places; None without one."""
    found: dict[int, tuple[Any, Tensor]] = {}
    for op in behind([scores.op], through=None):
        if op.type == "GatherV2":
            places = op.inputs[1]
            made = behind([places.op], through=SAME | {"ReverseV2", "StridedSlice"})
            found |= {id(places): (one, places) for one in made if one.type == "TopKV2"}
    return next(iter(found.values())) if len(found) == 1 else None


def _is_ascending(sort: Any, places: Tensor) -> bool | None:
    """Whether places are in ascending order of data; None where they are of something else, or it is not known."""
    is_ascending = False  # as this operation gives them
    while places.op is not sort:
        op = places.op
        if op.type == "ReverseV2":
            is_ascending = not is_ascending
        elif op.type == "StridedSlice":
            step = tf.get_static_value(op.inputs[3])
            if step is None or step.size != 1:
                return None
            is_ascending ^= bool(step.ravel()[0] < 0)
        places = op.inputs[0]
    key = sort.inputs[0]
    while key.op.type in SAME | {"Neg"}:
        is_ascending ^= key.op.type == "Neg"
        key = key.op.inputs[0]
    return None if reads_variable(key, None) else is_ascending


def _is_of_events(total: Any) -> bool:
    """Whether the difference between a score and a sum is multiplied with data that are sorted too."""
    pending, seen = [total], set[int]()
    for _ in range(STEPS_MAX):
        if not pending:
            break
        op = pending.pop()
        for user in (user for output in op.outputs for user in output.consumers()):
            if id(user) in seen:
                continue
            seen.add(id(user))
            if user.type == "Mul" and any(map(_is_event, user.inputs)):
                return True
            if user.type in LOGGING | {"Sub", "Neg", "Mul"}:
                pending.append(user)
    return False


def _is_event(tensor: Tensor) -> bool:
    types = {op.type for op in behind([tensor.op], through=None)}
    return "TopKV2" in types and "ReadVariableOp" not in types
