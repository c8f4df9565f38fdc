"""Whether what a model gives for one time of a sequence is made of later times too, in the graph. Owns no state.

A model of the next token that sees it learns to hand it on. Three things let it: an attention over its own sequence
without a mask, or with one that shows what comes later, a layer that reads it from the end, and a convolution that is
padded on both sides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.origin import layer_of, slip_of, source_of
from gradwatch.slips.graph.backwards import is_read_by_loop
from gradwatch.slips.graph.mask import is_onward
from gradwatch.slips.graph.shifted import OF_TIME, ends_of
from gradwatch.walk import DIFFERENCES, LOOPS, SAME_NUMBERS, SHAPES, given_of, passed, reads_variable

__all__ = ["find_peeking", "keeps_times", "sees_later"]

WAY_MAX: Final = 5000
"""Operations that are looked at behind one tensor."""
STEPS_MAX: Final = 16
SCALING: Final = frozenset(
    {"BroadcastTo", "Cast", "ExpandDims", "Identity", "Mul", "RealDiv", "Reshape", "Squeeze", "Transpose"}
)
"""What stands between the products of an attention and its softmax where nothing is masked."""
PASSING: Final = frozenset({*SCALING, "SelectV2"}) - {"RealDiv"}
"""What stands between a softmax and what it weighs, a dropout's operations among them."""
REDUCING: Final = frozenset({"Max", "Mean", "Min", "Sum"})
"""What gives one number for all times, or for all features: the numbers themselves go on beside a norm."""
PRODUCTS: Final = frozenset({"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
POOLING: Final = frozenset({"AvgPool", "MaxPool", *REDUCING})
"""What makes fewer times of many."""
Tensor = Any  # tensorflow ships no types


def find_peeking(forward: Sequence[Any], outputs: Sequence[Tensor], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """A step that cuts input and target from one sequence of real numbers, and compares what sees both time by time.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        outputs: what the step compares with a target each, as far as they are known: there the numbers tell.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Next``), name of the comparison, the layer that mixes the times, the source line of that where it is the
        user's own, else that of the targets, and ``peeks``: the type of the operation that does. The first alone.
    """
    pasts = [op for op in forward if op.type == "StridedSlice" and ends_of(op) == (None, -1)] if not outputs else []
    for op in forward if pasts else ():
        for one, other in (op.inputs, tuple(reversed(op.inputs))) if op.type in DIFFERENCES else ():
            following = _cut_of(one)
            past = _past_of(following, pasts)
            if past is None or not reads_variable(other, None) or _is_of_last(op):
                continue
            mixing = _find_mixing(other, past.outputs[0], past.outputs[0].shape[1])
            if mixing is not None:
                own = slip_of(mixing, layer_paths)["source"]
                place = {"layer": layer_of(mixing.name, layer_paths), "source": own or source_of(following)}
                return [{"type": "Next", "name": op.name, **place, "peeks": mixing.type}]
    return []


def _cut_of(tensor: Tensor) -> Any:
    """The operation behind what gives a tensor another form or picks some of its features."""
    op = passed(tensor, SAME_NUMBERS)
    for _ in range(STEPS_MAX):
        is_of_features = op.type == "StridedSlice" and (
            ends_of(op) == (None, None)
            if not op.get_attr("ellipsis_mask")
            else op.get_attr("ellipsis_mask") == 1 and (op.inputs[0].shape.rank or 0) > op.inputs[1].shape[0]
        )
        if not is_of_features:
            break
        op = passed(op.inputs[0], SAME_NUMBERS)
    return op


def _past_of(following: Any, pasts: Sequence[Any]) -> Any | None:
    """The slice without the last time of what this one has without the first, if that was given; else None."""
    if following.type != "StridedSlice" or ends_of(following) != (1, None):
        return None
    whole = following.inputs[0]
    if not whole.dtype.is_floating or reads_variable(whole, None) or not given_of(whole):
        return None
    return next((past for past in pasts if past.inputs[0] is whole), None)


def _is_of_last(difference: Any) -> bool:
    """Whether nothing but the last time of a comparison goes on."""
    users = [one for one in _users(difference) if one.type in ("Square", "Abs", "StridedSlice")]
    slices = [one for user in users for one in (user, *_users(user)) if one.type == "StridedSlice"]
    return any(_begin_of(one) == -1 for one in slices)


def _begin_of(slices: Any) -> int | None:
    """Where a slice begins in its axis of time."""
    begin = tf.get_static_value(slices.inputs[1])
    return None if begin is None or len(begin) < 2 or slices.get_attr("begin_mask") & 2 else int(begin[1])


def sees_later(output: Tensor, sequence: Tensor, n_times: int | None = None) -> bool:
    """Whether an output ``[n, time, ...]`` may be made of later times of a sequence ``[n, time, ...]``.

    Args:
        output: a symbolic tensor.
        sequence: one of the same graph that it is made of.
        n_times: how many times it has, if what mixes axes of another length is to be passed by.

    Returns:
        False also where a mask is used, unless it hides what was before, or where that cannot be seen from here.
    """
    return _find_mixing(output, sequence, n_times) is not None


def keeps_times(output: Tensor, sequence: Tensor) -> bool:
    """Whether each time of an output may be made of the same time of a sequence, and not of summaries alone.

    Args:
        output: a symbolic tensor ``[n, time, ...]``.
        sequence: one of the same graph, ``[n, time, ...]``.

    Returns:
        False where all that goes on from the sequence is the last state of a loop, a mean, fewer times, or what an
        attention of others makes of it.
    """
    if not (tf.is_symbolic_tensor(output) and tf.is_symbolic_tensor(sequence)):
        return False
    behind = _walk([output.op], _sources)

    def following(op: Any) -> list[Any]:
        return [user for user in _users(op) if id(user) in behind and _hands_on(op, user)]

    starts = [user for user in sequence.consumers() if id(user) in behind and not _is_summary(user)]
    return id(output.op) in _walk(starts, following)


def _hands_on(op: Any, user: Any) -> bool:
    """Whether what an operation makes of one that keeps times may keep them."""
    if op.type in LOOPS:
        return bool(user.type == "TensorListStack")
    if user.type in LOOPS:
        return bool(op.type == "TensorListFromTensor")
    return not _is_summary(user)


def _is_summary(op: Any) -> bool:
    if op.type in {"MatMul", *PRODUCTS}:
        return not any(reads_variable(one, SAME_NUMBERS) for one in op.inputs)
    if op.type == "Conv2D":
        return bool(max(op.get_attr("strides")) > 1)
    return op.type in POOLING or (op.type == "StridedSlice" and op.get_attr("shrink_axis_mask") != 0)


def _find_mixing(output: Tensor, sequence: Tensor, n_times: int | None) -> Any | None:
    """What lets a time of an output see later ones; None for nothing."""
    if not (tf.is_symbolic_tensor(output) and tf.is_symbolic_tensor(sequence)):
        return None
    behind = _walk([output.op], _sources)

    def is_behind(users: Iterable[Any]) -> list[Any]:
        return [user for user in users if id(user) in behind]

    between = _walk(is_behind(sequence.consumers()), lambda op: is_behind(_users(op)))
    mixing = (op for op in between.values() if _mixes(op, between))
    if n_times is None:
        return next(mixing, None)
    return next((op for op in mixing if _is_of_times(op, n_times) and _keeps_time(op, output.op, between)), None)


def _is_of_times(op: Any, n_times: int) -> bool:
    """Whether what an operation mixes is an axis of this length."""
    shape = (op.inputs[0].op.inputs[0] if op.type == "Conv2D" else op.inputs[0]).shape
    if not shape.rank:
        return False
    if op.type == "ReverseV2":
        return [shape[int(axis)] for axis in np.ravel(tf.get_static_value(op.inputs[1]))] == [n_times]
    return bool(shape[1] == n_times if op.type == "Conv2D" else shape[-2:] == [n_times, n_times])


def _keeps_time(op: Any, output: Any, between: Mapping[int, Any]) -> bool:
    """Whether an output is made of what an operation gives for each time, and not of one summary of all alone."""

    def following(one: Any) -> list[Any]:
        return [user for user in _users(one) if id(user) in between and not _summarises(user)]

    return op is output or id(output) in _walk([op], following)


def _summarises(op: Any) -> bool:
    if op.type != "StridedSlice" or op.get_attr("ellipsis_mask"):
        return op.type in REDUCING
    return bool(op.get_attr("shrink_axis_mask") & OF_TIME)


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
