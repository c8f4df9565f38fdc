"""A policy's ratio that is the wrong way round, or a bounded objective that is made small, in the graph. No state.

What an action is worth is weighed by how much more probable it is than when it was taken: ``exp(new - old)``, held
within bounds. ``exp(old - new)`` makes what was good less probable. Of what is weighed with and without bounds the
smaller counts, and is to become large: the loss is its negative. (Of costs it is the larger, which is to become small.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.constants import constant, factor
from gradwatch.origin import slip_of
from gradwatch.slips.graph.signs import signs_in
from gradwatch.walk import reads_variable

__all__ = ["find_climbing", "find_inverse", "is_ratio"]

SAME: Final = frozenset(
    {"AddV2", "Cast", "ExpandDims", "GatherNd", "GatherV2", "Identity", "Mean", "Mul", "RealDiv", "Reshape", "Squeeze"}
    | {"StridedSlice", "Sum"}
)
POSITIVE: Final = frozenset({"LogSoftmax"})
"""Log-probabilities."""
NEGATIVE: Final = frozenset(
    {"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "Square", "SquaredDifference"}
)
"""What is the smaller, the more probable something is; of a normal distribution the square of the distance."""
BOUNDING: Final = frozenset({"ClipByValue", "Maximum", "Minimum"})
WRONG: Final = {"Maximum": (-1, "larger"), "Minimum": (1, "climbs")}
"""With which sign each must not go into a loss, and what that is called."""
WAY_MAX: Final = 60
Tensor = Any  # tensorflow ships no types


def find_inverse(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Ratios, held within bounds, of what was given to what a network makes of it now.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Exp``), name, layer and source line of the first, and ``inverse``: True. None where it is not known
        which way a probability goes into it.
    """
    for op in forward:
        if is_ratio(op):
            ends = [reads_variable(one, None) for one in op.inputs[0].op.inputs]
            if sum(ends) != 1:
                continue
            new = op.inputs[0].op.inputs[ends.index(True)]
            signs = set(_signs(new, 1 if ends[0] else -1))
            if signs == {-1}:
                return [slip_of(op, layer_paths) | {"inverse": True}]
    return []


def find_climbing(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Smaller ones of an objective with and without bounds that are added to a loss, and larger ones taken from it.

    Args:
        forward: as for `find_inverse`.
        loss: what the gradients were asked of; None where it is not known.
        layer_paths: as for `find_inverse`.

    Returns:
        Type (``Minimum``), name, layer and source line of the first, and ``climbs``: True. Or ``Maximum``, and
        ``larger``: True, where the larger ones are taken from the loss: then no bound holds what is gained.
    """
    for op in forward if loss is not None else ():
        if op.type in WRONG and len({one.name for one in op.inputs}) == len(op.inputs) and _is_objective(op):
            sign, name = WRONG[op.type]
            if set(signs_in(op.outputs[0], loss)) == {sign}:
                return [slip_of(op, layer_paths) | {name: True}]
    return []


def _is_objective(op: Any) -> bool:
    """Whether it is the smaller of a ratio and of the same within bounds, each times one thing."""
    products = [one.op for one in op.inputs]
    if any(product.type != "Mul" for product in products):
        return False
    factors = [{one.name: one for one in product.inputs} for product in products]
    shared = factors[0].keys() & factors[1].keys()
    if len(shared) != 1:
        return False
    rest = [next(one for name, one in named.items() if name not in shared).op for named in factors if len(named) > 1]
    return len(rest) == len(products) and any(one.type == "Exp" and _is_bounded(one) for one in rest)


def is_ratio(op: Any) -> bool:
    """Whether an operation is a ratio of probabilities, new to old or old to new, that is held within bounds."""
    return bool(op.type == "Exp" and op.inputs[0].op.type == "Sub" and _is_bounded(op))


def _is_bounded(op: Any) -> bool:
    for user in op.outputs[0].consumers():
        if user.type in BOUNDING and any(constant(one) is not None for one in user.inputs[1:]):
            return True
        if user.type == "Mul" and any(map(_is_below_what_is_given, user.outputs[0].consumers())):
            return True
    return False


def _is_below_what_is_given(op: Any) -> bool:
    """Whether it is the smaller of what a network makes and of what none does: (1 + c) times an advantage, or 1 - c."""
    return bool(op.type == "Minimum" and sum(reads_variable(one, None) for one in op.inputs) == 1)


def _signs(tensor: Tensor, sign: int) -> Iterator[int]:
    """With which sign log-probabilities go into a tensor."""
    pending = [(tensor, sign)]
    for _ in range(WAY_MAX):
        if not pending:
            return
        one, sign = pending.pop()
        op = one.op
        if op.type in POSITIVE | NEGATIVE:
            yield sign if op.type in POSITIVE else -sign
        elif op.type in ("Neg", "Sub"):
            before = (-1,) if op.type == "Neg" else (1, -1)
            pending += [(part, sign * own) for part, own in zip(op.inputs, before, strict=True)]
        elif op.type in SAME:
            scaled = factor(op)
            pending += [
                (part, -sign if scaled is not None and scaled[0] < 0 else sign)
                for part in op.inputs
                if part.dtype.is_floating
            ]
