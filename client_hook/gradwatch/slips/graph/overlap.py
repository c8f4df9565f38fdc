"""An overlap of a mask and what a network gives for it that a loss makes small, in the graph. Owns no state.

The Dice coefficient, twice what two masks share over what both have, and the share of their union, are 1 where they are
the same, and 0 where they have nothing in common: the loss is 1 less that, its negative, or that of its logarithm.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

import tensorflow as tf

from gradwatch.constants import constant, factor
from gradwatch.origin import slip_of, source_of
from gradwatch.slips.graph.signs import signs_in, terms_of
from gradwatch.walk import ADDING, behind, given_of, passed, reads_variable

__all__ = ["find_overlap"]

DIVIDING: Final = frozenset({"Div", "DivNoNan", "RealDiv"})
SAME: Final = frozenset({"Cast", "ExpandDims", "Identity", "Mean", "Reshape", "Squeeze"})
RISING: Final = frozenset({"Log"})
SUMMING: Final = SAME | ADDING | {"Maximum", "Mul", "Sub"}
DEPTH_MAX: Final = 8
DIVISIONS_MAX: Final = 32
"""Of sums, that are looked at."""
Tensor = Any  # tensorflow ships no types


def find_overlap(forward: Sequence[Any], loss: Tensor | None, layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first share of what a network gives and what it is asked for have in common, added to a loss.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        loss: what is made small; None where it is not known.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of the division, and ``overlaps``: True.
    """
    divisions = (op for op in forward if op.type in DIVIDING and _sum_of(op.inputs[0]) is not None)
    signs = ((op, set(signs_in(op.outputs[0], loss, RISING))) for op in itertools.islice(divisions, DIVISIONS_MAX))
    overlaps = [] if loss is None else [(op, sign) for op, sign in signs if sign and _is_overlap(op)]
    if not overlaps or any(sign != {1} for _, sign in overlaps):
        return []
    # What else the loss is of may be what is asked for, and the overlap with something else is to be small.
    asked, names = {name for op, _ in overlaps for name in given_of(_factors(op)[0])}, {op.name for op, _ in overlaps}
    rest = [one for one in terms_of(loss, names) if one.name not in names and one.type not in RISING]
    if rest and not any(asked & _given_beside(one) for one in rest):
        return []
    first = overlaps[0][0]
    return [slip_of(first, layer_paths) | {"source": source_of(first), "overlaps": True}]


def _given_beside(op: Any) -> set[str]:
    """What is given to a term of a loss: that goes into it, and that it is multiplied with."""
    products = [one for one in op.outputs[0].consumers() if one.type in DIVIDING | {"Mul"}]
    parts = [op.outputs[0], *(part for user in products for part in user.inputs)]
    return {name for part in parts for name in given_of(part)}


def _factors(division: Any) -> tuple[Tensor, Tensor]:
    """What is asked for and what is given for it, of an overlap."""
    asked, given = sorted(_sum_of(division.inputs[0]).inputs[0].op.inputs, key=lambda one: reads_variable(one, None))
    return asked, given


def _is_overlap(division: Any) -> bool:
    """Whether it divides the sum of a target times an output by sums that hold both."""
    shared = _sum_of(division.inputs[0])
    if shared is None or shared.inputs[0].op.type != "Mul":
        return False
    factors = list(shared.inputs[0].op.inputs)
    if any(passed(one).type == "Sub" and constant(passed(one).inputs[0]) == 1 for one in factors):
        return False  # what is wrong, over what is said: to be small
    asked = [one for one in factors if not reads_variable(one, None)]
    given = [one for one in factors if reads_variable(one, None)]
    names = given_of(asked[0]) if asked and given else set()
    if not names or names & given_of(given[0]):  # a mean that is weighed by what it is of
        return False
    sums = [one for one in _sums_in(division.inputs[1]) if one is not shared]
    holds_both = [any(names & given_of(one.inputs[0]) for one in sums), any(map(_is_learned, sums))]
    return all(holds_both)


def _is_learned(total: Any) -> bool:
    is_count = passed(total.inputs[0]).outputs[0].dtype == tf.bool  # as of the pairs that a margin is not kept by
    return not is_count and reads_variable(total.inputs[0], None)


def _sum_of(tensor: Tensor) -> Any:
    """The sum that a tensor is, times a number, with a number added; None where it is something else."""
    op = tensor.op
    for _ in range(DEPTH_MAX):
        if op.type == "Sum":
            return op
        scaled = factor(op)
        if scaled is not None and scaled[0] > 0:
            op = scaled[1].op
        elif op.type in ADDING and any(constant(one) is not None for one in op.inputs):
            op = next((one for one in op.inputs if constant(one) is None), op.inputs[0]).op
        elif op.type in SAME:
            op = op.inputs[0].op
        else:
            return None
    return None


def _sums_in(tensor: Tensor) -> Iterator[Any]:
    """The sums that are added up in a tensor; of a sum of two masks each is one."""
    return (op for op in behind([tensor.op], through=SUMMING) if op.type == "Sum")
