"""Whether outputs are to be like their targets, as a linear fit is: by what a loss makes of both. Adds no operation.

A loss may take the logarithm of its targets, leave out those that stand for nothing, or ask for a quantile, and an
output may be noisy as long as it is trained, as behind a dropout in front of few units. Such outputs follow their
targets less than a straight line may, and are not to be blamed for it. Owns no state.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.constants import constant
from gradwatch.correlation import Pair
from gradwatch.walk import behind

__all__ = ["may_follow"]

CURVED: Final = frozenset({"Asinh", "Bucketize", "Exp", "Expm1", "Floor", "Pow", "Softplus"})
"""Functions that give what is not in proportion: of an output, the output itself is not what is to be like a target."""
OF_TARGETS: Final = CURVED | {
    *("Abs", "Log", "Log1p", "Sigmoid", "Sqrt", "Tanh"),
    *("Equal", "Greater", "GreaterEqual", "IsFinite", "IsNan", "Less", "LessEqual", "NotEqual"),
}
"""And comparisons: of a target with what stands for none."""
EVEN: Final = frozenset({"Abs", "Cosh", "Square"})
ONE_SIDED: Final = frozenset(
    {"Exp", "Greater", "GreaterEqual", "LeakyRelu", "Less", "LessEqual", "Maximum", "Minimum", "Relu", "SelectV2"}
)
"""What a loss makes of an error whose sign counts, as that of a quantile."""
KEPT_MIN: Final = 32.0
"""Units behind a dropout, times the share that it leaves by that which it takes: of fewer an output is noisy."""
WAY_MAX: Final = 64
BEHIND_MAX: Final = 4096
_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))
Tensor = Any  # tensorflow ships no types


def may_follow(pair: Pair) -> bool:
    """Whether a loss compares an output with a target as they are, and no draw makes the output noisy.

    Args:
        pair: both; of tensors that belong to no graph nothing is known.
    """
    if not all(map(tf.is_symbolic_tensor, (pair.target, pair.output))):
        return True
    of_target, of_output = (_made_of([one]) for one in (pair.target, pair.output))
    if of_target.types & OF_TARGETS or of_output.types & CURVED:
        return False
    errors = [one for key, op in of_output.users.items() if key in of_target.users for one in op.outputs]
    return not _made_of(errors, through_even=False).types & ONE_SIDED and not _is_noisy(pair.output)


class _Made:
    """What is made of some tensors alone: the types of those operations, and who takes something else as well."""

    def __init__(self) -> None:
        self.types: set[str] = set()
        self.users: dict[int, Any] = {}


def _made_of(tensors: Sequence[Tensor], *, through_even: bool = True) -> _Made:
    pending, seen = list(tensors), {id(one) for one in tensors}
    found = _Made()
    while pending and len(seen) <= WAY_MAX:
        for op in _users(pending.pop(), seen):
            if not all(id(one) in seen or one.op.type == "Const" for one in op.inputs):
                found.users[id(op)] = op
                continue
            found.users.pop(id(op), None)
            found.types.add(op.type)
            made = [one for one in op.outputs if id(one) not in seen and (through_even or op.type not in EVEN)]
            seen.update(map(id, made))
            pending += made
    return found


def _users(tensor: Tensor, seen: Set[int]) -> Iterator[Any]:
    """The operations that take a tensor, those left out that this package adds."""
    return (op for op in tensor.consumers() if not any(id(one) in seen for one in op.outputs) and not _is_added(op))


def _is_added(op: Any) -> bool:
    frames = (frame.filename for frame in reversed(op.traceback))
    innermost = next((one for one in frames if f"{os.sep}tensorflow{os.sep}" not in one), "")
    return os.path.dirname(innermost) == _FOLDER


def _is_noisy(output: Tensor) -> bool:
    for op in behind([output.op], through=None, most=BEHIND_MAX):
        if "Normal" in op.type and "Random" in op.type:
            return True
        rate = constant(op.inputs[1]) if op.type == "GreaterEqual" and _is_drawn(op.inputs[0]) else None
        n_units = op.outputs[0].shape[1:].num_elements() if rate is not None else None
        if rate is not None and n_units is not None and 0 < rate < 1 and n_units * (1 - rate) / rate < KEPT_MIN:
            return True
    return False


def _is_drawn(tensor: Tensor) -> bool:
    return any("RandomUniform" in one.type for one in behind([tensor.op], through=None, most=WAY_MAX))
