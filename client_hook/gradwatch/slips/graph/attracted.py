"""Losses that only draw two outputs of one network together, in the graph. Owns no state.

Two views of a sample are to be described alike. Where nothing else is asked, and both are moved towards one another,
the cheapest way is to give every sample the same description. What holds them apart is other samples (a contrast), a
spread that is asked for, or that one of the two is not moved (``stop_gradient``, a slow copy of the network).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

import numpy as np
import tensorflow as tf

from gradwatch.constants import constant
from gradwatch.origin import GRADIENT_SCOPE, source_of
from gradwatch.tap import find_handle
from gradwatch.walk import behind, reads_variable, variables_of, weights_read

__all__ = ["find_attracted", "find_margin"]

ADDING: Final = frozenset({"Add", "AddN", "AddV2", "Sub"})
CHOOSING: Final = frozenset({"Select", "SelectV2"})
DIFFERENCES: Final = frozenset({"SquaredDifference", "Sub"})
PLUS_OR_MINUS: Final = frozenset({"Add", "AddV2", "Sub"})
AVERAGING: Final = frozenset({"Cast", "Identity", "Mean", "Neg", "Reshape", "Sum"})
DIVIDING: Final = frozenset({"DivNoNan", "RealDiv"})
DISTANCES: Final = frozenset({"Abs", "Square"})
HOLDING: Final = frozenset({"Cholesky", "MatrixInverse", "MatrixTriangularSolve", "Qr", "SelfAdjointEigV2", "Svd"})
"""What gives all directions the same spread."""
SCALING: Final = frozenset(
    {
        *("Cast", "DivNoNan", "Identity", "L2Loss", "Maximum", "Minimum", "Mul", "Neg", "RealDiv", "Reshape", "Rsqrt"),
        *("Sqrt", "Square", "Squeeze", "Sum"),
    }
)
"""What a description passes where it is brought to length 1."""
FUNCTIONS: Final = frozenset(
    {
        *("Abs", "Add", "AddV2", "Cast", "ClipByValue", "Exp", "Identity", "Log", "Log1p", "Maximum", "Minimum", "Mul"),
        *("Neg", "Pow", "RealDiv", "Reshape", "Select", "SelectV2", "Sigmoid", "Softplus", "Sqrt", "Square", "Sub"),
    }
)
"""What a loss takes of an output, number by number."""
WAY_MAX: Final = 40
READING: Final = frozenset({"Cast", "Identity", "Reshape"})
NEAR: Final = 12
"""Operations at a network's end, of which a tape went back through one at least if it is moved."""
Tensor = Any  # tensorflow ships no types


def find_attracted(loss: Tensor | None, trained: Set[int]) -> list[dict[str, Any]]:
    """The first product or difference of two outputs of one network, in a loss that is made of nothing else.

    Args:
        loss: what the gradients were asked of; None where it is not known.
        trained: the handles of the variables that the step trains.

    Returns:
        Type, name, no layer and source line of it, and ``attracts``: True.
    """
    terms = [] if loss is None else list(_terms(loss))
    if not terms or not all(one.type in (*DIFFERENCES, "Mul") and len(one.inputs) == 2 for one in terms):
        return []
    moved = _names_with_gradient(terms[0].graph)
    if not all(_is_attraction(term, moved, trained) for term in terms):
        return []
    first = terms[0]
    return [{"type": first.type, "name": first.name, "layer": "", "source": source_of(first), "attracts": True}]


def find_margin(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """The first bound at 0 of a margin and the difference of two distances that a network gives; no slip by itself.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.

    Returns:
        Type, name, no layer and source line of it, and ``margin``.
    """
    for op in forward:
        is_bound = op.type == "Relu" or (op.type == "Maximum" and any(constant(one) == 0 for one in op.inputs))
        margin = next(filter(None, (_margin_in(one) for one in op.inputs)), None) if is_bound else None
        if margin is not None:
            return [{"type": op.type, "name": op.name, "layer": "", "source": source_of(op), "margin": margin}]
    return []


def _margin_in(tensor: Tensor) -> float | None:
    """``m`` of ``a - b + m``, ``a + m - b`` or ``m - (b - a)``, of two sums that are made of variables; else None."""
    number = 0.0
    parts: list[tuple[Tensor, bool]] = []
    for one, is_plus in _summands(tensor):
        value = constant(one)
        if value is None:
            parts.append((one, is_plus))
        else:
            number += value if is_plus else -value
    signs = sorted(is_plus for _, is_plus in parts)
    is_of_two = signs == [False, True] and all(reads_variable(one, None) for one, _ in parts)
    return number if is_of_two and number > 0 else None


def _summands(tensor: Tensor, depth: int = 4, *, is_plus: bool = True) -> Iterator[tuple[Tensor, bool]]:
    """What is added up, and whether it is added, not subtracted."""
    if depth and tensor.op.type in PLUS_OR_MINUS:
        first, second = tensor.op.inputs
        yield from _summands(first, depth - 1, is_plus=is_plus)
        yield from _summands(second, depth - 1, is_plus=is_plus == (tensor.op.type != "Sub"))
    else:
        yield tensor, is_plus


def _terms(loss: Tensor) -> Iterator[Any]:
    """The operations of two tensors that a loss is the weighed mean of; something else where it is not."""
    pending = [loss]
    for _ in range(WAY_MAX):
        if not pending:
            return
        op = pending.pop().op
        parts = [one for one in op.inputs if one.dtype.is_floating and tf.get_static_value(one) is None]
        is_weighed = len(parts) == 1 and op.type == "Mul"
        is_mean = op.type in DIVIDING and not variables_of(op.inputs[1].op)
        is_distance = op.type in DISTANCES and parts[0].op.type == "Sub"
        if op.type in ADDING and op.outputs[0].shape.rank in (0, 1):
            pending.extend(parts)
        elif op.type in AVERAGING or is_weighed or is_mean or is_distance:
            pending.extend(parts[:1])
        else:
            yield op
    yield from (one.op for one in pending)


def _is_attraction(op: Any, moved: Set[str], trained: Set[int]) -> bool:
    one, other = (_output_of(tensor, moved) for tensor in op.inputs)
    if one is None or other is None or one is other:
        return False
    shared = variables_of(one)
    # A probability and its own logarithm, as in a divergence, are no two outputs, nor are a sample and what a network
    # that this loss does not train makes of it, as in a game of two.
    apart = set(map(find_handle, weights_read(one))) ^ set(map(find_handle, weights_read(other)))
    is_made = _is_made_of(one, other) or _is_made_of(other, one) or _outputs_in(one) == _outputs_in(other)
    is_own = not (apart & trained if trained else apart) and is_made
    return bool(shared & variables_of(other)) and not is_own


def _is_made_of(op: Any, other: Any) -> bool:
    return any(one is other for one in behind([op], through=None))


def _outputs_in(op: Any) -> set[str]:
    """The names of what a network gives that a loss takes functions of: of a focal loss both its factors."""
    ends = [one for one in behind([op], through=FUNCTIONS) if one.type not in FUNCTIONS]
    return {one.name for one in ends if one.type != "ReadVariableOp" and variables_of(one)}


def _output_of(tensor: Tensor, moved: Set[str]) -> Any:
    """What a network gives that a tensor is, but for its length; None where it is more, or is not moved."""
    ways = list(behind([tensor.op], through=SCALING))
    ends = [op for op in ways if op.type not in SCALING and op.type != "Const"]
    if len(ends) != 1:
        return None
    made_of = list(behind(ends, through=None))
    is_held = ends[0].type == "StopGradient" or any(op.type in HOLDING for op in made_of)
    is_derived = any(op.name.startswith(GRADIENT_SCOPE) for op in made_of)
    is_moved = any(op.name in moved for op in made_of[:NEAR])
    return ends[0] if is_moved and not is_held and not is_derived and _is_of_one(ends[0]) else None


def _is_of_one(op: Any) -> bool:
    """Whether a sum is that of one tensor and a weight, or what a normalisation gives, and a choice not of data.

    A reward or the like may be added to what a network gives, and targets be put in its place where there are any.
    """
    if op.type in CHOOSING:
        return not any(map(_is_data, op.inputs[1:]))
    weights = [one for one in op.inputs if reads_variable(one, READING)]
    return op.type not in ADDING or len(weights) == len(op.inputs) - 1 or _is_normalised(op)


def _is_normalised(op: Any) -> bool:
    """Whether a sum is ``x * s + (b - m * s)``, with or without ``b``, ``s`` made of the root of a variance."""
    if op.type not in PLUS_OR_MINUS:
        return False
    shift = op.inputs[1].op
    products = [op.inputs[0].op, shift.inputs[1].op if shift.type == "Sub" else shift]
    if any(one.type != "Mul" for one in products):
        return False
    first, second = ({one.op.name: one.op for one in product.inputs} for product in products)
    return any(_is_inverse_root(factor) for name, factor in first.items() if name in second)


def _is_inverse_root(op: Any) -> bool:
    """Whether it is one over a root, times a weight or not."""
    factors = [one.op for one in op.inputs] if op.type == "Mul" else [op]
    return any(one.type == "Rsqrt" for one in factors)


def _is_data(tensor: Tensor) -> bool:
    """Whether it is made of no weights, and is more than one number."""
    if reads_variable(tensor, None):
        return False
    value = tf.get_static_value(tensor)
    return value is None or np.unique(value).size > 1


def _names_with_gradient(graph: Any) -> set[str]:
    """The operations that a tape went back through, by their names."""
    names = (op.name for op in graph.get_operations() if op.name.startswith(GRADIENT_SCOPE))
    return {name[len(GRADIENT_SCOPE) :].rpartition("/")[0] for name in names}
