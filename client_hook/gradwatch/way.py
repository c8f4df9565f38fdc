"""The way of a step: which operations its gradients and its loss depend on, in which order they run. Owns no state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from gradwatch.origin import GRADIENT_SCOPE, gradient_frames
from gradwatch.tap import find_handle
from gradwatch.walk import SHAPES, roots_of

__all__ = [
    "FUNCTION_CALLS",
    "READS",
    "called_by",
    "cuts",
    "find_learned",
    "find_way",
    "is_gradient",
    "place_of",
    "sources_of",
]

Tensor = Any  # tensorflow ships no types

FUNCTION_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
READS: Final = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
"""What reads a variable, or rows of one."""
_CUTS: Final = frozenset(
    {"ArgMax", "ArgMin", "Bucketize", "Ceil", "Floor", "Multinomial", "PyFunc", "Rint", "Round", "Sign", "StopGradient"}
)
"""Operations that no gradient passes, besides those that give whole numbers or truths; of a sign it is 0."""
_ADDING_UP: Final = frozenset({"AddN", "ConcatV2"})
"""What a tape adds up the gradients of one tensor with, by no name of its own."""


def find_way(gradients: Sequence[Any], loss: Tensor | None) -> dict[int, Any]:
    """All operations that gradients and loss depend on, by identity.

    Args:
        gradients: symbolic tensors, `tf.IndexedSlices` or None, as given to ``apply``.
        loss: the step's loss in the same graph, or None.
    """
    roots = roots_of(gradients)
    roots += [] if loss is None else [loss]
    seen: dict[int, Any] = {}
    pending = [root.op for root in roots]
    while pending:
        op = pending.pop()
        if id(op) not in seen:
            seen[id(op)] = op
            pending.extend(sources_of(op))
    return seen


def sources_of(op: Any) -> list[Any]:
    """The operations that feed one; where a graph captured a tensor of the graph around it, that tensor's own."""
    if op.type == "Placeholder" and hasattr(op.graph, "captures"):
        return [outer.op for outer, inner in op.graph.captures if inner.op is op and hasattr(outer, "op")]
    return [tensor.op for tensor in op.inputs]


def place_of(op: Any) -> tuple[int, int]:
    """Where an operation stands: a graph numbers its operations as they are made, a valid order of running them."""
    depth, graph = 0, op.graph
    while graph is not None:
        depth, graph = depth + 1, getattr(graph, "outer_graph", None)
    return depth, op._id  # the graph's public list is in this order, but would have to be searched


def is_gradient(op: Any) -> bool:
    """Whether an operation is part of a gradient, and not of what is differentiated."""
    if op.type in _ADDING_UP:
        return bool(gradient_frames(op))
    return bool(op.name.startswith(GRADIENT_SCOPE)) or "__backward_" in called_by(op)


def called_by(op: Any) -> str:
    """The name of the function that an operation calls, or ""."""
    return str(op.get_attr("f").name) if op.type in FUNCTION_CALLS else ""


def cuts(op: Any) -> bool:
    """Whether no gradient passes an operation."""
    is_number = any(one.dtype.is_floating or one.dtype.is_complex for one in op.outputs)
    return op.type in _CUTS or not is_number


def find_learned(handles: Set[int], loss: Tensor | None) -> Iterator[Any]:
    """The operations that a loss and some variables, by their handles, have between them, in the order they run in.

    Behind one that no gradient passes, which is among them, none are.
    """
    depends: set[int] = set()
    for op in sorted(find_way([], loss).values(), key=place_of) if handles else []:
        reads = op.type in READS and find_handle(op.inputs[0]) in handles
        if op.type not in SHAPES and (reads or any(id(source) in depends for source in sources_of(op))):
            if not cuts(op):
                depends.add(id(op))
            yield op
