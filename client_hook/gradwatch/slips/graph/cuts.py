"""Where the way back from a loss to some variables ends, in the graph. Owns no state."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final

from gradwatch.origin import layer_of, source_of
from gradwatch.tap import find_handle
from gradwatch.way import READS, cuts, find_learned, find_way, is_gradient, sources_of

__all__ = ["find_cuts"]

Tensor = Any  # tensorflow ships no types

CUTS_MAX: Final = 4


def find_cuts(
    handles: Set[int], given: Set[int], loss: Tensor | None, layer_paths: Sequence[str]
) -> list[dict[str, Any]]:
    """Where the way back from a loss to some variables ends, though the loss depends on them.

    Args:
        handles: of the variables, none of which gets a gradient.
        given: those of the variables that the optimizer is given. One that is only reached through a sign gets a
            gradient, which is 0.
        loss: the step's loss in the same graph, or None.
        layer_paths: the Keras paths of the watched models' layers.

    Returns:
        Type, name, layer and source line of each operation without a gradient that is the first on such a way, at most
        `CUTS_MAX` in the order in which they run.
    """
    found: list[dict[str, Any]] = []
    for op in filter(cuts, find_learned(handles | _find_flat(given, loss), loss)):
        layer, source = layer_of(op.name, layer_paths), source_of(op)
        if (layer, source) not in [(one["layer"], one["source"]) for one in found]:
            found.append({"type": op.type, "name": op.name, "layer": layer, "source": source})
    return found[:CUTS_MAX]


def _find_flat(handles: Set[int], loss: Tensor | None) -> set[int]:
    """Those of some variables that a loss depends on through a sign and in no other way."""
    ops = list(find_way([], loss).values())
    if not any(op.type == "Sign" and not is_gradient(op) for op in ops):
        return set()
    pending, seen = [] if loss is None else [loss.op], set[int]()
    while pending:
        op = pending.pop()
        if id(op) not in seen and not cuts(op):
            seen.add(id(op))
            pending.extend(sources_of(op))
    reads = [(find_handle(op.inputs[0]), id(op) in seen) for op in ops if op.type in READS]
    flat = {one for one, _ in reads} - {one for one, is_seen in reads if is_seen}
    return {one for one in handles if one in flat}
