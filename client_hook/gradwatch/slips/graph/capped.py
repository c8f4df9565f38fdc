"""A cap on a loss before its mean is taken, in the graph. Owns no state.

What lies above the cap has no gradient: the samples that are furthest off are given up, and the loss hides them. A
bound from below (a margin, free bits) leaves out what is learned, and a bound of what a logarithm is taken of is none
on the loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from gradwatch.constants import constant, parted
from gradwatch.origin import is_own, layer_of, slip_of, source_of
from gradwatch.walk import AVERAGING, SAME_NUMBERS, goes_into, passed, reads_variable

__all__ = ["find_bounded", "find_capped", "find_clipped"]

PASSING: Final = frozenset({"Cast", "Identity", "Maximum", "Mul", "Reshape", "Squeeze"})
"""What a loss may pass between its cap and its mean: another bound, weights."""
SAME: Final = SAME_NUMBERS | {"StridedSlice"}
"""What stands between a layer's output and its bounds."""
BOUNDING: Final = frozenset({"Maximum", "Minimum"})


def find_capped(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Lines that bound a loss from above, sample by sample.

    Args:
        forward: the operations of a step on the way to its loss, in the order in which they run.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type (``Minimum``, or ``SelectV2`` for a choice that does the same), name, layer, source line and ``limit``.
    """
    ids = {id(op) for op in forward}
    found: list[dict[str, Any]] = []
    for op in forward:
        find_limit = _FINDING.get(op.type)
        limit = find_limit(op) if find_limit is not None and not layer_of(op.name, layer_paths) else None
        if limit is not None and is_own(op) and goes_into(op, ids, AVERAGING, through=PASSING):
            source = source_of(op)
            if source is not None and source not in [one["source"] for one in found]:
                found.append({"type": op.type, "name": op.name, "layer": "", "source": source, "limit": limit})
    return found


def find_bounded(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """Errors that are bounded on both sides, and then squared or taken by their size.

    Args:
        forward: as for `find_capped`.
        layer_paths: likewise.

    Returns:
        Type (``Maximum``), name, layer and source line of the first, and ``bounds``: how large they can be.
    """
    ids = {id(op) for op in forward}
    for op in forward:
        below = op.inputs[0].op if op.type == "Maximum" else None
        if below is None or below.type != "Minimum" or layer_of(op.name, layer_paths) or not is_own(op):
            continue
        low, high = _limit_of(op), _limit_of(below)
        is_even = low is not None and high is not None and high > 0 and math.isclose(-low, high, rel_tol=1e-6)
        is_error = below.inputs[0].op.type == "Sub" and reads_variable(below.inputs[0], None)
        is_only = goes_into(op, ids, {"Abs", "Square"}, through={"Cast", "Identity"})
        if is_even and is_error and is_only and goes_into(op, ids, AVERAGING, through=PASSING | {"Abs", "Square"}):
            return [slip_of(op, layer_paths) | {"bounds": high}]
    return []


def find_clipped(forward: Sequence[Any], layer_paths: Sequence[str]) -> list[dict[str, Any]]:
    """A layer's output that the step bounds by constants; no slip by itself, as long as it lies between them.

    Args:
        forward: as for `find_capped`.
        layer_paths: likewise.

    Returns:
        Type (``Clip``), name, the layer and the source line of the first, and ``clips``: the least and the largest
        that is left, None where there is no such bound.
    """
    for op in forward:
        if op.type not in BOUNDING or layer_of(op.name, layer_paths) or not is_own(op):
            continue
        bounds, tensor = {op.type: _limit_of(op)}, op.outputs[0]
        while tensor.op.type in BOUNDING and (parts := parted(tensor.op)) is not None:
            bounds[tensor.op.type], tensor = parts
        given = passed(tensor, SAME)
        layer = layer_of(given.name, layer_paths)
        if layer and None not in bounds.values() and not any(map(_bounds, op.outputs[0].consumers())):
            clips = [bounds.get("Maximum"), bounds.get("Minimum")]
            return [slip_of(op, layer_paths) | {"type": "Clip", "layer": layer, "clips": clips}]
    return []


def _bounds(op: Any) -> bool:
    return op.type in BOUNDING and _limit_of(op) is not None


def _limit_of(op: Any) -> float | None:
    """The constant that a tensor of several numbers is bounded by."""
    parts = parted(op)
    return None if parts is None or parts[1].shape.rank == 0 else parts[0]


def _limit_of_choice(op: Any) -> float | None:
    """The constant beyond which `tf.where` puts a constant in a tensor's place."""
    condition, kept, other = op.inputs
    if condition.op.type not in _BELOW | _ABOVE:
        return None
    kept, other = (kept, other) if condition.op.type in _BELOW else (other, kept)
    compared, limit = condition.op.inputs
    is_cap = kept is compared and constant(other) is not None and compared.shape.rank != 0
    return constant(limit) if is_cap else None


_BELOW: Final = frozenset({"Less", "LessEqual"})
_ABOVE: Final = frozenset({"Greater", "GreaterEqual"})
_FINDING: Final[dict[str, Callable[[Any], float | None]]] = {
    "Minimum": _limit_of,
    "Select": _limit_of_choice,
    "SelectV2": _limit_of_choice,
}
