"""Whether what a model gives for one time of a sequence is made of later times too, in the graph. Owns no state.

A model of the next token that sees it learns to hand it on. Three things let it: an attention over its own sequence
without a mask, or with one that shows what comes later, a layer that reads it from the end, and a convolution that is
padded on both sides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import tensorflow as tf

from gradwatch.backwards import is_read_by_loop
from gradwatch.mask import is_onward
from gradwatch.walk import SHAPES

__all__ = ["sees_later"]

WAY_MAX: Final = 5000
"""Operations that are looked at behind one tensor."""
STEPS_MAX: Final = 16
SCALING: Final = frozenset(
    {"BroadcastTo", "Cast", "ExpandDims", "Identity", "Mul", "RealDiv", "Reshape", "Squeeze", "Transpose"}
)
"""What stands between the products of an attention and its softmax where nothing is masked."""
PASSING: Final = frozenset({*SCALING, "SelectV2"}) - {"RealDiv"}
"""What stands between a softmax and what it weighs, a dropout's operations among them."""
PRODUCTS: Final = frozenset({"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
Tensor = Any  # tensorflow ships no types


def sees_later(output: Tensor, sequence: Tensor) -> bool:
    """Whether an output ``[n, time, ...]`` may be made of later times of a sequence ``[n, time]``.

    Args:
        output: a symbolic tensor.
        sequence: one of the same graph that it is made of.

    Returns:
        False also where a mask is used, unless it hides what was before, or where that cannot be seen from here.
    """
    if not (tf.is_symbolic_tensor(output) and tf.is_symbolic_tensor(sequence)):
        return False
    behind = _walk([output.op], _sources)

    def is_behind(users: Iterable[Any]) -> list[Any]:
        return [user for user in users if id(user) in behind]

    between = _walk(is_behind(sequence.consumers()), lambda op: is_behind(_users(op)))
    return any(_mixes(op, between) for op in between.values())


def _walk(start: list[Any], following: Callable[[Any], Iterable[Any]]) -> dict[int, Any]:
    """The operations that are reached from some, by their ids."""
    found = {id(op): op for op in start}
    pending = deque(start)
    while pending and len(found) < WAY_MAX:
        for op in following(pending.popleft()):
            if id(op) not in found and op.type not in SHAPES:
                found[id(op)] = op
                pending.append(op)
    return found


def _sources(op: Any) -> list[Any]:
    return [one.op for one in op.inputs]


def _users(op: Any) -> list[Any]:
    return [user for output in op.outputs for user in output.consumers()]


def _mixes(op: Any, between: Mapping[int, Any]) -> bool:
    """Whether an operation on the way lets one time see the next."""
    if op.type == "Softmax":
        return (_is_unmasked(op) or is_onward(op.inputs[0])) and _weighs(op, between)
    if op.type == "ReverseV2":
        return is_read_by_loop(op)
    if op.type == "Conv2D" and op.inputs[0].op.type == "ExpandDims":  # of one dimension
        return bool(op.get_attr("padding") == b"SAME" and max(op.inputs[1].shape[:2]) > 1)
    return False


def _is_unmasked(softmax: Any) -> bool:
    """Whether its scores are products, and nothing was added to them or chosen among them."""
    op = softmax.inputs[0].op
    for _ in range(STEPS_MAX):
        if op.type in PRODUCTS:
            return True
        if op.type not in SCALING:
            return False
        op = max(op.inputs, key=lambda one: one.shape.rank or 0).op
    return False


def _weighs(softmax: Any, between: Mapping[int, Any]) -> bool:
    """Whether what it weighs comes of the sequence, as its scores do."""
    weights = _walk([softmax], lambda op: [user for user in _users(op) if user.type in PASSING and id(user) in between])
    products = [user for op in weights.values() for user in _users(op) if user.type in PRODUCTS and id(user) in between]
    return any(id(one.op) in between and id(one.op) not in weights for product in products for one in product.inputs)
