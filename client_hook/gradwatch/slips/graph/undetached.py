"""Numbers that a step weighs or passes by without cutting them off where it must, in the graph. Owns no state.

An advantage says how much better an action was than the critic thought. Multiplied with the log-probability of the
action it is a weight: with its gradient left, the critic is moved so that the policy's loss becomes small. A straight-
through estimator hands on a value as it is and the gradient past it: ``z + stop_gradient(q - z)``. With the subtraction
outside of the cut both parts of the gradient cancel; with all of it inside there is none; with the two exchanged it is
the chosen value that has all of it. And without one, a row of a table that was chosen in place of what a network gave
leaves that without a gradient.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

import tensorflow as tf

from gradwatch.origin import layer_of, slip_of, source_of
from gradwatch.slips.graph.redrawn import PICKING, PROBABILITIES
from gradwatch.walk import ADDING, GIVEN, PRODUCTS, behind, beyond, reads_variable, users_of

__all__ = ["find_cancelled", "find_swapped", "find_undetached", "find_unpassed", "is_reward"]

PASSING: Final = frozenset({"Cast", "ExpandDims", "Identity", "Neg", "Reshape", "Squeeze"})
SCORING: Final = frozenset(
    {"LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "Softmax"}
)
WAY_MAX: Final = 8
GATHERING: Final = frozenset({"Gather", "GatherV2", "ResourceGather"})
CHOOSING: Final = frozenset({"ArgMax", "ArgMin", "Round", "Sign"})
"""What has no gradient: it is flat, or gives whole numbers."""
KERNELS: Final = frozenset({"BatchMatMulV2", "Conv2D", "Conv2DBackpropInput", "Conv3D", "Einsum", "MatMul"})
Tensor = Any  # tensorflow ships no types


def find_undetached(forward: Sequence[Any]) -> list[dict[str, Any]]:
    """Log-probabilities that are multiplied with an error which the same loss squares, its gradient left to it.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.

    Returns:
        Type, name, no layer and source line of the first such product, and ``undetached``: True.
    """
    squared = {one.name for op in forward for one in _squared_by(op)}
    if not squared:
        return []
    for op in forward:
        if op.type != "Mul":
            continue
        for picked, weight in (op.inputs, tuple(reversed(op.inputs))):
            error = _error_of(weight)
            if error is not None and not squared.isdisjoint(_ways_of(error)) and _is_log_probability(picked):
                return [{"type": op.type, "name": op.name, "layer": "", "source": source_of(op), "undetached": True}]
    return []


def find_cancelled(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """``z + stop_gradient(q) - z`` and ``stop_gradient(z + (q - z))``, through which ``z`` has no gradient.

    Args:
        forward: as for `find_undetached`.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of the first, and ``cancels``: True.
    """
    for op in forward:
        if _subtracts_outside(op) or _cuts_whole(op):
            place = {"layer": layer_of(op.name, layer_paths), "source": source_of(op)}
            return [{"type": op.type, "name": op.name, **place, "cancels": True}]
    return []


def find_swapped(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """``q + stop_gradient(z - q)``, where ``q`` was chosen or rounded: it is ``z``, and has no gradient to it.

    Args:
        forward: as for `find_undetached`.
        layer_paths: as for `find_cancelled`.

    Returns:
        Type, name, layer and source line of the first, and ``swapped``: True.
    """
    return [slip_of(op, layer_paths) | {"swapped": True} for op in forward if _is_swapped(op)][:1]


def find_unpassed(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a table that are chosen by how near they lie, and handed on to kernels in place of what chose them.

    Args:
        forward: as for `find_undetached`.
        layer_paths: as for `find_cancelled`.

    Returns:
        Type, name, layer and source line of the first, and ``unpassed``: True.
    """
    ids = {id(op) for op in forward}
    for op in forward:
        for table, places in _chosen_by(op):
            nearest = [one for one in behind([places.op], through=PASSING) if one.type == "ArgMin"]
            compared = _tables_of(nearest[0].inputs[0]) if nearest else set()
            # More than the table itself: what is compared with it is learned too.
            if len(compared) > 1 and _tables_of(table) & compared and _meets_kernel(op, ids):
                return [slip_of(op, layer_paths) | {"unpassed": True}]
    return []


def _chosen_by(op: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """The table whose rows an operation takes, and by which places: gathered, or multiplied with a 1 at each."""
    if op.type in GATHERING and op.inputs[1].dtype.is_integer:
        yield op.inputs[0], op.inputs[1]
    elif op.type in PRODUCTS:
        for marks, table in (op.inputs, tuple(reversed(op.inputs))):
            marked = next((one for one in behind([marks.op], through=PASSING) if one.type == "OneHot"), None)
            if marked is not None:
                yield table, marked.inputs[0]


def _tables_of(tensor: Tensor) -> set[int]:
    """The variables that a tensor is made of."""
    ways = behind([tensor.op], through=None)
    return {id(one) for op in ways for one in op.inputs if one.dtype == tf.resource}


def _meets_kernel(op: Any, forward: Set[int]) -> bool:
    """Whether a kernel multiplies what an operation gives, in whatever form."""
    pending, seen = [op], set[int]()
    while pending and len(seen) < WAY_MAX:
        one = pending.pop()
        seen.add(id(one))
        for user in users_of(one.outputs[0], forward):
            if user.type in KERNELS:
                return True
            if user.type in PASSING | {"Transpose"} and id(user) not in seen:
                pending.append(user)
    return False


def _subtracts_outside(op: Any) -> bool:
    """Whether it is the ``- z`` of ``z + stop_gradient(q) - z``."""
    if op.type != "Sub" or op.inputs[0].op.type not in ADDING:
        return False
    others = [one for one in op.inputs[0].op.inputs if one.name != op.inputs[1].name]
    return len(others) == 1 and others[0].op.type == "StopGradient"


def _cuts_whole(op: Any) -> bool:
    """Whether it is the cut of ``stop_gradient(z + (q - z))``."""
    if op.type != "StopGradient" or op.inputs[0].op.type not in ADDING:
        return False
    one, other = op.inputs[0].op.inputs
    pairs = ((one, other), (other, one))
    return any(moved.op.type == "Sub" and moved.op.inputs[1].name == kept.name for kept, moved in pairs)


def _is_swapped(op: Any) -> bool:
    if op.type not in ADDING:
        return False
    for kept, cut in (op.inputs, tuple(reversed(op.inputs))):
        moved = cut.op.inputs[0].op if cut.op.type == "StopGradient" else None
        if moved is None or moved.type != "Sub" or moved.inputs[1].name != kept.name:
            continue
        if any(one.type in CHOOSING for one in behind([kept.op], through=PASSING | GATHERING | {"OneHot"})):
            return reads_variable(moved.inputs[0], None)
    return False


def is_reward(target: Tensor) -> bool:
    """Whether what is left of a target, less what was expected, weighs the log-probability of something, in a graph.

    A critic comes to expect the mean of what a policy earns; what is left is chance, once the policy is good.
    """
    for op in beyond(target.op):
        if op.type != "Mul":
            continue
        for picked, weight in (op.inputs, tuple(reversed(op.inputs))):
            ways = list(behind([weight.op], through=PASSING | {"RealDiv", "StopGradient", "Sub"}))
            if target.op in ways and any(one.type == "Sub" for one in ways) and _is_log_probability(picked):
                return True
    return False


def _squared_by(op: Any) -> list[Tensor]:
    """What an operation squares; of a squared difference what is compared."""
    return list(op.inputs) if op.type in ("Square", "SquaredDifference") else []


def _ways_of(error: Any) -> set[str]:
    """An error's own names: where it is squared as it is, or computed anew of the same two."""
    return {error.outputs[0].name, *(one.name for one in error.inputs if _is_moved(one))}


def _error_of(weight: Tensor) -> Any:
    """The difference of a target and of what a network gives that a weight is; None where it is something else."""
    op = weight.op
    for _ in range(WAY_MAX):
        if op.type == "Sub":
            given = [one for one in op.inputs if not _is_moved(one)]
            if len(given) == 1 and any(one.type in GIVEN for one in behind([given[0].op], through=None)):
                return op
        if op.type not in PASSING | {"RealDiv", "Sub"}:
            return None
        op = op.inputs[0].op
    return None


def _is_moved(tensor: Tensor) -> bool:
    """Whether something is made of weights, and not cut off from them at its end."""
    ways = list(behind([tensor.op], through=PASSING | {"StridedSlice"}))
    if any(op.type == "StopGradient" for op in ways):
        return False
    return reads_variable(tensor, None)


def _is_log_probability(tensor: Tensor) -> bool:
    return any(op.type in SCORING for op in behind([tensor.op], through=PICKING | PROBABILITIES))
