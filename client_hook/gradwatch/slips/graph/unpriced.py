"""Weights of a loss's terms that are trained themselves, and that nothing keeps from falling below 0, in the graph.

``w * error`` is the smaller the smaller ``w`` is, and once that is negative the larger the error. A price is what
keeps it: ``exp(-s) * error + s``, or weights that are made shares by a softmax. Owns no state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.tap import find_handle
from gradwatch.walk import AVERAGING, PASSING, behind, passed, reads_variable, users_of

__all__ = ["find_unpriced"]

WEIGHTS_MAX: Final = 16
"""Terms of a loss at the most: a variable of more numbers is no weight of these."""
ERRORS: Final = frozenset(
    {"Abs", "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", "Square", "SquaredDifference"}
)
"""What is never below 0."""
TAKING: Final = PASSING | {"StridedSlice", "Unpack"}
"""What hands on weights as they are, some or all."""
ADDING: Final = TAKING | AVERAGING | {"Add", "AddN", "AddV2", "Pack", "ConcatV2"}
"""And products on their way to the loss."""
WAY_MAX: Final = 8
Tensor = Any  # tensorflow ships no types


def find_unpriced(forward: Sequence[Any], trained: Set[int], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Trained weights that are multiplied with terms of the loss, and do nothing else.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        trained: the handles of the variables that the step trains.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Mul``), name, layer and source line of the first product, and ``unpriced``: how many weights there are.
    """
    ids = {id(op) for op in forward}
    reads: dict[int, list[Any]] = {}
    for op in forward:
        handle = find_handle(op.inputs[0]) if op.type == "ReadVariableOp" and _is_small(op.outputs[0]) else None
        if handle in trained and handle is not None:
            reads.setdefault(handle, []).append(op)
    for ops in reads.values():
        products = [one for op in ops for one in _users(op, ids)]
        if products and all(_weighs(one, tensor, ids) for one, tensor in products):
            size = ops[0].outputs[0].shape.num_elements()
            return [slip_of(products[0][0], layer_paths) | {"unpriced": size}]
    return []


def _is_small(tensor: Tensor) -> bool:
    size = tensor.shape.num_elements()
    return tensor.dtype.is_floating and size is not None and size <= WEIGHTS_MAX


def _users(op: Any, ids: Set[int]) -> Iterator[tuple[Any, Tensor]]:
    """The operations that take what is read, behind what hands it on, each with the tensor that it takes."""
    pending = list(op.outputs)
    for _ in range(WEIGHTS_MAX * WAY_MAX):
        if not pending:
            return
        tensor = pending.pop()
        for user in users_of(tensor, ids):
            if user.type in TAKING:
                pending.extend(user.outputs)
            else:
                yield user, tensor


def _weighs(op: Any, weight: Tensor, ids: Set[int]) -> bool:
    """Whether an operation multiplies a weight with an error that depends on a network, for the loss alone."""
    others = [one for one in op.inputs if one is not weight]
    if op.type != "Mul" or len(others) != 1 or not _is_small(op.outputs[0]):
        return False
    return _is_error(others[0]) and reads_variable(others[0], None) and _is_only_added(op, ids)


def _is_error(tensor: Tensor) -> bool:
    """Whether a tensor is a mean of errors, or holds some."""
    terms = [one for one in behind([tensor.op], through=ADDING - AVERAGING) if one.type in AVERAGING]
    return any(passed(one.inputs[0]).type in ERRORS for one in terms)


def _is_only_added(op: Any, ids: Set[int]) -> bool:
    """Whether what an operation gives is added up, and is the loss then."""
    pending = [op]
    for _ in range(WEIGHTS_MAX * WAY_MAX):
        if not pending:
            return True
        users = [user for output in pending.pop().outputs for user in users_of(output, ids)]
        if any(user.type not in ADDING for user in users):
            return False
        pending.extend(users)
    return False
