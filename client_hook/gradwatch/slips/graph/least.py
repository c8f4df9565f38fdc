"""The least of numbers that a mask has made 0, in the graph. Owns no state.

The nearest of those that count: where the others are multiplied by 0, the least of numbers that are never below 0 is
one of the others. It is 0 whatever the network gives, and has no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.constants import constant
from gradwatch.origin import slip_of
from gradwatch.walk import behind, passed, reads_variable

__all__ = ["COMPARING", "find_least"]

POSITIVE: Final = frozenset(
    {"Abs", "Exp", "Relu", "Sigmoid", "Softmax", "Softplus", "Sqrt", "Square", "SquaredDifference"}
)
"""Functions that give nothing below 0."""
KEEPING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Mean", "Reshape", "Squeeze", "Sum", "Transpose"})
"""Operations that give nothing below 0 where they are given nothing below 0."""
COMPARING: Final = frozenset(
    {"Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "NotEqual"}
)
MASKING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Mul", "Reshape", "Squeeze", "Sub"})
"""What a mask is made with of what was compared: a truth as a number, and 1 less that."""
WAY_MAX: Final = 8
Tensor = Any  # tensorflow ships no types


def find_least(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first minimum over numbers that are never below 0, and of which a mask has made some 0.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Min``), name, layer and source line of it, and ``masked``: the type of what puts the zeros there.
    """
    for op in forward:
        if op.type != "Min":
            continue
        masked = passed(op.inputs[0])
        if masked.type == "Mul":
            one, other = masked.inputs
            pairs = [(one, other), (other, one)]
        elif masked.type == "SelectV2" and any(constant(one) == 0 for one in masked.inputs[1:]):
            pairs = [(one, masked.inputs[0]) for one in masked.inputs[1:]]
        else:
            continue
        if any(_is_never_below_0(one) and reads_variable(one, None) and _is_mask(other) for one, other in pairs):
            return [slip_of(op, layer_paths) | {"masked": masked.type}]
    return []


def _is_mask(tensor: Tensor) -> bool:
    """Whether it is made of truths, of something given, and of nothing that is learned."""
    ways = list(behind([tensor.op], through=MASKING | COMPARING))
    return any(op.type in COMPARING for op in ways) and all(
        op.type in MASKING | COMPARING or not reads_variable(op.outputs[0], None) for op in ways
    )


def _is_never_below_0(tensor: Tensor) -> bool:
    op = tensor.op
    for _ in range(WAY_MAX):
        if op.type in POSITIVE:
            return True
        if op.type == "Maximum":
            return any(constant(one) == 0 for one in op.inputs)
        if op.type not in KEEPING:
            return False
        op = op.inputs[0].op
    return False
