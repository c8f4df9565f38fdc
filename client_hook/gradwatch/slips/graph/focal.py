"""A focal loss that weighs the samples most which are right already, in the graph. Owns no state.

``-(1 - p)^g log(p)`` weighs a sample the less, the more probable its class already is. ``-p^g log(p)`` does the
reverse: below a probability of ``exp(-1/g)`` it is even smaller for what is less probable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gradwatch.constants import constant
from gradwatch.origin import layer_of, slip_of
from gradwatch.walk import ADDING, is_square, passed, reads_variable

__all__ = ["find_focal"]

POWER_MIN: Final = 1.5
"""A number times its own logarithm is an entropy."""
WAY_MAX: Final = 12
SHARES: Final = frozenset({"Sigmoid", "Softmax"})
CHOOSING: Final = frozenset({"Mul", "Select", "SelectV2"})
Tensor = Any  # tensorflow ships no types


def find_focal(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Logarithms of what a network gives that are multiplied with a power of the same.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (of the power), name, layer and source line of the first, and ``focal``: the power.
    """
    for op in forward:
        if op.type != "Mul":
            continue
        factors = list(_factors(op))
        logs = [_probability(one.inputs[0]) for one in factors if one.type == "Log"]
        for one in factors:
            power = _power(one)
            if power < POWER_MIN or layer_of(op.name, layer_paths) or not _is_share(passed(one.inputs[0])):
                continue
            if _probability(one.inputs[0]) in logs and reads_variable(one.inputs[0], None):
                return [slip_of(one, layer_paths) | {"focal": power}]
    return []


def _factors(op: Any) -> Iterator[Any]:
    """The operations whose outputs are multiplied with one another."""
    pending = [op]
    for _ in range(WAY_MAX):
        if not pending:
            return
        one = pending.pop()
        if one.type in ("Mul", "Neg") and _power(one) == 1.0:
            pending.extend(passed(tensor) for tensor in one.inputs)
        else:
            yield one


def _power(op: Any) -> float:
    """To which power an operation takes its first input; 1 for any other."""
    if is_square(op):
        return 2.0
    return (constant(op.inputs[1]) or 1.0) if op.type == "Pow" else 1.0


def _is_share(op: Any, depth: int = WAY_MAX) -> bool:
    """Whether what an operation gives is a probability, within bounds, of one class or of the rest."""
    if op.type in SHARES or not depth:
        return op.type in SHARES
    is_kept = op.type in {*ADDING, *CHOOSING, "ClipByValue", "Maximum", "Minimum", "Sub", "Sum", "GatherV2", "GatherNd"}
    return is_kept and any(_is_share(passed(one), depth - 1) for one in op.inputs if one.dtype.is_floating)


def _probability(tensor: Tensor) -> tuple[str, bool]:
    """What a tensor is within bounds, by name, and whether it is 1 less that."""
    is_rest = False
    for _ in range(WAY_MAX):
        op = passed(tensor)
        if op.type == "ClipByValue":
            tensor = op.inputs[0]
        elif op.type in {*ADDING, "Maximum", "Minimum"} and any(constant(one) is not None for one in op.inputs):
            tensor = next((one for one in op.inputs if constant(one) is None), op.outputs[0])
        elif op.type == "Sub" and constant(op.inputs[0]) == 1.0:
            tensor, is_rest = op.inputs[1], not is_rest
        else:
            return op.name, is_rest
        if tensor is op.outputs[0]:
            break
    return tensor.name, is_rest
