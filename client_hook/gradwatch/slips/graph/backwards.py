"""Sequences that a recurrent layer read backwards, laid step by step beside one that was not, in the graph. No state.

A layer that reads from the end gives the last step first. Where nothing turns that round again, what it says of the
first step stands beside the last.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.walk import SHAPES, goes_into

__all__ = ["find_backwards", "is_read_by_loop"]

JOINING: Final = frozenset({"Add", "AddV2", "AddN", "ConcatV2", "Maximum", "Mul", "Pack"})
PICKING: Final = frozenset({"GatherV2", "Max", "Mean", "Min", "StridedSlice", "Sum", "TensorListGetItem"})
"""What no order in time is left of, or a single step."""
PASSING: Final = frozenset({"Cast", "Identity", "Mul", "Relu", "SelectV2", "Tanh"})
"""What may stand between, a dropout's operations among them."""
WAY_MAX: Final = 3000
"""Operations that are looked at behind one tensor."""
JOINS_MAX: Final = 50
Tensor = Any  # tensorflow ships no types
Turns = Mapping[int, set[int]]  # operation, by its id -> how often its output was turned round on the ways here, 0 or 1


def find_backwards(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Sequences that are joined with one in the other order.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``ReverseV2``), name, layer and source line (None within a layer of Keras') of the operation that turns
        such a sequence before a loop reads it, for each layer that does so.
    """
    turning = {id(op): op for op in forward if op.type == "ReverseV2" and is_read_by_loop(op)}
    if not turning:
        return []
    ids = {id(op) for op in forward}
    joins = [op for op in forward if _joins_sequences(op)]
    found: dict[str, dict[str, Any]] = {}
    for join in joins[:JOINS_MAX]:
        ways = [_turns(one) for one in _sequences(join)]
        for turned in _differing(ways) & turning.keys():
            op = turning[turned]
            if not goes_into(join, ids, PICKING, through=PASSING):
                slip = slip_of(op, layer_paths)
                found.setdefault(slip["layer"] or op.name, slip)
    return list(found.values())


def is_read_by_loop(op: Any) -> bool:
    """Whether a loop takes what an operation gives, step by step."""
    lists = [user for user in op.outputs[0].consumers() if user.type == "TensorListFromTensor"]
    return any(user.type == "While" for one in lists for user in one.outputs[0].consumers())


def _sequences(join: Any) -> list[Tensor]:
    return [one for one in join.inputs if one.dtype.is_floating and (one.shape.rank or 0) >= 3]


def _joins_sequences(op: Any) -> bool:
    """Whether an operation joins tensors ``[n, n_steps, ...]`` that are as long, step by step."""
    if op.type not in JOINING:
        return False
    given, made = _sequences(op), op.outputs[0].shape
    if len(given) < 2 or made.rank is None or any(one.shape.rank != given[0].shape.rank for one in given):
        return False
    lengths = {one.shape[1] for one in given}
    return len(lengths) == 1 and (op.type != "ConcatV2" or made[1] in lengths)


def _turns(tensor: Tensor) -> Turns:
    """What a sequence is made of, step by step, and whether its order is another there."""
    found: dict[int, set[int]] = defaultdict(set)
    pending = deque([(tensor.op, 0)])
    while pending and len(found) < WAY_MAX:
        op, n_turns = pending.popleft()
        if n_turns in found[id(op)]:
            continue
        found[id(op)].add(n_turns)
        if op.type in PICKING or op.type in SHAPES:
            continue
        before = 1 - n_turns if op.type == "ReverseV2" else n_turns
        pending.extend((source, before) for source in _sources(op))
    return found


def _sources(op: Any) -> list[Any]:
    if op.type == "While":  # it reads lists of steps; the rest are states and weights
        return [one.op for one in op.inputs if one.op.type == "TensorListFromTensor"]
    return [one.op for one in op.inputs if one.op.type not in SHAPES]


def _differing(ways: Sequence[Turns]) -> set[int]:
    """The operations on one way alone that lead back to what is on another in the other order."""
    found: set[int] = set()
    for one in ways:
        for other in ways:
            both = one.keys() & other.keys()
            if any((one[key], other[key]) == ({1}, {0}) for key in both):
                found |= one.keys() - other.keys()
    return found
