"""Steps that are given two of a kind which are to differ, in the graph. Owns no state.

A state and the one that follows it; two views of each sample. Whether the two hold the same numbers is seen when the
step runs: here is only told that they must not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gradwatch.origin import layer_of, slip_of, source_of
from gradwatch.slips.graph.bootstrap import find_returns
from gradwatch.slips.graph.repeated import is_same
from gradwatch.walk import PRODUCTS, behind, given_of

__all__ = ["find_pairs", "find_twins"]

WAY_MAX: Final = 100
"""Operations between a product of two views and what these are drawn from."""
COMPARING: Final = PRODUCTS | {"Mul", "SquaredDifference", "Sub"}

Tensor = Any  # tensorflow ships no types


def find_pairs(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Returns that are counted on with a network, and products of what one network makes of two arguments.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (of the sum or the product), name, layer and source line of the first, and ``pairs``: ``returns`` or
        ``views``.
    """
    counted = find_returns(forward)
    if counted is not None:
        return [slip_of(counted, layer_paths) | {"pairs": "returns"}]
    for op in forward:
        if op.type in PRODUCTS and len(op.inputs) == 2:
            (one, of_one), (other, of_other) = (_made_of(tensor) for tensor in op.inputs)
            if one and one == other and of_one and of_other and of_one.isdisjoint(of_other):
                return [slip_of(op, layer_paths) | {"pairs": "views"}]
    return []


def find_twins(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Comparisons of what one network makes of one argument with what it makes of that again, in the same way.

    Args:
        forward: as for `find_pairs`.
        layer_paths: likewise.

    Returns:
        Type, name, layer and source line of the first, ``twins``: True, and ``drawn``: the source line of the random
        numbers that both are made with, or None where there are none.
    """
    for op in forward:
        if op.type not in COMPARING or any(one.shape.rank != 2 for one in op.inputs) or op.inputs[0] is op.inputs[1]:
            continue
        one, other = op.inputs
        if not layer_of(op.name, layer_paths) and is_same(one, other, WAY_MAX) and all(_made_of(one)):
            drawn = next((op for op in behind([one.op], through=None) if "Random" in op.type), None)
            return [slip_of(op, layer_paths) | {"twins": True, "drawn": None if drawn is None else source_of(drawn)}]
    return []


def _made_of(tensor: Tensor) -> tuple[set[int], set[str]]:
    """The variables that a tensor is made of, and what else the step was given."""
    ways = behind([tensor.op], through=None)
    return {id(op.inputs[0]) for op in ways if op.type == "ReadVariableOp"}, given_of(tensor)
