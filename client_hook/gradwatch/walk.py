"""Walks through a graph: what an operation is made of, and what is made of it. Owns no state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import GRADIENT_SCOPE

__all__ = [
    "ADDING",
    "AVERAGING",
    "DIFFERENCES",
    "ENTROPIES",
    "GIVEN",
    "LOOPS",
    "PASSING",
    "PICKING",
    "PRODUCTS",
    "SAME_NUMBERS",
    "SHAPES",
    "WAY_MAX",
    "behind",
    "beyond",
    "consumers_of",
    "given_of",
    "given_tensors",
    "goes_into",
    "is_given",
    "is_square",
    "passed",
    "reads_variable",
    "roots_of",
    "users_of",
    "variables_of",
    "weights_read",
]

ADDING: Final = frozenset({"Add", "AddV2"})
"""Sums of two tensors."""
AVERAGING: Final = frozenset({"Mean", "Sum"})
"""Reductions that add up what they are given, or divide that by how many there are."""
DIFFERENCES: Final = frozenset({"SquaredDifference", "Sub"})
"""What holds one tensor to another."""
ENTROPIES: Final = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
"""Cross-entropies of scores, the first input, and labels, the second, of each sample."""
GIVEN: Final = frozenset({"IteratorGetNext", "Placeholder"})
"""What gives a step its arguments."""
LOOPS: Final = ("While", "StatelessWhile")
"""Loops in a graph: what they do stands in a function of its own."""
PICKING: Final = frozenset({"GatherNd", "GatherV2"})
"""What picks from its first input, by the second."""
PRODUCTS: Final = frozenset({"BatchMatMulV2", "Einsum", "MatMul"})
"""Products of two tensors."""
PASSING: Final = frozenset(
    {
        "BroadcastTo",
        "Cast",
        "ExpandDims",
        "Identity",
        "Reshape",
        "Squeeze",
        "StopGradient",
        "StridedSlice",
        "Tile",
        "Transpose",
    }
)
"""Operations that leave numbers what they are, or give fewer of them, or them more often."""
SAME_NUMBERS: Final = frozenset({"Cast", "ExpandDims", "Identity", "Reshape", "Squeeze"})
"""Operations that leave all numbers of a tensor what they are, whatever its shape and type."""
SHAPES: Final = frozenset({"Shape", "ShapeN", "Size", "Rank"})
"""What asks for a shape depends on no number."""
WAY_MAX: Final = 3000
"""Operations that are looked at on one walk."""
DEPTH_MAX: Final = 16
"""Operations between a tensor and what it is of."""
STEPS_MAX: Final = 8
"""Operations between one and what it goes into."""


def roots_of(gradients: Iterable[Any]) -> list[Any]:
    """The tensors that gradients are, of a sparse one its values; without those that are None."""
    return [one.values if isinstance(one, tf.IndexedSlices) else one for one in gradients if one is not None]


def behind(ops: Sequence[Any], *, through: Set[str] | None, most: int = WAY_MAX) -> Iterator[Any]:
    """Operations and what they are made of, passing those of some types, or all; no more than so many."""
    pending, seen = list(ops), set[int]()
    while pending and len(seen) < most:
        op = pending.pop()
        if id(op) in seen or op.type in SHAPES:
            continue
        seen.add(id(op))
        yield op
        if through is None or op.type in through:
            pending.extend(one.op for one in op.inputs)


def beyond(op: Any, *, most: int = WAY_MAX) -> list[Any]:
    """The operations that what one gives goes into, without those of a gradient or a shape; no more than so many."""
    pending, seen = [op], {id(op)}
    found: list[Any] = []
    while pending and len(found) < most:
        for output in pending.pop().outputs:
            for one in consumers_of(output):
                if id(one) not in seen:
                    seen.add(id(one))
                    found.append(one)
                    pending.append(one)
    return found


def consumers_of(tensor: Any) -> list[Any]:
    """The operations that take a tensor's numbers, without those of a gradient."""
    taking = (one for one in tensor.consumers() if one.type not in SHAPES)
    return [one for one in taking if not one.name.startswith(GRADIENT_SCOPE)]


def passed(tensor: Any, through: Set[str] = PASSING) -> Any:
    """The operation that made a tensor, before what leaves it as it is."""
    op = tensor.op
    for _ in range(DEPTH_MAX):
        if op.type not in through:
            break
        op = op.inputs[0].op
    return op


def reads_variable(tensor: Any, through: Set[str] | None) -> bool:
    """Whether a tensor is what a variable holds, behind operations of some types, or any."""
    return any(op.type == "ReadVariableOp" for op in behind([tensor.op], through=through))


def is_given(tensor: Any, through: Set[str]) -> bool:
    """Whether a tensor is what a step was given, behind operations of some types."""
    return any(op.type in GIVEN for op in behind([tensor.op], through=through))


def is_square(op: Any) -> bool:
    """Whether an operation squares a tensor, also by a product with itself."""
    return bool(op.type == "Square" or (op.type == "Mul" and op.inputs[0] is op.inputs[1]))


def given_of(tensor: Any) -> set[str]:
    """The names of the tensors that a step was given, no variables, and that one is made of."""
    return set(given_tensors(tensor))


def given_tensors(tensor: Any) -> dict[str, Any]:
    """These tensors by their names."""
    ways = list(behind([tensor.op], through=None))
    read = [tensor, *(one for op in ways for one in op.inputs)]
    return {one.name: one for one in read if one.op.type in GIVEN and one.dtype != tf.resource}


def users_of(tensor: Any, forward: Set[int]) -> list[Any]:
    """The operations, of those with these ids, that take a tensor's numbers."""
    return [user for user in tensor.consumers() if id(user) in forward and user.type not in SHAPES]


def goes_into(op: Any, forward: Set[int], ends: Set[str], *, through: Set[str], depth: int = STEPS_MAX) -> bool:
    """Whether all that is made of an operation's output goes into operations of some types.

    Args:
        op: the operation.
        forward: the ids of the operations that are looked at.
        ends: the types that it is to go into.
        through: the types that may stand between.
        depth: how many of these at the most.
    """
    users = users_of(op.outputs[0], forward)
    return bool(users) and all(
        user.type in ends
        or (depth > 0 and user.type in through and goes_into(user, forward, ends, through=through, depth=depth - 1))
        for user in users
    )


def variables_of(op: Any) -> set[int]:
    """What an operation's numbers are read from, of weights; the state of what draws numbers is whole, and none."""
    return set(map(id, weights_read(op)))


def weights_read(op: Any) -> Iterator[Any]:
    """The tensors that these are read by, each as often as it is."""
    reads = (one for one in behind([op], through=None) if one.type == "ReadVariableOp")
    return (one.inputs[0] for one in reads if one.outputs[0].dtype.is_floating)
