"""Variances that are computed as a difference of two large numbers, in the graph. Owns no state.

``mean(x^2) - mean(x)^2`` is the variance of x, and where that is far smaller than the square of the mean the two have
all their digits in common: what is left is rounding. How much is left is seen when the step runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from gradwatch.origin import slip_of
from gradwatch.walk import SAME_NUMBERS, is_square, reads_variable

__all__ = ["find_difference", "find_rounded"]

WAY_MAX: Final = 8
Tensor = Any  # tensorflow ships no types


def find_rounded(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """The first mean of squares less the square of the mean of the same numbers.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Sub``), name, layer and source line of it, and ``rounded``: True.
    """
    return [slip_of(op, layer_paths) | {"rounded": True} for op in forward if _is_variance(op)][:1]


def find_difference(graphs: Iterable[Any]) -> tuple[Tensor, Tensor] | None:
    """Such a difference in one of these graphs, and what it is taken from; None without one."""
    ops = itertools.chain.from_iterable(graph.get_operations() for graph in graphs)
    return next(((op.outputs[0], op.inputs[0]) for op in ops if _is_variance(op)), None)


def _is_variance(op: Any) -> bool:
    if op.type != "Sub" or not op.outputs[0].dtype.is_floating:
        return False
    whole, part = (_behind(one) for one in op.inputs)
    squared, mean = _squared(_averaged(whole)), _averaged(_behind(_squared(part)))
    return squared is not None and squared is mean and not reads_variable(squared, SAME_NUMBERS)


def _behind(tensor: Tensor | None) -> Tensor | None:
    """What has the same numbers in another shape."""
    for _ in range(WAY_MAX):
        if tensor is None or tensor.op.type not in SAME_NUMBERS:
            break
        tensor = tensor.op.inputs[0]
    return tensor


def _averaged(tensor: Tensor | None) -> Tensor | None:
    return tensor.op.inputs[0] if tensor is not None and tensor.op.type == "Mean" else None


def _squared(tensor: Tensor | None) -> Tensor | None:
    """What a tensor is the square of; None for anything else."""
    if tensor is None:
        return None
    return tensor.op.inputs[0] if is_square(tensor.op) else None
