"""Lengths and products of vectors that were taken over the samples of a batch, in the graph. Owns no state.

`tf.norm` and `tf.math.l2_normalize` that are given no axis take all numbers of the batch for one vector; given axis 0
they take each column of the batch for one. `tf.tensordot` of two batches of vectors along both axes, and the sum of
their product without an axis, are one number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from tensorflow.python.framework.smart_cond import smart_constant_value

from gradwatch.origin import slip_of
from gradwatch.slips.graph.weighed import Weights, is_weight, may_be_batch, sums
from gradwatch.walk import ADDING, behind, is_square, passed, reads_variable, users_of

__all__ = ["find_dotted", "find_normed"]

ROOTS: Final = frozenset({"Rsqrt", "Sqrt"})
PASSING: Final = frozenset({"AddV2", "ExpandDims", "Identity", "Maximum", "Minimum", "Reshape", "Squeeze", *ROOTS})
USING: Final = frozenset({"AddV2", "DivNoNan", "Maximum", "Mul", "RealDiv", "SquaredDifference", "Sub"})
LAID: Final = frozenset({"Identity", "Reshape", "Transpose"})
"""What lays numbers out in another way."""
MEETING: Final = ADDING | {"Mul", "Sub"}
SLIPS_MAX: Final = 4
DEPTH_MAX: Final = 8
Tensor = Any  # tensorflow ships no types


def find_normed(forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Roots of sums of squares over the batch that then meet something of each sample.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with a target each, as far as they are known: their first axis is the batch's.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of each root, and ``squares``: what it is taken of, ``all`` numbers of the
        batch, or each ``column``, of vectors that are multiplied with one another afterwards.
    """
    ids = {id(op) for op in forward}
    found = []
    for op in forward:
        squares = _squares(op, outputs) if op.type == "Sum" else None
        if squares is None:
            continue
        for root, use in _uses(op, ids, None):
            others = [one for one in use.inputs if one.shape.rank and one.shape[0] == squares.shape[0]]
            is_all = op.outputs[0].shape.num_elements() == 1
            if others and (is_all or (any(one is squares for one in others) and _is_of_samples(use, ids))):
                found.append(slip_of(root, layer_paths) | {"squares": "all" if is_all else "column"})
                break
    return found[:SLIPS_MAX]


def find_dotted(forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Products of two batches of vectors that are one number, which is then added to something of each sample.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with a target each, as far as they are known. Losses may well be of the whole.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of the first that outputs are made of, and ``dotted`` (true).
    """
    before = {id(op) for op in behind([one.op for one in outputs], through=None)}
    for op in forward:
        pair = _pair(op) if op.type in ("MatMul", "Sum") and id(op) in before else None
        if pair is None or pair[0] is pair[1]:
            continue
        lengths = {one.shape[0] for one in pair if (one.shape.rank or 0) > 1}
        is_of_samples = len(lengths) == 1 and lengths != {1} and may_be_batch(min(lengths), outputs)
        if is_of_samples and all(map(_is_learned, pair)) and _meets(op.outputs[0], lengths, before):
            return [slip_of(op, layer_paths) | {"dotted": True}]
    return []


def _pair(op: Any) -> tuple[Tensor, Tensor] | None:
    """The two tensors of which the products of all numbers are added up; None if that is not all it does."""
    if op.type == "MatMul":
        laid = [passed(one, LAID).outputs[0] for one in op.inputs]
        # With a batch whose size is not known, what a product gives is not known before it is laid out.
        is_one = op.outputs[0].shape.num_elements() == 1 or any(
            user.type == "Reshape" and user.outputs[0].shape.rank == 0 for user in op.outputs[0].consumers()
        )
        return (laid[0], laid[1]) if is_one else None
    made = op.inputs[0].op
    is_whole = op.outputs[0].shape.num_elements() == 1 and made.type == "Mul"
    return tuple(made.inputs) if is_whole and made.inputs[0].shape.rank == made.inputs[1].shape.rank else None


def _is_learned(tensor: Tensor) -> bool:
    """Whether a tensor is made of weights, and is none."""
    return reads_variable(tensor, None) and not is_weight(tensor)


def _meets(number: Tensor, lengths: Set[int | None], before: Set[int], depth: int = DEPTH_MAX) -> bool:
    """Whether a number is added to, or multiplied with, something of each sample."""
    for user in users_of(number, before) if depth else ():
        if user.type in MEETING and any(one.shape.rank and one.shape[0] in lengths for one in user.inputs):
            return True
        if user.type in MEETING | LAID | {"Squeeze", "ExpandDims"} and _meets(
            user.outputs[0], lengths, before, depth - 1
        ):
            return True
    return False


def _squares(total: Any, outputs: Sequence[Tensor]) -> Tensor | None:
    """What a sum is taken of the squares of, all of a batch or each column; None if it is another sum."""
    made = total.inputs[0].op
    if not is_square(made):
        return None
    given = made.inputs[0]
    rank = given.shape.rank or 0
    if rank < 2 or not may_be_batch(given.shape[0], outputs) or is_weight(given):
        return None
    axes = smart_constant_value(total.inputs[1])
    taken = set() if axes is None else {int(axis) % rank for axis in axes.ravel()}
    return given if taken == set(range(rank)) or (taken == {0} and rank == 2) else None


def _uses(op: Any, forward: Set[int], root: Any, depth: int = DEPTH_MAX) -> Iterator[tuple[Any, Any]]:
    """The roots that are taken of a sum, with what each meets."""
    for user in users_of(op.outputs[0], forward) if depth else ():
        here = user if user.type in ROOTS else root
        others = [one for one in user.inputs if one.op is not op]
        if here is not None and user.type in USING and any(one.shape.rank for one in others):
            yield here, user
        elif user.type in PASSING:
            yield from _uses(user, forward, here, depth - 1)


def _is_of_samples(op: Any, forward: Set[int]) -> bool:
    """Whether products of what is given for each sample follow, none of which sums over the batch."""
    found = list(sums(Weights(op.outputs[0], -2), forward))
    return bool(found) and not any(found)
