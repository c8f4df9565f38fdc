"""Weights of an attention that add up to 1 along another axis than the one that is summed over, in the graph.

The scores of an attention have an axis of what asks and one of what is asked. Its softmax is taken along the latter,
over which the values are summed with these weights. Taken along the other one, or over the batch, it weighs nothing:
the weights of one sum are no shares of anything. Owns no state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

import tensorflow as tf
from tensorflow.python.framework.smart_cond import smart_constant_value

from gradwatch.origin import slip_of
from gradwatch.walk import behind, reads_variable, users_of

__all__ = ["Weights", "find_misweighed", "is_weight", "may_be_batch", "product_of", "sums"]

PRODUCTS: Final = frozenset({"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "MatMul"})
ELEMENTWISE: Final = frozenset({"Add", "AddV2", "Cast", "Identity", "Mul", "RealDiv", "SelectV2", "Sub"})
"""What stands between the products and the softmax: scales and masks."""
KEEPING: Final = frozenset({"Cast", "Identity", "SelectV2"})
"""What stands between a softmax and what it weighs, with `Mul` as in a dropout."""
READING: Final = frozenset({"Cast", "Identity", "ReadVariableOp", "Reshape", "Transpose"})
SLIPS_MAX: Final = 4
DEPTH_MAX: Final = 12
Tensor = Any  # tensorflow ships no types


class Weights(NamedTuple):
    """A tensor of weights, and along which of its axes they add up to 1, counted from the last (-1)."""

    tensor: Tensor
    axis: int


def find_misweighed(
    forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Softmaxes of an attention along an axis that nothing is summed over.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with a target each, as far as they are known: their first axis is the batch's.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Softmax``), name, layer and source line of each, and ``along``: ``batch`` or ``queries``, what its
        weights add up to 1 along; the first `SLIPS_MAX`.
    """
    ids = {id(op) for op in forward}
    found = []
    for op in forward:
        if op.type == "Softmax" and op.inputs[0].shape.rank is not None:
            along = _find_axis(op, outputs)
            summed = list(sums(Weights(op.outputs[0], -1), ids)) if along is not None else []
            if summed and not any(summed):
                found.append({**slip_of(op, layer_paths), "along": along})
    return found[:SLIPS_MAX]


def _find_axis(softmax: Any, outputs: Sequence[Tensor]) -> str | None:
    """``batch`` for a softmax over the batch, ``queries`` for the scores of an attention, else None."""
    scores = softmax.inputs[0]
    before = _before_moved(scores)
    if before is not None and _is_over_batch(before, outputs):
        return "batch"
    product = product_of(scores)
    is_asked = product is not None and _is_of_all(product) and not any(map(is_weight, product.inputs))
    return "queries" if is_asked else None


def _is_of_all(product: Any) -> bool:
    """Whether each of one side meets each of the other, as in an attention; a routing has a vector for each pair."""
    if product.type != "Einsum":
        return any(length != 1 for length in product.outputs[0].shape[-2:])
    given, _, left = product.get_attr("equation").decode().partition("->")
    sides = [set(labels) & set(left) for labels in given.split(",")]
    return "." in given or len(sides) != 2 or bool(sides[0] - sides[1] and sides[1] - sides[0])


def _before_moved(tensor: Tensor) -> Weights | None:
    """Where the last axis was before it was moved there for the softmax; None if that is not known."""
    op = tensor.op
    if op.type != "Transpose":
        return Weights(tensor, -1)
    order = smart_constant_value(op.inputs[1])
    return None if order is None else Weights(op.inputs[0], int(order[-1]) - len(order))


def _is_over_batch(weights: Weights, outputs: Sequence[Tensor]) -> bool:
    shape = weights.tensor.shape
    is_first = weights.axis == -len(shape) < -1
    return is_first and shape[0] not in shape[1:] and may_be_batch(shape[0], outputs)


def may_be_batch(length: int | None, outputs: Sequence[Tensor]) -> bool:
    """Whether a first axis of such a length may be the batch's: that of outputs, where any are known."""
    known = {one.shape[0] for one in outputs if one.shape.rank}
    return not known or length in known


def product_of(scores: Tensor) -> Any:
    """The product that scores are, behind scales and masks; None if they are none."""
    op = scores.op
    for _ in range(DEPTH_MAX):
        if op.type in PRODUCTS:
            return op
        if op.type not in ELEMENTWISE | {"Transpose"}:
            return None
        inputs = op.inputs if op.type != "Transpose" else op.inputs[:1]
        made = [one.op for one in inputs if any(way.type in PRODUCTS for way in behind([one.op], through=ELEMENTWISE))]
        op = made[0] if len(made) == 1 else inputs[0].op
    return None


def is_weight(tensor: Tensor) -> bool:
    """Whether a tensor is what a variable holds."""
    return reads_variable(tensor, READING)


def sums(weights: Weights, forward: Set[int], depth: int = DEPTH_MAX) -> Iterator[bool]:
    """For all that takes these weights whether it sums along their axis; also if that is not known."""
    for user in users_of(weights.tensor, forward):
        if user.type in PRODUCTS:
            yield _is_summed(user, weights)
        elif user.type in KEEPING and depth:
            yield from sums(Weights(user.outputs[0], weights.axis), forward, depth - 1)
        elif user.type == "Mul" and depth:
            yield from _sums_of_product(user, weights, forward, depth)
        elif user.type == "Transpose" and depth:
            order = smart_constant_value(user.inputs[1])
            if order is None:
                yield True
                continue
            axis = order.tolist().index(len(order) + weights.axis) - len(order)
            yield from sums(Weights(user.outputs[0], axis), forward, depth - 1)
        else:
            yield True


def _sums_of_product(op: Any, weights: Weights, forward: Set[int], depth: int) -> Iterator[bool]:
    """Likewise of weights that are multiplied, as a dropout does, or with the values, and then summed."""
    users = users_of(op.outputs[0], forward)
    if users and all(user.type in ("Mean", "Sum") for user in users):
        for user in users:
            axes = tf.get_static_value(user.inputs[1])
            rank = op.outputs[0].shape.rank
            if axes is None or rank is None:
                yield True
            else:
                yield weights.axis in [int(axis) - rank if axis >= 0 else int(axis) for axis in axes.ravel()]
    elif all(one.shape.rank in (0, weights.tensor.shape.rank) for one in op.inputs):
        yield from sums(Weights(op.outputs[0], weights.axis), forward, depth - 1)
    else:
        yield True


def _is_summed(op: Any, weights: Weights) -> bool:
    """Whether a product sums over the axis of its weights; also if that cannot be told, or both are weights."""
    places = [place for place, one in enumerate(op.inputs) if one is weights.tensor]
    if len(places) != 1:
        return True
    if op.type == "Einsum":
        given, _, left = op.get_attr("equation").decode().partition("->")
        labels = given.split(",")[places[0]]
        return "." in given or labels[weights.axis] not in left
    names = ("transpose_a", "transpose_b") if op.type == "MatMul" else ("adj_x", "adj_y")
    turned = [op.get_attr(name) for name in names]
    summed = -1 if (places[0] == 0) != turned[places[0]] else -2
    return weights.axis == summed
